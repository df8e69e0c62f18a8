"""bench hooks: its page is what the record says, and its agents are refused what they have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import record
from bench.hooks import report
from bench.hooks.payloads import CLEARED, Agent
from triseek.app.hook_handler import HookHandler
from triseek.engine.service import Service
from triseek.memo.memo import Memo

DOCS = Path(record.__file__).parents[1] / "docs" / "benchmarks"


def told():
    newest = max(record.FOLDER.glob("*-hooks/hooks.json"))
    return json.loads(newest.read_text(encoding="utf-8"))


def test_the_page_is_of_the_newest_record():
    assert (DOCS / "hooks.md").read_text(encoding="utf-8") == report.page(told())


@pytest.mark.parametrize(("part", "figure"), [("alone", "median_ms"), ("together", "p99_ms")])
def test_a_missed_budget_is_called_missed(part, figure):
    slow = told()
    slow[part]["hook"][figure] += 1_000

    missed = report.page(told()).count("**missed**")
    assert report.page(slow).count("**missed**") > missed or missed


def test_its_agents_are_told_what_the_run_expects(tmp_path):
    agent = Agent(tmp_path.resolve(), "one")
    with Service() as service:
        hook_handler = HookHandler(service, Memo(None), lambda _: None)
        for step in [*agent.first_readings(), *agent.steps(2 * CLEARED + 5)]:
            said = hook_handler.hook(step.payload, step.event, "opencode", "/")

            assert bool(said) is step.refused, step.kind
