"""The feed of events: of all processes, with resumption, and bounded for slow readers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.serving import until
from tests.ui.memory.serving import Server
from triseek.memory import events
from triseek.memory.drawers import Draft
from triseek.store.sqlite import Database
from triseek.ui.memory import companion, feed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.memory.service import Memory

PACKAGE = Path(feed.__file__).parents[3]
WRITE = """
import sys
from triseek.memory.drawers import Draft
from triseek.memory.service import Memory
memory = Memory(sys.argv[1])
memory.create("theirs")
memory.remember("theirs", Draft(text="written by another process"))
memory.assert_fact("theirs", ("a", "is", "b"))
"""


@pytest.fixture
def server(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Server]:
    monkeypatch.setattr(feed, "POLL_S", 0.05)
    started = companion.start("127.0.0.1:0", memory)
    yield Server(started, capsys.readouterr().err)
    started.stop()


def test_the_first_frame_says_that_it_is_connected(server: Server, memory: Memory) -> None:
    with server.request("GET", "/sse") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert "no-cache" in answer.headers["cache-control"]
        assert answer.headers["x-accel-buffering"] == "no"
        assert not [name for name in answer.headers if name.lower().startswith("access-control")]
        assert answer.readline() == b"id: 0\n"
        assert answer.readline() == b'data: {"type":"connected"}\n'
    assert not memory.exists()


def test_each_change_makes_its_event(server: Server, memory: Memory) -> None:
    with server.feed() as stream:
        stream.frame()
        memory.create("mine")
        assert stream.frame() == {"type": "palace_created", "id": "mine", "name": "mine"}
        drawer = memory.remember("mine", Draft(text="a text")).uuid
        event = {"palace_id": "mine", "drawer_count": 1, "drawer_id": drawer}
        assert stream.until("drawer_added") == {"type": "drawer_added", **event}
        while stream.status.get("total_drawers") != 1:
            stream.frame()
        assert stream.status == {
            "type": "status_changed", "total_drawers": 1, "total_vectors": 0,
            "total_kg_triples": 0,
        }  # fmt: skip
        memory.forget("mine", drawer)
        event["drawer_count"] = 0
        assert stream.until("drawer_deleted") == {"type": "drawer_deleted", **event}
        memory.restore("mine", drawer)
        assert stream.until("drawer_added")["drawer_count"] == 1
        memory.forget("mine", drawer, purges=True)
        assert stream.until("drawer_deleted")["drawer_id"] == drawer
        memory.assert_fact("mine", ("a", "is", "b"))
        assert stream.until("kg_changed") == {"type": "kg_changed", "palace_id": "mine"}
        while stream.status["total_kg_triples"] != 1:  # it may have come before `kg_changed`
            stream.frame()
        memory.retract("mine", ("a", "is", ""))
        assert stream.until("kg_changed") == {"type": "kg_changed", "palace_id": "mine"}
        memory.remember("mine", Draft(text="it goes with its palace"))
        memory.delete_palace("mine")
        assert stream.until("palace_deleted") == {"type": "palace_deleted", "palace_id": "mine"}
        with memory.database.write() as connection:
            events.note(connection, "dream_completed", "", {"merged": 3})
        assert stream.until("dream_completed") == {"type": "dream_completed", "merged": 3}


def test_a_forgotten_drawer_that_is_purged_is_no_second_event(memory: Memory) -> None:
    memory.create("mine")
    drawer = memory.remember("mine", Draft(text="a text")).uuid
    memory.forget("mine", drawer)
    memory.forget("mine", drawer, purges=True)
    with memory.database.read() as connection:
        batch, _ = events.after(connection, 0, 100)
    assert [event.kind for event in batch] == ["palace_created", "drawer_added", "drawer_deleted"]


def test_changes_of_another_process_come(server: Server, memory: Memory) -> None:
    with server.feed() as stream:
        stream.frame()
        subprocess.run(
            [sys.executable, "-c", WRITE, memory.folder],
            env={**os.environ, "PYTHONPATH": str(PACKAGE)}, check=True,
        )  # fmt: skip
        assert stream.until("palace_created")["id"] == "theirs"
        assert stream.until("drawer_added")["drawer_count"] == 1
        assert stream.until("kg_changed")["palace_id"] == "theirs"


def test_a_client_resumes_where_it_was(server: Server, memory: Memory) -> None:
    with server.feed() as stream:
        stream.frame()
        memory.create("mine")
        stream.until("palace_created")
        last = stream.last_id
    for number in range(300):
        memory.remember("mine", Draft(text=f"drawer {number}"))
    with server.feed(Last_Event_ID=last) as stream:
        assert stream.frame() == {"type": "connected"}
        frames = [stream.frame() for _ in range(300)]
    assert {frame["type"] for frame in frames} == {"drawer_added"}
    assert len({frame["drawer_id"] for frame in frames}) == 300
    assert stream.last_id == str(int(last) + 300)
    with server.feed() as stream:  # a new client begins now
        stream.frame()
        assert stream.last_id == str(int(last) + 300)


def test_a_client_that_was_away_too_long_is_told_how_much_it_missed(
    server: Server, memory: Memory
) -> None:
    memory.create("mine")
    with memory.database.write() as connection:
        for number in range(events.KEPT + 41):
            events.note(connection, "tick", "mine", {"number": number})
    with server.feed(Last_Event_ID="1") as stream:
        stream.frame()
        assert stream.frame() == {"type": "lag", "skipped": 41}
        assert stream.frame()["number"] == 41
        with memory.database.read() as connection:
            assert connection.execute("SELECT count(*) FROM events").fetchone() == (events.KEPT,)


def test_a_reader_that_does_not_read_lags_and_costs_nothing(server: Server, memory: Memory) -> None:
    """Its socket fills up; then the changes go on without it, until it reads again."""
    memory.create("mine")
    padding = "x" * 20_000
    total = 3 * events.KEPT
    with server.feed() as stream:
        stream.frame()
        for begin in range(0, total, 100):
            with memory.database.write() as connection:
                for number in range(begin, begin + 100):
                    events.note(connection, "tick", "mine", {"number": number, "padding": padding})
            time.sleep(0.06)
        numbers, skipped = [], 0
        while not numbers or numbers[-1] < total - 1:
            frame = stream.frame()
            numbers += [frame["number"]] if frame["type"] == "tick" else []
            skipped += frame.get("skipped", 0)
    assert skipped > 0
    assert len(numbers) + skipped == total
    assert numbers == sorted(set(numbers))


def test_an_id_of_another_database_begins_anew(server: Server, memory: Memory) -> None:
    memory.create("mine")
    with server.feed(Last_Event_ID="999999") as stream:
        stream.frame()
        assert stream.frame() == {"type": "lag", "skipped": 0}
        assert stream.last_id == "1"


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "9" * 30, "1; DROP TABLE events"])
def test_an_id_that_is_none_is_refused(server: Server, last: str) -> None:
    with server.request("GET", "/sse", Last_Event_ID=last) as answer:
        assert answer.status == 400
        assert b"Last-Event-ID" in answer.read()


def test_comments_keep_a_connection_alive(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "KEEP_ALIVE_S", 0.1)
    with server.feed() as stream:
        stream.frame()
        assert stream.frame() == ": keep-alive"
        assert stream.frame() == ": keep-alive"


def test_streams_are_bounded_and_given_back(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "STREAMS_MAX", 1)
    with server.feed() as stream:
        stream.frame()
        with server.request("GET", "/sse") as answer:
            assert answer.status == 503
    assert until(lambda: status_of(server) == 200)


def status_of(server: Server) -> int:
    with server.request("GET", "/sse") as answer:
        return answer.status


def test_the_database_is_asked_once_for_all_and_not_at_all_for_nobody(
    server: Server, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.create("mine")
    reads: list[float] = []
    read = Database.read
    monkeypatch.setattr(feed, "POLL_S", 0.2)
    monkeypatch.setattr(
        Database, "read", lambda database: reads.append(time.monotonic()) or read(database)
    )
    time.sleep(0.5)
    assert reads == []
    with server.feed() as first, server.feed() as second:
        first.frame()
        second.frame()
        reads.clear()
        time.sleep(1.0)
        assert 2 <= len(reads) <= 6


def test_a_database_that_is_damaged_ends_the_stream_in_a_line(
    server: Server, memory: Memory
) -> None:
    Path(memory.folder).mkdir(parents=True)
    Path(memory.folder, "memory.db").write_bytes(b"no database" * 1_000)
    with server.feed(Last_Event_ID="0") as stream:
        assert stream.frame() == {"type": "connected"}
        line = stream.frame()
        assert line.startswith(": ")
        assert "memory.db" in line
        assert stream.answer.read() == b""
