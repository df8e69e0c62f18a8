"""The year and the filters' choices, on a real database."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.history.rows import Rows
from triseek.history.browsing import activity
from triseek.history.browsing.overview import overview
from triseek.history.service import History

if TYPE_CHECKING:
    from pathlib import Path


def test_the_year_follows_the_filters_and_the_choices_do_not(tmp_path: Path) -> None:
    history, now = History(str(tmp_path)), int(time.time() * 1000)
    rows = Rows(history.database)
    for agent, project, is_sub_agent in (
        ("codex", "wiki", 0), ("codex", "shop", 0), ("opencode", "", 0), ("cline", "lib", 1),
    ):  # fmt: skip
        number = rows.session(agent=agent, project=project, is_sub_agent=is_sub_agent)
        rows.said(number, "text", now)
    for type_ in ("bugfix", "decision", "bugfix"):
        rows.observation(number, "title", type=type_)
    totals = []
    for agent, project in (("", ""), ("codex", ""), ("codex", "wiki"), ("opencode", "wiki")):
        reply = overview(history, agent, project)
        totals.append(reply["heat_map"]["total"])
        assert reply["agents"] == [("codex", 2), ("opencode", 1)]
        assert reply["projects"] == [("shop", 1), ("wiki", 1)]
        assert reply["types"] == [("bugfix", 2), ("decision", 1)]
    history.close()
    assert totals == [4, 2, 1, 0]


def test_without_a_history_there_is_an_empty_year(tmp_path: Path) -> None:
    history = History(str(tmp_path / "history"))
    reply = overview(history, "", "")
    assert not reply["is_kept"]
    assert reply["heat_map"]["weeks"][-1][-1].day == activity.today().isoformat()
    assert not history.exists()
