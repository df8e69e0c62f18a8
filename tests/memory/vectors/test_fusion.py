from __future__ import annotations

import pytest

from triseek.memory import fusion


def test_a_word_by_chance_does_not_outrank_a_near_vector() -> None:
    assert list(fusion.fuse({1: 1.0}, 0.2, {1: 0.1, 2: 0.6})) == [2, 1]


def test_a_drawer_with_all_words_stays_in_front() -> None:
    assert next(iter(fusion.fuse({1: 1.0, 3: 0.4}, 1.0, {1: 0.3, 2: 0.9, 3: 0.9}))) == 1


def test_what_is_far_is_no_answer_without_a_word() -> None:
    assert list(fusion.fuse({1: 0.5}, 1.0, {1: -0.9, 2: 0.1})) == [1]


def test_a_drawer_without_a_vector_is_in_the_middle() -> None:
    scores = fusion.fuse({1: 0.5, 2: 0.5, 3: 0.5}, 0.5, {1: 0.9, 3: 0.3})
    assert list(scores) == [1, 2, 3]
    assert all(0 <= score <= 1 for score in scores.values())
    assert list(fusion.fuse({1: 0.2, 2: 0.5}, 0.0, {})) == [1, 2]
    assert fusion.fuse({}, 0.0, {}) == {}


def test_coverage_is_a_share_of_weights() -> None:
    weights = fusion.weights(("jwt", "token", "unheard"), {"jwt": 3.0, "token": 1.0})
    assert fusion.coverage(weights, {"jwt", "other"}) == pytest.approx(3 / 7)
    assert fusion.coverage({}, {"jwt"}) == 0
    assert fusion.coverage(fusion.weights(("a", "b"), {}), {"a"}) == 0.5
