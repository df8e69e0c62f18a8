"""The time that is left of a request."""

from __future__ import annotations

import math
import threading

from triseek.model import budget


def test_without_a_limit_there_is_no_end():
    assert budget.left() == math.inf


def test_the_earliest_limit_counts():
    with budget.limited(100.0):
        assert 90.0 < budget.left() <= 100.0
        with budget.limited(1_000.0):
            assert budget.left() <= 100.0
        with budget.limited(10.0):
            assert budget.left() <= 10.0
        assert budget.left() > 10.0


def test_a_limit_that_is_over_leaves_less_than_nothing():
    with budget.limited(-1.0), budget.limited():
        assert budget.left() < 0.0


def test_it_is_carried_to_other_threads():
    left = []
    with budget.limited(100.0):
        thread = threading.Thread(target=budget.carried(lambda: left.append(budget.left())))
        thread.start()
        thread.join()

    assert left[0] <= 100.0
