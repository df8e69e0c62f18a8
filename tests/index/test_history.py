"""Any history of edits, updates and rebuilds: the index's answer is the tree's."""

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.engine import answers
from tests.index.history import History


def run(examples, steps):
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    run_state_machine_as_test(
        History,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=checks,
        ),
    )


def test_after_every_step_the_index_answers_as_the_tree_is(monkeypatch):
    answers.shorten_racy_times(monkeypatch)
    run(examples=10, steps=20)


def test_racy_times_change_no_answer():
    run(examples=4, steps=15)


@pytest.mark.slow
def test_after_every_step_of_many_histories_the_index_answers_as_the_tree_is(monkeypatch):
    answers.shorten_racy_times(monkeypatch)
    run(examples=int(os.environ.get("TRISEEK_HISTORIES", "300")), steps=40)
