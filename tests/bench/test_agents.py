"""bench mcp: its page is what the record says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import record
from bench.agents import report

DOCS = Path(record.__file__).parents[1] / "docs" / "benchmarks"


def newest():
    return max(record.FOLDER.glob("*-mcp/mcp.json"))


def told():
    return json.loads(newest().read_text(encoding="utf-8"))


def test_the_page_is_of_the_newest_record():
    assert (DOCS / "mcp.md").read_text(encoding="utf-8") == report.page(told())


def test_a_missed_budget_is_called_missed():
    slow = told()
    slow["first_reply"]["ratio"] = report.ALONE_MAX + 0.01

    assert f"(budget {report.ALONE_MAX}: **missed**)" in report.page(slow)
    assert f"(budget {report.ALONE_MAX}: met)" in report.page(told())


@pytest.mark.parametrize(("more_ms", "verdict"), [(0, "p95 met"), (1, "p95 **missed**")])
def test_sessions_slower_than_those_of_the_other_version_are_called_missed(more_ms, verdict):
    results = told()
    theirs = results["sessions_against"]["seconds"]["p95_ms"]
    results["sessions"]["seconds"]["p95_ms"] = theirs + more_ms

    assert verdict in report.page(results)
