"""A conversation is shown the history of its project once, and no agent waits for it."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from triseek.app import opening_context
from triseek.app.hook_handler import HookHandler
from triseek.app.opening_context import CONVERSATIONS_MAX, OpeningContext
from triseek.engine.service import Service
from triseek.history.service import History
from triseek.history.writing import Draft, remember
from triseek.memo.memo import Memo
from triseek.model.hook_event import PROBE, Context, HookEvent

if TYPE_CHECKING:
    from pathlib import Path


class Started:
    """A history with one observation of a project, and agents that start there."""

    def __init__(self, folder: Path) -> None:
        tree = folder / "shop"
        (tree / ".git").mkdir(parents=True)
        (tree / "src").mkdir()
        self.root = os.path.realpath(tree)
        self.history = History(str(folder / "history"))
        self.opening = OpeningContext(self.history, 800)
        self.service = Service()
        self.handler = HookHandler(
            self.service, Memo(None), lambda _action: None, opening=self.opening.text
        )

    def keep(self, text: str = "Use the new router.") -> None:
        with self.history.database.write() as connection:
            remember(connection, Draft(text=text, project="shop", root=self.root), 1)

    def start(self, session: str = "s", source: str = "startup", **more: str) -> str:
        agent, cwd = more.pop("agent", ""), more.pop("cwd", self.root)
        context = Context(harness="claude-code", session=session, agent=agent)
        event = HookEvent(moment="start", context=context, cwd=cwd, source=source, **more)
        return self.opening.text(self.root, event)

    def hook(self, harness: str, event: str = "SessionStart", **more: str) -> str:
        payload = {"session_id": "s", "hook_event_name": event, "cwd": self.root, **more}
        return self.handler.hook(json.dumps(payload).encode(), "", harness, "/")


@pytest.fixture
def started(tmp_path):
    started = Started(tmp_path)
    with started.service:
        yield started
    started.history.close()


def test_without_a_history_nothing_is_shown_and_none_is_made(started):
    assert started.start() == ""
    assert not os.path.exists(started.history.folder)


def test_a_conversation_is_shown_it_once(started):
    started.keep()

    assert '"Use the new router."' in started.start("one")
    assert started.start("one") == ""
    assert '"Use the new router."' in started.start("two", cwd=f"{started.root}/src")


@pytest.mark.parametrize("source", ["resume", "compact", "fork"])
def test_a_conversation_that_goes_on_is_not_shown_it(started, source):
    started.keep()

    assert started.start(source=source) == ""
    assert started.start(source="clear") != ""


def test_sub_agents_and_other_folders_are_not_shown_it(started, tmp_path):
    started.keep()

    assert started.start(agent="sub") == ""
    assert started.start(parent="other") == ""
    assert started.start(cwd=str(tmp_path)) == ""
    assert started.start(cwd=f"{started.root}-of-others") == ""
    assert started.start() != ""


def test_it_remembers_a_bounded_number_of_conversations(started):
    started.keep()
    started.opening._within_time = lambda _root: "shown"
    for number in range(CONVERSATIONS_MAX + 10):
        assert started.start(str(number))

    assert started.start("0")
    assert not started.start(str(CONVERSATIONS_MAX))
    assert len(started.opening._begun) == CONVERSATIONS_MAX


@pytest.mark.parametrize("harness", ["claude-code", "codex", "opencode", "pi"])
def test_it_is_answered_in_claude_codes_form(started, harness):
    started.keep()
    answer = json.loads(started.hook(harness, source="startup"))

    assert answer.keys() == {"hookSpecificOutput"}
    output = answer["hookSpecificOutput"]
    assert output["hookEventName"] == "SessionStart"
    assert '"Use the new router."' in output["additionalContext"]


def test_cursor_has_a_form_of_its_own(started):
    started.keep()
    answer = json.loads(started.hook("cursor", "sessionStart", conversation_id="c"))

    assert answer.keys() == {"additional_context"}
    assert '"Use the new router."' in answer["additional_context"]


def test_gemini_takes_it_with_the_first_prompt(started):
    started.keep()

    assert started.hook("gemini", source="startup") == ""
    output = json.loads(started.hook("gemini", "BeforeAgent", prompt="x"))["hookSpecificOutput"]
    assert output["hookEventName"] == "BeforeAgent"
    assert '"Use the new router."' in output["additionalContext"]
    assert started.hook("gemini", "BeforeAgent", prompt="y") == ""
    assert started.hook("gemini", session_id="r", source="resume") == ""
    assert started.hook("gemini", "BeforeAgent", session_id="r", prompt="y") == ""


def test_probes_and_other_events_are_answered_nothing(started):
    started.keep()

    assert started.hook("claude-code", session_id=f"{PROBE}-1", source="startup") == ""
    assert started.hook("claude-code", "SessionEnd") == ""
    assert started.hook("claude-code", "UserPromptSubmit", prompt="x") == ""
    assert started.hook("claude-code", source="startup") != ""


def test_a_locked_database_delays_the_answer_for_a_short_time_only(started, monkeypatch):
    monkeypatch.setattr(opening_context, "ANSWER_S", 0.2)
    started.keep()
    started.history.close()
    started = _again(started)
    with closing(sqlite3.connect(f"{started.history.folder}/history.db")) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN IMMEDIATE")
        other.execute("CREATE TABLE x (a)")
        began = time.monotonic()
        shown = started.start()
        took = time.monotonic() - began

    assert shown == ""
    assert took < 2.0


def test_slow_readers_are_bounded(started, monkeypatch):
    monkeypatch.setattr(opening_context, "ANSWER_S", 0.05)
    started.keep()
    release, running = threading.Event(), []

    def wait(_root: str, _budget: int) -> str:
        running.append(1)
        release.wait(20)
        return "late"

    monkeypatch.setattr(started.history, "session_context", wait)
    shown = [started.start(str(number)) for number in range(opening_context.THREADS_MAX + 3)]
    release.set()

    assert set(shown) == {""}
    assert len(running) == opening_context.THREADS_MAX


@pytest.mark.parametrize("damage", [b"not a database" * 100, b""])
def test_a_damaged_database_is_no_error(started, damage):
    os.makedirs(started.history.folder)
    with open(f"{started.history.folder}/history.db", "wb") as file:
        file.write(damage)

    assert started.start() == ""


def _again(started: Started) -> Started:
    """The history as another daemon opens it."""
    started.history = History(started.history.folder)
    started.opening = OpeningContext(started.history, 800)
    return started
