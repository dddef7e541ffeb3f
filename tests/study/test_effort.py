"""How much a study spends: a quick one finds less, never more by chance; a thorough one sees smaller p."""

import numpy as np
import pytest
from scipy.stats import binom

from assay.asking.question import Context
from assay.errors import ParameterError
from assay.study.run import study


def supported(found):
    return {finding.kind for finding in found.findings if finding.evidence.verdict == "supported"}


@pytest.fixture(scope="module")
def planted():
    rng = np.random.default_rng(3)
    centres = 6.0 * np.eye(3, 5)
    return np.concatenate([centre + rng.standard_normal((60, 5)) for centre in centres])


@pytest.fixture(scope="module")
def efforts(planted):
    return {effort: study(planted, effort=effort) for effort in ("quick", "standard", "thorough")}


def test_a_study_says_which_effort_it_was(efforts):
    for effort, found in efforts.items():
        assert found.ledger.effort == effort
        assert found.as_dict()["ledger"]["effort"] == effort


def test_a_quick_study_leaves_maps_out_and_says_so(efforts):
    assert {"map", "stringing"} & set(efforts["quick"].answers) == set()
    why = {one.question: one.why for one in efforts["quick"].ledger.not_asked}
    assert why["Does a map of the rows show more than chance?"] == "a quick study leaves it out, as it takes long"
    assert {"map", "stringing"} <= set(efforts["standard"].answers)


def test_every_effort_finds_what_is_plain_to_see(efforts):
    for found in efforts.values():
        assert {"component", "groups"} <= supported(found)
        assert found.answers["groups"].k == 3


def test_more_effort_makes_more_draws(efforts):
    draws = {
        effort: [found.answers[name].evidence.null.draws for name in ("components", "groups")]
        for effort, found in efforts.items()
    }
    assert draws["quick"] == [39, 40]
    assert all(few < many for few, many in zip(draws["quick"], draws["standard"], strict=True))
    assert all(few < many for few, many in zip(draws["standard"], draws["thorough"], strict=True))


def test_the_standard_effort_is_the_usual_one(planted, efforts):
    assert study(planted).as_dict() == efforts["standard"].as_dict()


def test_a_quick_study_keeps_a_level_that_takes_more_draws(planted):
    found = study(planted, effort="quick", level=0.01)
    assert found.answers["components"].evidence.null.draws == 99


def test_a_quick_study_predicts_with_fewer_draws(planted):
    frame = {f"x{j}": column for j, column in enumerate(planted.T)}
    draws = [len(study(frame, target="x0", effort=e).answers["prediction"].by_chance) for e in ("quick", "standard")]
    assert draws[0] == 199 < draws[1]


def test_other_words_are_refused():
    with pytest.raises(ParameterError, match="effort is quick, standard or thorough; got 'fast'"):
        study(np.zeros((3, 2)), effort="fast")


def test_a_context_picks_by_its_effort():
    assert [Context(effort=e).by_effort(1, 2, 3) for e in ("quick", "standard", "thorough")] == [1, 2, 3]


@pytest.mark.slow
def test_a_quick_study_claims_no_more_in_noise_than_the_level_says():
    """Of 120 tables without structure; a true rate of 15% would be noticed with a chance of 92%."""
    tables, most = 120, int(binom.ppf(0.99, 120, 0.05))
    assert binom.sf(most, tables, 0.15) > 0.9

    def noise(seed):
        rng = np.random.default_rng(seed)
        return (rng.standard_normal if seed % 2 else rng.standard_exponential)((80, 4))

    claims = sum(bool(supported(study(noise(seed), effort="quick", random_state=seed))) for seed in range(tables))
    assert claims <= most
