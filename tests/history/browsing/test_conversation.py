"""A conversation page by page, on a real database."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import pytest

from tests.history.recorded import Recorded
from triseek.errors import InvalidRequest
from triseek.history import lookup
from triseek.history.browsing import conversation
from triseek.history.service import History

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.history.browsing.conversation import ConversationReply


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    opened = History(str(tmp_path / "history"))
    yield opened
    opened.close()


def page(
    history: History, number: int | None, at_message: int = 0, offset: int = 0, limit: int = 100
) -> ConversationReply:
    assert number is not None
    return conversation.conversation(
        history, number, at_message=at_message, offset=offset, limit=limit
    )


def test_messages_commands_and_files_come_in_order(history: History) -> None:
    talk = (
        Recorded(history.database).prompt("fix it").run("pytest -q", "1 failed", 1)
        .edit("a.py", "x", "y").run("pytest -q", "ok", 0).answer("done")
    )  # fmt: skip
    reply = page(history, talk.id)
    entries = reply["entries"]
    assert [entry["kind"] for entry in entries] == ["user", "tool", "tool", "tool", "assistant"]
    assert [entry.get("exit_status") for entry in entries] == [None, 1, None, 0, None]
    assert entries[1]["text"] == "pytest -q"
    assert entries[1]["is_command"]
    assert entries[1]["output"] == "1 failed"
    assert entries[2]["files"] == [{"path": "/work/shop/a.py", "is_modified": True}]
    assert reply["total"] == 5


def test_pages_hold_everything_once(history: History) -> None:
    talk = Recorded(history.database)
    for number in range(10):
        talk.prompt(f"prompt {number}").run(f"run {number}")
    whole = page(history, talk.id)["entries"]
    paged: list[Any] = []
    while len(paged) < 20:
        paged += page(history, talk.id, offset=len(paged), limit=7)["entries"]
    assert paged == whole
    assert page(history, talk.id, offset=20)["entries"] == []
    assert page(history, talk.id, offset=1 << 80)["entries"] == []


def test_a_message_is_on_the_page_that_is_asked_for_by_it(history: History) -> None:
    talk = Recorded(history.database)
    for number in range(50):
        talk.prompt(f"prompt {number}")
    meant = page(history, talk.id)["entries"][30]
    reply = page(history, talk.id, at_message=meant["id"], limit=10)
    assert meant in reply["entries"]
    assert reply["offset"] == 26
    assert page(history, talk.id, at_message=99_999)["offset"] == 0


def test_long_texts_are_cut_and_say_so(history: History) -> None:
    talk = Recorded(history.database).prompt("p" * 50_000).run("c" * 30_000, "o" * 25_000)
    said, ran = page(history, talk.id)["entries"]
    assert (len(said["text"]), said["cut"]) == (20_000, 30_000)
    assert (len(ran["text"]), ran["cut"]) == (20_000, 10_000)
    assert (len(ran["output"]), ran["output_cut"]) == (20_000, 5_000)


@pytest.mark.parametrize("number", [0, -1, 77, 2**62, 2**80])
def test_an_unknown_number_gets_one_clear_line(history: History, number: int) -> None:
    Recorded(history.database)
    with pytest.raises(InvalidRequest, match="no conversation"):
        page(history, number)


def test_without_a_history_none_is_made(history: History) -> None:
    with pytest.raises(InvalidRequest):
        page(history, 1)
    assert not history.exists()


def row(history: History, **values: str) -> lookup.SessionRow:
    with history.database.write() as connection:
        names = ", ".join(values)
        number = connection.execute(
            f"INSERT INTO sessions ({names}) VALUES ({', '.join('?' * len(values))})",
            tuple(values.values()),
        ).lastrowid
        session = lookup.session(connection, int(number or 0))
    assert session is not None
    return session


@pytest.mark.parametrize("cwd", ["/w/a b", "/w/'; touch x; '", "/w/$(touch x)", "-", "/w/日本"])
def test_the_line_that_reopens_it_is_quoted(history: History, cwd: str) -> None:
    session = row(history, agent="claude-code", external_id="x; touch y", cwd=cwd)
    line = conversation.resume_line(session)
    assert shlex.split(line) == ["cd", "--", cwd, "&&", "claude", "--resume", "x; touch y"]


@pytest.mark.parametrize("text", ["/w\nrm -rf x", "/w\x1b[201~\rrm x", "/w\u202ecod", "/w\x7f"])
def test_what_a_terminal_would_obey_is_never_offered_for_pasting(
    history: History, text: str
) -> None:
    assert not conversation.resume_line(
        row(history, agent="claude-code", external_id="1", cwd=text)
    )
    assert not conversation.resume_line(
        row(history, agent="claude-code", external_id=text, cwd="/")
    )


def test_an_agent_that_cannot_reopen_it_offers_nothing(history: History) -> None:
    assert conversation.resume_line(row(history, agent="nobody", external_id="1", cwd="/w")) == ""
