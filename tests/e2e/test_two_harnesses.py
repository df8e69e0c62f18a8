"""Two harnesses on one session at once, each by every way there is: no entry is lost or doubled.

`TRISEEK_NOTES` says how many notes each thread of the slow test sends.
"""

from __future__ import annotations

import collections
import contextlib
import os
import threading
from pathlib import Path

import pytest

from tests.e2e.agents import agent
from tests.e2e.hooking import Hooks
from tests.e2e.living import Living
from tests.sessions import aftermath

pytestmark = pytest.mark.long

NOTES, NOTES_SLOW = 60, int(os.environ.get("TRISEEK_NOTES", "2500"))
THREADS = 4
HARNESSES = ("claude-code", "codex")


@pytest.fixture
def living(tmp_path, monkeypatch):
    with Living(tmp_path / "state") as living:
        monkeypatch.setenv("TRISEEK_HOME", living.home)
        monkeypatch.delenv("TRISEEK_NO_DAEMON")
        yield living.start()


@pytest.fixture
def root(repo):
    return Path(
        repo({f"src/file{number:03}.py": f"token_{number:03}\n" for number in range(80)})
    ).resolve()


class Reading(Hooks):
    """Hooks of an agent that reads one file after the other; `did` is what it has read."""

    def __init__(self, living, root, harness):
        super().__init__(living.home, root, f"conversation-{harness}")
        self.words = ("hook", "{}", "--harness", harness)
        self.did = []

    def work(self, count):
        for number in range(count):
            name = f"src/file{number:03}.py"
            self.tell(
                "PostToolUse", **self.reading(name), tool_use_id=f"{self.session}-{number}"
            )  # fmt: skip
            self.did.append(name)

    def reading(self, name):
        """As Claude Code reads a file, and as Codex does."""
        held = (self.root / name).read_text()
        if "claude-code" in self.words:
            # It counts a line after the last newline.
            file = {"filePath": str(self.root / name), "content": held, "numLines": 2,
                    "startLine": 1, "totalLines": 2}  # fmt: skip
            answer = {"type": "text", "file": file}
            given = {"file_path": str(self.root / name)}
            return {"tool_name": "Read", "tool_input": given, "tool_response": answer}
        given = {"command": f"cat {name}"}
        return {"tool_name": "Bash", "tool_input": given, "tool_response": held}


class Searching:
    """A client of `triseek mcp serve`; `did` is what it has asked."""

    def __init__(self, living, root, harness):
        self.living, self.root, self.harness = living, root, harness
        self.did = []

    def work(self, count):
        with agent(
            self.root, client=self.harness, TRISEEK_HOME=self.living.home, HOME=self.living.home
        ) as client:
            client.call("session_open", session_id="mine")
            for number in range(count):
                query = f"token_{number:03} {self.harness}"
                client.call("search_content", query=query)
                self.did.append(query)
            client.call("session_status")  # waits until all of it is told


def at_once(living, root, notes, hooks, searches):
    """Both harnesses, by all three backends; what each has done."""
    living.ask("session_open", target_root=str(root), session_id="mine")
    readers = [Reading(living, root, harness) for harness in HARNESSES]
    askers = [Searching(living, root, harness) for harness in HARNESSES]
    working = [threading.Thread(target=each.work, args=(hooks,)) for each in readers]
    working += [threading.Thread(target=each.work, args=(searches,)) for each in askers]
    with contextlib.ExitStack() as stack:
        senders = [
            stack.enter_context(
                living.aside(
                    "tests.e2e.note_sender", root, "mine", harness, str(THREADS), str(notes)
                )
            )
            for harness in HARNESSES
        ]
        for each in working:
            each.start()
        told = {name: done for sender in senders for name, done in sender.said().items()}
        for each in working:
            each.join(600)
            assert not each.is_alive()
    return told, readers, askers


def nothing_is_lost(living, root, told, readers, askers):
    size = living.ask("session_status", target_root=str(root), session_id="mine")
    logs = aftermath.logs(Path(living.home) / "daemon" / "sessions")
    entries = logs["mine"].entries
    assert aftermath.no_number_twice(logs) == len(entries) == size["action_log_size"]

    noted, read, asked = (collections.defaultdict(list) for _ in range(3))
    for entry in entries:
        payload = entry.payload
        if "who" in payload:
            noted[payload["who"]].append(payload["n"])
        elif entry.kind == "read":
            read[payload["conversation"]].append(payload["path"])
        elif entry.kind == "search":
            asked[payload["harness"]].append(payload["arguments"]["query"])
    assert noted == told, "each once, in each sender's order"
    for reader in readers:
        [conversation] = [name for name in read if reader.session in name]
        assert read[conversation] == reader.did
    assert sorted(asked.values()) == sorted(asker.did for asker in askers)
    print(
        f"\n{len(entries)} entries of 2 harnesses: {sum(map(len, told.values()))} notes of "
        f"{len(told)} threads, {sum(map(len, read.values()))} reads by hooks, "
        f"{sum(map(len, asked.values()))} searches by MCP"
    )


def test_two_harnesses_lose_no_entry(living, root):
    nothing_is_lost(living, root, *at_once(living, root, NOTES, hooks=4, searches=12))


@pytest.mark.slow
def test_two_harnesses_lose_no_entry_of_thousands(living, root):
    nothing_is_lost(living, root, *at_once(living, root, NOTES_SLOW, hooks=80, searches=80))
