"""Questions on networks tell which share of their draws is made, so that the time left can be told."""

import numpy as np

import assay


def test_every_question_on_a_network_tells_a_share_that_rises_to_the_end():
    rng = np.random.default_rng(0)
    block = np.arange(60) % 3
    linked = rng.random((60, 60)) < np.where(block[:, None] == block, 0.35, 0.03)
    pairs = [(f"n{i}", f"n{j}") for i, j in zip(*np.nonzero(np.triu(linked, 1)), strict=True)]
    told: dict[str, list[float]] = {}

    def progress(what, done, share):
        if share is not None:
            told.setdefault(what, []).append(share)

    study = assay.study(assay.read_network(pairs), progress=progress)
    assert len(told) == len(study.answers) == 4
    for shares in told.values():
        # one series of draws may follow another, each from 0 on
        assert shares[0] == 0.0 and max(shares) == 1.0 and len(shares) > 10
        assert all(0.0 <= share <= 1.0 for share in shares)
