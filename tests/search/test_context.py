"""What the search tools of one agent share."""

from __future__ import annotations

import os

import pytest

from tests.app.contexts import bare_context, context_on, find, indexed
from triseek.search.context import SNAPSHOTS_MAX


@pytest.fixture
def context(repo):
    return bare_context(os.path.realpath(repo({"a.py": "needle\n"}))).contexts["search"]


def test_later_pages_are_ordered_by_the_scores_of_the_first(repo, monkeypatch):
    context = context_on(indexed(repo, {"a.py": "", "b.py": "", "c.py": ""}))
    scores = iter([{b"c.py": 1.0}, {b"a.py": 9.0}])
    monkeypatch.setattr(type(context.host.engine), "scores", lambda _: next(scores))

    first = find(context, "py", limit=1)
    second = find(context, "py", limit=1, offset=1)
    again = find(context, "py", limit=1)

    assert [page["results"][0]["path"] for page in (first, second, again)] == [
        "c.py", "a.py", "a.py"
    ]  # fmt: skip


def test_snapshots_of_scores_are_not_kept_for_ever(context):
    for number in range(SNAPSHOTS_MAX * 2):
        context.scores(number, 0)

    assert len(context._scores) == SNAPSHOTS_MAX
