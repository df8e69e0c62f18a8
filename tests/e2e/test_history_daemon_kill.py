"""kill -9 of the daemon while it follows transcripts, remembers and forgets.

`TRISEEK_HISTORY_KILLS` says how many moments the slow test takes.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Self

import pytest

from tests.e2e import history_daemon
from tests.e2e.history_writer import REMEMBER, by_daemon
from tests.e2e.serving import until
from tests.history.contents import contents, files_with
from tests.history.made_transcripts import claude_code, claude_rows
from tests.left_behind import end_daemons_of
from triseek.agents.base import InstallPlace
from triseek.daemon.standalone import front
from triseek.errors import DaemonUnreachable, InvalidRequest, StateCorrupt
from triseek.history.database import NAME
from triseek.history.importing import run, sources
from triseek.history.service import History
from triseek.history.writing import AGENT
from triseek.ipc import client
from triseek.model.call import Call
from triseek.recall import index

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.long

KILLS, KILLS_SLOW = 4, int(os.environ.get("TRISEEK_HISTORY_KILLS", "100"))
LIFE_S = 0.4
"""Seconds that a daemon lives at most before a moment to kill it is looked for."""
LOOK_S = 1.5
"""And seconds for which it is looked for."""
WORKS = ("", "database", "forgetting", "recall")
"""At what a daemon is to be killed, in turn; "" for at any moment."""
WITHIN_S = 60.0
ASK_S = 40.0


def _plain(field: str) -> str:
    return "/work/repo" if field in ("cwd", "path") else f"the-{field}"


class Load:
    """Threads that write transcripts, remember and forget; what was acknowledged is noted."""

    def __init__(self, state: Path, person: Path, root: Path) -> None:
        self.state, self.person, self.root = state, person, root
        self.over = threading.Event()
        self.remembered: list[str] = []
        self.forgotten: list[str] = []
        self.refused = 0
        self.wrong: list[str] = []
        works = (self._remember, self._remember, self._speak, self._forget)
        self.threads = [
            threading.Thread(target=self._run, args=(work, number))
            for number, work in enumerate(works)
        ]

    def __enter__(self) -> Self:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join(WITHIN_S)
            assert not thread.is_alive()

    def _run(self, work: Callable[[int], None], number: int) -> None:
        try:
            work(number)
        except Exception as error:  # a thread must not die unseen
            self.wrong.append(f"{work.__name__}: {error!r}")
            raise

    def _remember(self, who: int) -> None:
        with by_daemon(str(self.root)) as remember:
            for number in itertools.count():
                if self.over.is_set():
                    return
                text = f"fact {who} {number}"
                if remember(text):
                    self.remembered.append(text)
                else:
                    self.refused += 1
                    time.sleep(0.05)

    def _speak(self, _who: int) -> None:
        """Write turns to five transcripts, in pieces, as an agent does."""
        path = claude_code(self.person, "spoken-0", _plain)
        for number in itertools.count(1):
            if self.over.is_set():
                return
            name = f"spoken-{number % 5}"
            rows = claude_rows(name, number, _plain)
            data = "".join(json.dumps(row) + "\n" for row in rows)
            with path.with_name(f"{name}.jsonl").open("a") as file:
                for at in range(0, len(data), 700):
                    file.write(data[at : at + 700])
                    file.flush()
            time.sleep(0.3)

    def _forget(self, _who: int) -> None:
        """Forget a conversation as soon as it was imported; what is gone is acknowledged."""
        for number in itertools.count():
            if self.over.is_set():
                return
            name, word = f"regretted-{number}", f"mistake{number}end"
            claude_code(self.person, name, lambda field, word=word: f"{_plain(field)} {word}")  # type: ignore[misc]
            while not self.over.is_set() and not self._knows(name):
                time.sleep(0.05)
            while not self.over.is_set():
                try:
                    client.ask("history_forget", {"ids": [name]}, ASK_S)
                except InvalidRequest:
                    assert not self._knows(name)  # the kill came after it was done
                except (DaemonUnreachable, OSError):
                    time.sleep(0.05)
                    continue
                self.forgotten.append(word)
                break

    def _knows(self, name: str) -> bool:
        while not self.over.is_set():
            try:
                client.ask("history_show", {"session": name}, ASK_S)
            except InvalidRequest:
                return False
            except (DaemonUnreachable, OSError):
                time.sleep(0.05)
                continue
            return True
        return False


def _nothing_is_lost(state: Path, load: Load) -> None:
    """What was acknowledged before the daemon was killed is in its files, or in none of them."""
    remembered, forgotten = list(load.remembered), list(load.forgotten)
    with contextlib.closing(History(str(state / "history"))) as history:
        assert history.database.check() == []
        with history.database.read() as connection:
            rows = connection.execute("SELECT narrative FROM observations WHERE origin='explicit'")
            texts = [row[0] for row in rows]
    assert len(texts) == len(set(texts))
    assert set(remembered) <= set(texts)
    assert files_with(state, *forgotten) == []


def _works(state: Path) -> list[str]:
    """What a daemon that is stopped (SIGSTOP) is doing, by the locks that it holds."""
    folder = state / "history"
    works = [
        work
        for work, name in (("importing", run.LOCK), ("recall", index.LOCK))
        if _is_locked(folder / name)
    ]
    with contextlib.closing(sqlite3.connect(folder / NAME, timeout=0)) as connection:
        try:
            if "importing" in works and connection.execute(_FORGETTING).fetchone():
                works.append("forgetting")
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
        except sqlite3.OperationalError:
            works.append("database")
    return works


_FORGETTING = "SELECT 1 FROM facts_of_database WHERE name = 'forgetting_unfinished'"


def _is_locked(path: Path) -> bool:
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _kill(process: subprocess.Popen[bytes], state: Path, work: str, chance: random.Random) -> str:
    """Kill a daemon while it does some work, if it does within `LOOK_S`; return what it did."""
    time.sleep(chance.uniform(0, LIFE_S))
    deadline = time.monotonic() + LOOK_S
    while True:
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        works = _works(state)
        if not work or work in works or time.monotonic() > deadline:
            break
        process.send_signal(signal.SIGCONT)
        time.sleep(chance.uniform(0, 0.02))
    process.kill()
    process.wait()
    return " and ".join(works) or "nothing"


def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """The state folder, the person's home and a repository; for every thread of this process."""
    state, person, root = (tmp_path / name for name in ("state", "person", "repo"))
    for folder in (state, person, root):
        folder.mkdir(mode=0o700)
    monkeypatch.setenv("TRISEEK_HOME", str(state))
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("TRISEEK_MCP_DISABLE_STARTUP_SYNC", "1")
    return state, person, root


