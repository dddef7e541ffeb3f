"""Terms counted and weighed: scikit-learn and plain formulas as oracles, merging, edges."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from assay.errors import DataError, ParameterError
from assay.models.components.lsi.term_weights import TermWeights
from assay.summary.texts.term_documents import TermDocuments

WORDS = ["sun", "moon", "star", "comet", "planet", "orbit", "tide", "wind", "rain", "snow", "cloud", "storm"]


def some_texts(n=80, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(0, 15), p=np.arange(1, 13) / 78)) for _ in range(n)]


def test_counts_are_scikit_learns():
    texts = some_texts()
    ours, oracle = TermDocuments.of(texts), CountVectorizer(stop_words="english")
    expected = oracle.fit_transform(texts)
    assert ours.terms == tuple(oracle.get_feature_names_out())
    np.testing.assert_array_equal(ours.counts.toarray(), expected.toarray())
    np.testing.assert_array_equal(ours.documents_with, (expected.toarray() > 0).sum(axis=0))


@pytest.mark.parametrize("unit", [True, False])
def test_tf_idf_of_old_and_new_texts_is_scikit_learns(unit):
    texts, new = some_texts(), [*some_texts(9, seed=1), "unknown words only", "sun sun unknown"]
    oracle = TfidfVectorizer(stop_words="english", norm="l2" if unit else None).fit(texts)
    found = TermDocuments.of(texts)
    ours = TermWeights.of(found, "tf-idf", unit_length=unit)
    np.testing.assert_allclose(ours.weighed(found.counts).toarray(), oracle.transform(texts).toarray(), rtol=1e-13)
    np.testing.assert_allclose(ours.of_texts(new).toarray(), oracle.transform(new).toarray(), rtol=1e-13)


def test_log_entropy_is_its_formula_written_out():
    found = TermDocuments.of(some_texts())
    tf = found.counts.toarray().astype(float)
    p = tf / tf.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        g = 1.0 + np.where(p > 0, p * np.log(p), 0.0).sum(axis=0) / np.log(len(tf))
    ours = TermWeights.of(found, "log-entropy", unit_length=False)
    np.testing.assert_allclose(ours.factors, g, rtol=1e-12)
    np.testing.assert_allclose(ours.weighed(found.counts).toarray(), np.log1p(tf) * g, rtol=1e-12)
    unit = TermWeights.of(found, "log-entropy").weighed(found.counts).toarray()
    lengths = np.linalg.norm(unit, axis=1)
    np.testing.assert_allclose(lengths[lengths > 0], 1.0, rtol=1e-14)


def test_a_term_in_one_document_weighs_one_and_one_that_is_everywhere_nothing():
    found = TermDocuments.of(["alpha beta", "alpha gamma gamma", "alpha"])
    np.testing.assert_allclose(TermWeights.of(found, "log-entropy").factors, [0.0, 1.0, 1.0], atol=1e-15)
    assert TermWeights.of(TermDocuments.of(["alpha beta"]), "log-entropy").factors.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("cut", [0, 1, 33, 80])
def test_parts_added_are_the_whole(cut):
    texts = some_texts()
    whole, parts = TermDocuments.of(texts), TermDocuments.of(texts[:cut]) + TermDocuments.of(texts[cut:])
    assert parts.terms == whole.terms
    np.testing.assert_array_equal(parts.counts.toarray(), whole.counts.toarray())


def test_the_order_of_texts_changes_neither_terms_nor_their_order():
    texts = some_texts()
    assert TermDocuments.of(texts[::-1]).terms == TermDocuments.of(texts).terms == tuple(sorted(WORDS))


def test_rare_and_common_terms_are_left_out_as_scikit_learn_does():
    texts = some_texts()
    ours = TermDocuments.of(texts).kept(min_documents=20, max_share=0.6)
    oracle = CountVectorizer(stop_words="english", min_df=20, max_df=0.6).fit(texts)
    assert ours.terms == tuple(oracle.get_feature_names_out()) and 0 < len(ours.terms) < len(WORDS)
    most = TermDocuments.of(texts).kept(max_terms=3)
    assert set(most.terms) == {WORDS[j] for j in (9, 10, 11)}
    np.testing.assert_array_equal(most.among(np.array([3, 1])).counts.toarray(), most.counts.toarray()[[3, 1]])


def test_no_texts_and_texts_without_terms_have_a_defined_answer():
    assert TermDocuments.of([]).counts.shape == (0, 0)
    empty = TermDocuments.of(["", "a !", "the of"])
    assert empty.counts.shape == (3, 0) and empty.terms == ()
    assert (empty + TermDocuments.of(["moon"])).counts.toarray().tolist() == [[0], [0], [0], [1]]


def test_wrong_options_are_refused_with_the_rule():
    found = TermDocuments.of(some_texts())
    with pytest.raises(ParameterError, match="max_share is a share above 0, 1 at most; got 0"):
        found.kept(max_share=0)
    with pytest.raises(ParameterError, match=r"min_documents must be between 1 and 80 \(the documents\)"):
        found.kept(min_documents=81)
    with pytest.raises(ParameterError, match="weights is one of counts, tf-idf, log-entropy; got 'bm25'"):
        TermWeights.of(found, "bm25")
    with pytest.raises(DataError, match="different stop words"):
        found + TermDocuments.of(["moon"], stop_words=None)
