"""`triseek history timeline|remember|supersede|pin` and `search --by observation`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import triseek
from tests.history.rows import NOON, Rows
from triseek.history.service import History

if TYPE_CHECKING:
    from pathlib import Path


def run(home: Path, *words: str) -> Any:
    done = triseek(["history", *words, "--json"], home)
    assert done.status == 0, done.err
    return json.loads(done.out)


def remembered(home: Path) -> int:
    words = (
        "The staging database is reset", "--type", "decision", "--concept", "gotcha",
        "--file", "ops/reset.sql", "--project", "shop", "--pin",
    )  # fmt: skip
    return int(run(home, "remember", *words)["id"])


def test_what_is_remembered_is_found_replaced_and_pinned(home: Path) -> None:
    first = remembered(home)
    answer = run(home, "search", "staging", "--by", "observation")
    assert [record["id"] for record in answer["observations"]] == [first]
    assert answer["observations"][0]["type"] == "decision"
    second = run(home, "supersede", f"#{first}", "It is reset on Mondays", "--title", "Reset")["id"]
    answer = run(home, "search", "reset", "--by", "observation", "--project", "shop")
    assert [record["id"] for record in answer["observations"]] == [second]
    assert run(home, "pin", str(second), "--off")["action"] == "unpinned"
    done = triseek(["history", "pin", str(second)], home)
    assert done.out.decode().startswith(f"pinned #{second}: Reset\n")


def test_observations_are_found_by_the_agent_of_their_session(home: Path) -> None:
    history = History()
    rows = Rows(history.database)
    numbers = {
        agent: rows.observation(rows.session(agent=agent), "Prices are in cents")
        for agent in ("codex", "claude-code")
    }
    history.close()
    for agent, number in numbers.items():
        answer = run(home, "search", "cents", "--by", "observation", "--agent", agent)
        assert [record["id"] for record in answer["observations"]] == [number]
    nothing = triseek(
        ["history", "search", "cents", "--by", "observation", "--agent", "goose"], home
    )
    assert nothing.status == 1


@pytest.mark.parametrize("anchor", ["{id}", "#{id}", "claude-mem://observation/{id}", "staging"])
def test_a_timeline_is_around_what_is_named(anchor: str, home: Path) -> None:
    number = remembered(home)
    answer = run(home, "timeline", anchor.format(id=number))
    assert [item["id"] for item in answer["items"] if item["is_anchor"]] == [number]


def test_a_timeline_is_around_a_conversation_a_date_or_now(home: Path) -> None:
    history = History()
    rows = Rows(history.database)
    rows.prompt(rows.session("0f9c2d1a-77"), "Mend the total")
    history.close()
    for words in (["0f9c2d"], ["2025-10-21"], []):
        items = run(home, "timeline", *words, "--before", "3")["items"]
        assert [item["title"] for item in items] == ["Mend the total"], words
    assert run(home, "timeline", str(NOON + 1), "--after", "0")["items"]
    nothing = triseek(["history", "timeline", "no such words"], home)
    assert nothing.status == 1
    assert nothing.out.startswith(b"No observations found")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["remember", " "], "text is empty"),
        (["remember", "x", "--type", "mood"], "discovery"),
        (["supersede", "99", "x"], "not found"),
        (["pin", "twelve"], "number of an observation"),
        (["pin", "99"], "not found"),
        (["timeline", "--before", "51"], "depth_before"),
        (["timeline", "99"], "not found"),
    ],
)
def test_bad_input_is_one_line_with_a_next_step(words: list[str], reason: str, home: Path) -> None:
    done = triseek(["history", *words], home)
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert reason in done.err
