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