def _kill_daemons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kills: int) -> None:
    state, person, root = _folders(tmp_path, monkeypatch)
    claude_code(person, "first", _plain)
    _import(state, person)
    chance, moments = random.Random(5), Counter[str]()
    process = history_daemon.start(state, person)
    following = history_daemon.prepare(state, person)
    try:
        with Load(state, person, root) as load:
            for number in range(kills):
                moments[_kill(process, state, WORKS[number % len(WORKS)], chance)] += 1
                _nothing_is_lost(state, load)
                process = history_daemon.start(state, person, prepared=following)
                following = history_daemon.prepare(state, person)
            time.sleep(2 * LIFE_S)
        assert load.wrong == []
        until(lambda: _is_followed(person))
    finally:
        for one in (process, following):
            one.kill()
            one.communicate()
        end_daemons_of(str(state))
    _nothing_is_lost(state, load)
    assert moments["nothing"] <= kills / 2
    assert len(load.remembered) >= kills
    assert load.forgotten
    print(
        f"\n{kills} kills: {len(load.remembered)} facts were acknowledged, {load.refused} not;"
        f" {len(load.forgotten)} conversations were forgotten; killed at"
        f" {', '.join(f'{count} × {work}' for work, count in moments.most_common())}"
    )
    _is_as_if_never_killed(tmp_path, state, person, load)


def _is_as_if_never_killed(tmp_path: Path, state: Path, person: Path, load: Load) -> None:
    """Another import of everything brings nothing back, and leaves what an undisturbed one does."""
    for path in (person / ".claude").rglob("*.jsonl"):
        os.utime(path, ns=(1, 1))
    killed = _import(state, person)
    assert files_with(state, *load.forgotten) == []
    for word in load.forgotten:
        for path in (person / ".claude").rglob(f"regretted-{word[7:-3]}.jsonl"):
            path.unlink()
    whole = _import(tmp_path / "whole", person)
    for table in ("sessions", "messages", "events", "files", "observations", "summaries"):
        assert killed[table] == whole[table], table


def _import(state: Path, person: Path) -> dict[str, list[tuple[object, ...]]]:
    with contextlib.closing(History(str(state / "history"))) as history:
        place = InstallPlace("", str(person), str(person), {})
        agents = [agent for agent in sources.importable() if agent.name == "claude-code"]
        history.import_conversations(agents, place)
        return contents(history.database, AGENT)


def _is_followed(person: Path) -> bool:
    """Whether the daemon knows the last row of each transcript."""
    for path in (person / ".claude").rglob("spoken-*.jsonl"):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        prompts = [row for row in rows if row.get("uuid", "").endswith("-1")]
        shown = client.ask("history_show", {"session": path.stem}, ASK_S)
        if len([entry for entry in shown["entries"] if entry["kind"] == "user"]) < len(prompts):
            return False
    return True


def test_a_killed_daemon_loses_and_brings_back_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _kill_daemons(tmp_path, monkeypatch, KILLS)


def test_a_daemon_goes_on_beside_a_damaged_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, person, root = _folders(tmp_path, monkeypatch)
    claude_code(person, "first", _plain)
    _import(state, person)
    file = state / "history" / "history.db"
    whole = file.read_bytes()
    file.write_bytes(whole[:100] + os.urandom(len(whole) - 100))
    with history_daemon.following(state, person), front(str(root)) as call:
        answer = call(REMEMBER, {"text": "a fact"}, Call(connection="test"))
        assert answer.error is not None
        assert "STATE_CORRUPT" in str(answer.error)
        assert "is damaged" in str(answer.error)
        with pytest.raises(StateCorrupt, match="is damaged"):
            client.ask("history_stats", {}, ASK_S)
        assert client.ask("ping", {}, ASK_S) is not None
        file.write_bytes(whole)
        assert client.ask("history_stats", {}, ASK_S)["agents"]
        assert call(REMEMBER, {"text": "a fact"}, Call(connection="test")).error is None


@pytest.mark.slow
def test_a_hundred_killed_daemons_lose_and_bring_back_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _kill_daemons(tmp_path, monkeypatch, KILLS_SLOW)
