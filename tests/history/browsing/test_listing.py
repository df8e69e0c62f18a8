"""The timeline and searches of the page, on a real database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.history.rows import MINUTE, NOON, Rows
from triseek.errors import InvalidRequest
from triseek.history.browsing import activity, listing
from triseek.history.browsing.selection import ListingFilters
from triseek.history.service import History

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.history.browsing.listing import ListingReply

DAY = 86_400_000
TODAY, BEFORE = activity.day_of(NOON), activity.day_of(NOON - DAY)


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    opened = History(str(tmp_path / "history"))
    yield opened
    opened.close()


@pytest.fixture
def filled(history: History) -> History:
    """A conversation of yesterday that goes on today, one of today, a sub-agent's."""
    rows = Rows(history.database)
    older = rows.session(
        "older", agent="codex", project="wiki", root="/w/wiki", title="Older",
        started_at_epoch=NOON - DAY,
    )  # fmt: skip
    rows.prompt(older, "make the retry wait", NOON - DAY)
    rows.said(older, "the retry waits now", NOON - 5 * MINUTE)
    newer = rows.session("newer", title="Newer", started_at_epoch=NOON)
    rows.prompt(newer, "rename the retry helper", NOON)
    helper = rows.session("helper", is_sub_agent=1, started_at_epoch=NOON + MINUTE)
    rows.said(helper, "looked around", NOON + MINUTE)
    rows.observation(older, "Retry waits", NOON - DAY, narrative="It did not.")
    rows.observation(newer, "Helper renamed", NOON)
    rows.observation(newer, "Replaced", NOON, superseded_by=1)
    history.recall.update()
    return history


def browse(history: History, query: str = "", kind: str = "", **options: Any) -> ListingReply:
    part = {name: options.pop(name) for name in ("offset", "limit") if name in options}
    return listing.browse(
        history,
        query,
        kind,
        ListingFilters(**options),
        part.get("offset", 0),
        part.get("limit", 50),
    )


def titles(reply: ListingReply) -> list[str]:
    return [item["conversation"]["session"] for item in reply["items"]]


def test_without_a_history_none_is_made(history: History) -> None:
    reply = browse(history, "anything")
    assert not reply["is_kept"]
    assert not history.exists()


def test_the_newest_conversation_is_first(filled: History) -> None:
    reply = browse(filled)
    assert titles(reply) == ["newer", "older"]
    assert [item["day"] for item in reply["items"]] == [TODAY, BEFORE]
    assert reply["next_offset"] == 0


def test_a_day_lists_the_conversations_that_went_on_then(filled: History) -> None:
    reply = browse(filled, day=TODAY)
    assert titles(reply) == ["newer", "older"]
    assert {item["day"] for item in reply["items"]} == {TODAY}
    assert titles(browse(filled, day=BEFORE)) == ["older"]
    assert titles(browse(filled, day="2001-01-01")) == []


def test_observations_are_filtered_by_type(filled: History) -> None:
    with filled.database.write() as connection:
        connection.execute("UPDATE observations SET type = 'bugfix' WHERE title = 'Retry waits'")
    for query in ("", "retry OR helper"):
        items = browse(filled, query, kind="observation", type="bugfix")["items"]
        assert [item["text"] for item in items] == ["Retry waits: It did not."]


def test_messages_and_observations_are_listed_by_their_times(filled: History) -> None:
    messages = browse(filled, kind="message")["items"]
    assert [item["text"] for item in messages] == [
        "looked around", "rename the retry helper", "the retry waits now", "make the retry wait",
    ]  # fmt: skip
    assert [item["label"] for item in messages] == ["assistant", "user", "assistant", "user"]
    observations = browse(filled, kind="observation")["items"]
    assert [item["message"] for item in observations] == [messages[1]["id"], messages[3]["id"]]
    assert [item["text"] for item in observations] == ["Helper renamed", "Retry waits: It did not."]


@pytest.mark.parametrize("kind", ["session", "message", "observation"])
@pytest.mark.parametrize("query", ["", "retry"])
def test_filters_hold_for_every_kind_with_and_without_a_query(
    filled: History, kind: str, query: str
) -> None:
    for filters in ({"agent": "codex"}, {"project": "wiki"}, {"project": "/w/wiki"}):
        assert set(titles(browse(filled, query, kind, **filters))) == {"older"}
    assert set(titles(browse(filled, query, kind, day=BEFORE))) == {"older"}
    assert browse(filled, query, kind, agent="nobody")["items"] == []
    assert browse(filled, query, kind, agent="codex", project="shop")["items"] == []


@pytest.mark.parametrize("kind", ["session", "message", "observation"])
def test_pages_follow_each_other_without_gaps(filled: History, kind: str) -> None:
    for query in ("", "retry"):
        whole = browse(filled, query, kind)["items"]
        paged, offset = [], 0
        while True:
            reply = browse(filled, query, kind, offset=offset, limit=1)
            paged += reply["items"]
            offset = reply["next_offset"]
            if not offset:
                break
        assert paged == whole


def test_a_search_shows_what_was_found_and_counts_it(filled: History) -> None:
    reply = browse(filled, "renaming helpers")
    assert titles(reply)[0] == "newer"
    assert reply["items"][0]["text"] == "rename the retry helper"
    assert reply["items"][0]["message"] == browse(filled, kind="message")["items"][1]["id"]
    on_day = browse(filled, "retry", "message", day=TODAY)
    assert {item["text"] for item in on_day["items"]} == {
        "rename the retry helper", "the retry waits now",
    }  # fmt: skip
    assert on_day["total"] == 2


@pytest.mark.parametrize(
    "options",
    [
        {"kind": "everything"}, {"offset": -1}, {"limit": 0}, {"limit": 101}, {"offset": 1 << 60},
        {"day": "yesterday"}, {"day": "' OR 1"},
    ],
)  # fmt: skip
def test_what_is_not_possible_gets_one_clear_line(filled: History, options: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        browse(filled, **options)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "query", ["'", '"', "a AND", "NEAR(", "*", "( OR", "x" * 4000, "\x00", "🐍"]
)
@pytest.mark.parametrize("kind", ["session", "message", "observation"])
def test_any_query_has_an_answer(filled: History, query: str, kind: str) -> None:
    assert browse(filled, query, kind)["is_kept"]
