"""LSI: published values, scikit-learn as oracle, folding in, ranking, edges."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.decomposition import TruncatedSVD

import assay
from assay import LSI
from assay.errors import DataError, ParameterError
from assay.summary.texts.term_documents import TermDocuments

RATINGS = np.array([[5.0, 4, 1], [5, 5, 0], [0, 0, 5], [1, 0, 4]])


def documents(n=120, d=80, seed=0):
    return random_array((n, d), density=0.08, rng=np.random.default_rng(seed), format="csr")


def test_the_ratings_have_the_published_singular_values():
    np.testing.assert_allclose(LSI(3).fit(RATINGS).singular_values_, [9.6438109, 6.3638909, 0.7055523], atol=5e-8)


@pytest.mark.parametrize("shape", [(120, 80), (60, 300), (900, 700)])
def test_old_and_new_documents_lie_where_scikit_learn_puts_them(shape):
    X, new = documents(*shape), documents(5, shape[1], seed=1)
    ours, oracle = LSI(6).fit(X), TruncatedSVD(6, algorithm="arpack").fit(X)
    np.testing.assert_allclose(ours.singular_values_, oracle.singular_values_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(ours.documents_), np.abs(oracle.transform(X)), atol=1e-7)
    np.testing.assert_allclose(np.abs(ours.transform(new)), np.abs(oracle.transform(new)), atol=1e-7)
    assert ours.residual_ < 1e-9


def test_folding_training_documents_in_gives_their_coordinates():
    X = documents()
    found = LSI(10).fit(X)
    np.testing.assert_allclose(found.transform(X), found.documents_, atol=1e-12)
    np.testing.assert_allclose(found.components_ @ found.components_.T, np.eye(10), atol=1e-10)


def test_the_shares_are_of_the_sum_of_squares_and_what_is_lost_is_the_rest():
    X = documents()
    found = LSI(10).fit(X)
    lost = np.sum((X.toarray() - found.inverse_transform(found.documents_)) ** 2)
    total = np.sum(X.toarray() ** 2)
    assert lost / total == pytest.approx(1.0 - found.explained_share_.sum(), rel=1e-10)
    assert LSI().fit(X).explained_share_.sum() == pytest.approx(1.0)
    for far in (1e-300, 1e300):
        np.testing.assert_allclose(LSI(2).fit(RATINGS * far).explained_share_, LSI(2).fit(RATINGS).explained_share_)


def test_sparse_and_dense_tables_give_the_same():
    X = documents()
    sparse, dense = LSI(5).fit(X), LSI(5).fit(X.toarray())
    np.testing.assert_allclose(sparse.documents_, dense.documents_, atol=1e-9)
    np.testing.assert_allclose(LSI(5).fit(assay.read(X.toarray())).documents_, dense.documents_, atol=1e-9)


def test_likeness_is_the_cosine_of_the_best_approximation():
    X = documents().toarray() + 0.0
    found = LSI(7).fit(X)
    rank_7 = found.inverse_transform(found.documents_)
    query = X[3] + X[10]
    folded = found.inverse_transform(found.transform(query[None]))[0]
    oracle = rank_7 @ folded / np.linalg.norm(rank_7, axis=1) / np.linalg.norm(folded)
    result = found.similar(query[None], 5)
    np.testing.assert_allclose(result.cosines[0], np.sort(oracle)[::-1][:5], atol=1e-10)
    np.testing.assert_allclose(oracle[result.documents[0]], result.cosines[0], atol=1e-10)
    np.testing.assert_array_equal(found.similar(csr_array(query[None]), 5).documents, result.documents)


def test_a_document_is_found_that_shares_no_term_with_the_query():
    car, automobile, engine, flower, petal = np.eye(5)
    X = np.array([car + engine, automobile + engine, automobile + engine, flower + petal, flower + petal])
    result = LSI(2).fit(X).similar(car[None], 5)
    assert set(result.documents[0][:3]) == {0, 1, 2}
    assert result.cosines[0][2] > 0.99 and abs(result.cosines[0][3]) < 1e-9


def test_every_document_is_most_like_itself():
    X = documents(40, 300)
    result = LSI(20).fit(X).similar(X, 1)
    np.testing.assert_allclose(result.cosines, 1.0, atol=1e-12)


def test_a_query_outside_the_space_is_refused_and_an_empty_document_is_like_none():
    X = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    found = LSI(2).fit(X)
    with pytest.raises(DataError, match="query 1 has no term in the space"):
        found.similar([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], 1)
    result = found.similar([[1.0, 0.0, 0.0]], 3)
    assert result.cosines[0][list(result.documents[0]).index(2)] == 0.0


def test_small_and_empty_tables_have_a_defined_answer():
    assert LSI().fit(np.ones((1, 4))).documents_.shape == (1, 1)
    zeros = LSI(2).fit(np.zeros((3, 3)))
    assert (zeros.singular_values_ == 0.0).all() and (zeros.explained_share_ == 0.0).all()
    assert LSI().fit(documents(150, 130)).components_.shape == (100, 130)


def test_wrong_options_are_refused_with_the_rule():
    rule = r"n_components must be between 1 and 3 \(the smaller of rows and columns\), is 4"
    with pytest.raises(ParameterError, match=rule):
        LSI(4).fit(RATINGS)
    with pytest.raises(ParameterError, match=r"coordinates have shape \(m, 2\); got \(1, 3\)"):
        LSI(2).fit(RATINGS).inverse_transform(np.ones((1, 3)))
    with pytest.raises(ParameterError, match=r"n must be between 1 and 4 \(the documents\), is 5"):
        LSI(2).fit(RATINGS).similar(RATINGS, 5)
    with pytest.raises(ValueError, match="NaN"):
        LSI(2).fit(np.where(RATINGS == 0, np.nan, RATINGS))


def test_a_saved_model_answers_to_the_bit(tmp_path):
    found = LSI(2).fit(RATINGS)
    found.save(tmp_path / "lsi.assay")
    back = assay.load(tmp_path / "lsi.assay")
    np.testing.assert_array_equal(back.similar(RATINGS, 2).documents, found.similar(RATINGS, 2).documents)


def test_messages_are_read_weighted_and_searched():
    data = next(p for p in Path(__file__).parents if p.name == "tests").parent.parent / "shared/data/sms_spam"
    if not data.exists():
        pytest.skip("the shared messages are not here")
    texts = assay.read(data / "sms_spam.csv").to_arrow()["text"].to_pylist()
    found = LSI(5).fit(assay.read(pl.DataFrame({"text": texts})))
    top = found.similar(assay.read(pl.DataFrame({"text": ["Free!"]})), 20).documents[0]
    assert np.mean(["free" in texts[i].lower() for i in top]) > 0.9


TITLES = [
    "Human machine interface for Lab ABC computer applications",
    "A survey of user opinion of computer system response time",
    "The EPS user interface management system",
    "System and human system engineering testing of EPS",
    "Relation of user-perceived response time to error measurement",
    "The generation of random, binary, unordered trees",
    "The intersection graph of paths in trees",
    "Graph minors IV: Widths of trees and well-quasi-ordering",
    "Graph minors: A survey",
]
SMALL_WORDS = ["the", "of", "for", "and", "to", "in"]


def titles(k=9, **options):
    return LSI(k, stop_words=SMALL_WORDS, min_documents=2, **options).fit_texts(TITLES)


def test_the_nine_titles_have_the_singular_values_that_deerwester_and_others_published():
    found = titles(weights="counts", unit_length=False)
    assert found.components_.shape == (9, 12)
    np.testing.assert_allclose(
        found.singular_values_, [3.34, 2.54, 2.35, 1.64, 1.50, 1.31, 0.85, 0.56, 0.36], atol=0.0051
    )


def test_the_published_query_finds_titles_on_its_subject_that_share_no_word_with_it():
    found = titles(2, weights="counts", unit_length=False)
    nearest = found.query("human computer interaction", 5)
    assert set(nearest.documents) == {0, 1, 2, 3, 4}  # title 4 holds neither human nor computer
    assert nearest.cosines.min() > 0.9  # as published
    assert set(found.like_document(7, 3).documents) == {5, 6, 8}
    assert set(found.nearest_terms("graph", 3).terms) <= {"minors", "trees", "survey"}


def test_texts_are_weighed_then_decomposed_as_scikit_learn_does_it():
    from sklearn.feature_extraction.text import TfidfVectorizer

    rng = np.random.default_rng(0)
    words = [f"word{j}" for j in range(200)]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(300)]
    new = [" ".join(rng.choice(words, 12)) for _ in range(5)]
    vectorizer = TfidfVectorizer(stop_words="english")
    oracle = TruncatedSVD(6, algorithm="arpack").fit(vectorizer.fit_transform(texts))
    ours = LSI(6, weights="tf-idf").fit_texts(texts)
    np.testing.assert_allclose(ours.singular_values_, oracle.singular_values_, rtol=1e-9)
    np.testing.assert_allclose(
        np.abs(ours.transform_texts(new)), np.abs(oracle.transform(vectorizer.transform(new))), atol=1e-7
    )
    np.testing.assert_allclose(ours.transform_texts(texts), ours.documents_, atol=1e-9)
    assert ours.feature_names_in_.tolist() == vectorizer.get_feature_names_out().tolist()


def test_lists_frames_folders_and_summaries_give_the_same(tmp_path):
    for i, title in enumerate(TITLES):
        (tmp_path / f"{i}.txt").write_text(title)
    whole = LSI(3).fit_texts(TITLES)
    counted = TermDocuments.of(TITLES[:4]) + TermDocuments.of(TITLES[4:])
    frame = pl.DataFrame({"title": TITLES, "n": range(9)})
    for found in (LSI(3).fit_texts(tmp_path), LSI(3).fit_texts(frame, "title"), LSI(3).fit_terms(counted)):
        np.testing.assert_allclose(found.documents_, whole.documents_, atol=1e-12)


def test_terms_at_both_ends_describe_each_concept():
    texts = ["cat dog", "dog cat cat", "cat dog dog"] * 3 + ["bond stock", "stock bond bond"] * 3
    first, second = LSI(2, weights="counts").fit_texts(texts).concepts(2)
    assert {frozenset(first.towards), frozenset(second.towards)} == {
        frozenset({"cat", "dog"}),
        frozenset({"bond", "stock"}),
    }
    assert (first.weights > 0.5).all() and not first.away
    assert LSI(1).fit(RATINGS).concepts(1)[0].towards == ("term 0",)


def topical(n, strength, seed):
    rng = np.random.default_rng(seed)
    words = np.array([f"word{j:03d}" for j in range(240)])
    base = 1.0 / np.arange(3, 243)
    laws = [rng.permutation(base / base.sum()) for _ in range(4)]
    common = base / base.sum()
    mixed = [(1 - strength) * common + strength * laws[i % 4] for i in range(n)]
    return [" ".join(rng.choice(words, 15, p=law)) for law in mixed]


@pytest.mark.parametrize("weights", ["log-entropy", "tf-idf"])
def test_real_keeps_the_mean_direction_and_as_many_concepts_as_topics_differ_in(weights):
    found = LSI("real", weights=weights, random_state=0).fit_texts(topical(400, 0.8, 0))
    assert found.n_concepts_ == 3 and found.components_.shape[0] == 4
    assert (found.concept_held_out_ > 0).all() and found.concept_p_[0] < 0.01
    by_topic = found.documents_.reshape(100, 4, 4)
    spread = by_topic.mean(axis=0).std(axis=0) / by_topic.std(axis=0).mean(axis=0)
    assert spread[0] < spread[1:].max()  # the first dimension tells topics apart least of all


def test_real_finds_nothing_in_words_without_topics_and_forgets_an_earlier_fit():
    found = LSI("real", random_state=0).fit_texts(topical(300, 0.0, 1))
    assert found.n_concepts_ == 0 and found.documents_.shape == (300, 1)
    found.set_params(n_components=2).fit(RATINGS)
    assert not hasattr(found, "n_concepts_") and not hasattr(found, "weights_")
    with pytest.raises(DataError, match="fitted on numbers and knows no terms; fit it with fit_texts"):
        found.query("word001")


def test_real_takes_counts_as_numbers_too_but_no_negative_ones():
    texts = topical(300, 0.8, 2)
    counts = TermDocuments.of(texts).counts
    assert LSI("real").fit(counts).n_concepts_ == 3
    with pytest.raises(DataError, match="no entry may be negative; one is -1"):
        LSI("real").fit(np.array([[1.0, -1.0], [0.0, 2.0]]))


def test_copies_make_no_dimension_where_these_are_chosen():
    texts = topical(300, 0.0, 3)
    found = LSI("real").fit_texts(texts + texts[:4] * 20)
    assert found.n_concepts_ == 0 and len(found.documents_) == 380
    np.testing.assert_allclose(found.documents_[300], found.documents_[0])


def test_queries_that_say_nothing_are_refused_with_the_remedy():
    found = titles(2)
    with pytest.raises(DataError, match="no term of 'zebra quagga' is known, so no document is like it"):
        found.query("zebra quagga")
    with pytest.raises(ParameterError, match=r"a query is one text; got list: transform_texts takes several"):
        found.query(["human"])
    with pytest.raises(ParameterError, match="document is a number from 0 to 8; got 9"):
        found.like_document(9)
    with pytest.raises(DataError, match="the 2 texts hold no terms; give others"):
        LSI(1).fit_texts(["", "the"])
    with pytest.raises(DataError, match="the 9 texts hold .* terms, none of which is kept"):
        LSI(1, min_documents=9).fit_texts(TITLES)
    with pytest.raises(ParameterError, match="n_components is None, 'real' or an integer from 1 to 3; got 'all'"):
        LSI("all").fit(RATINGS)


def test_a_saved_model_of_texts_answers_queries_to_the_bit(tmp_path):
    found = LSI("real", stop_words=("and", "the"), random_state=0).fit_texts(topical(200, 0.8, 0))
    found.save(tmp_path / "texts.assay")
    back = assay.load(tmp_path / "texts.assay")
    for name in ("documents", "cosines"):
        np.testing.assert_array_equal(
            getattr(back.query("word010 word011", 9), name), getattr(found.query("word010 word011", 9), name)
        )
    assert back.nearest_terms("word010", 3).terms == found.nearest_terms("word010", 3).terms
    assert back.concepts(3)[1].towards == found.concepts(3)[1].towards


def test_a_wide_sparse_table_takes_memory_in_proportion_to_its_entries():
    import tracemalloc

    X = random_array((900, 60_000), density=3e-4, rng=np.random.default_rng(0), format="csr")
    for k in (5, 200):  # also where a fifth of all values is asked for
        tracemalloc.start()
        found = LSI(k).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        # the answer, a few copies of it and of the entries, and 64 columns at a time; written out it is 432 MB
        assert peak < 6 * 8 * (900 + 60_000) * (k + 30) + 20 * X.nnz * 8 + 2 * 8 * 64 * 60_000
        assert found.residual_ < 1e-9
