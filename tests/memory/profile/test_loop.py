"""The loop as a process: the order of answers, and how it ends."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sqlite3
import subprocess
import sys
import termios
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.mcp.speaking import PATIENCE_S, call, notice, request, until
from tests.memory.profile.serving import SERVE, Client, locked, serving
from triseek.memory.profile.lines import LINE_MAX
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.long
WITHIN_S = 2.0


@pytest.fixture
def client(home: Path) -> Iterator[Client]:
    with serving("--palace", "shop", RUST_LOG="debug") as client:
        client.result("palace_list")  # it has started
        yield client


def remember(number: object, text: str = "a fact") -> dict[str, Any]:
    return call(number, "memory_remember", text=text)


def ids(client: Client, count: int) -> list[object]:
    """The ids of the next answers."""
    answers = [client.spoken.hear() for _ in range(count)]
    return [answer and answer["id"] for answer in answers]


def texts(home: Path) -> list[str]:
    memory = Memory(str(home / "memory"))
    try:
        return [drawer.text for drawer in memory.listed("shop", limit=1_000)]
    finally:
        memory.close()


def begins(client: Client, tool: str) -> None:
    """Wait until a call has begun."""
    until(lambda: f"{tool} is called".encode() in client.spoken.said)


def test_answers_have_the_order_of_the_requests_but_a_ping_does_not_wait(
    client: Client, home: Path
) -> None:
    with locked(home):
        client.spoken.say(
            remember(1),
            request(2, "tools/list"),
            notice("notifications/cancelled", requestId=1),
            request(3, "nothing"),
            call(4, "memory_recall", query="fact"),
            request(5, "ping"),
        )
        client.spoken.write(b"no json\n")
        client.spoken.say(request(6, "ping"))
        assert ids(client, 2) == [5, 6]
    assert ids(client, 5) == [1, 2, 3, 4, None]


def test_a_line_that_is_too_long_has_one_error_and_the_next_is_answered(client: Client) -> None:
    client.spoken.write(b'{"id":1,"method":"ping","x":"' + b"x" * LINE_MAX + b'"}\n')
    client.spoken.say(request(2, "ping"))
    too_long = client.spoken.hear()
    assert too_long
    assert (too_long["id"], too_long["error"]["code"]) == (None, -32700)
    assert ids(client, 1) == [2]
    assert client.spoken.close() == 0


def test_memory_is_bounded_while_a_line_has_no_end(client: Client) -> None:
    client.spoken.write(b"\n")
    before = resident(client)
    for _ in range(200):
        client.spoken.write(b"x" * (1 << 20))
    assert resident(client) - before < 4 * LINE_MAX
    client.spoken.write(b"\n")
    assert ids(client, 1) == [None]


def resident(client: Client) -> int:
    """Bytes of memory that the process takes."""
    pages = Path(f"/proc/{client.spoken.process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def test_all_requests_before_the_end_of_input_are_answered(client: Client) -> None:
    client.spoken.say(*[remember(number, f"fact {number}") for number in range(100)])
    assert client.spoken.process.stdin
    client.spoken.process.stdin.write(json.dumps(request("last", "ping")).encode())  # no line end
    assert client.spoken.close() == 0
    answered = [message["id"] for message in client.spoken.messages]
    assert [number for number in answered if isinstance(number, int)] == list(range(100))
    assert "last" in answered


def test_the_call_in_flight_at_the_end_of_input_finishes(client: Client, home: Path) -> None:
    with locked(home):
        client.spoken.say(remember(7))
        assert client.spoken.process.stdin
        client.spoken.process.stdin.close()
        begins(client, "memory_remember")
    assert ids(client, 2) == [7, None]
    assert client.spoken.process.wait(PATIENCE_S) == 0
    assert texts(home) == ["a fact"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("is_busy", [False, True])
def test_a_signal_ends_it_within_two_seconds(
    client: Client, home: Path, number: int, is_busy: bool
) -> None:
    with locked(home):
        if is_busy:
            client.spoken.say(remember(1), *[request(n, "tools/list") for n in range(2, 30)])
            begins(client, "memory_remember")
        begun = time.monotonic()
        client.spoken.process.send_signal(number)
        assert client.spoken.process.wait(PATIENCE_S) == 0
        took_s = time.monotonic() - begun
    assert took_s < WITHIN_S
    assert client.spoken.ended() == 0
    assert b"Traceback" not in client.spoken.said
    assert texts(home) == []


def test_the_call_in_flight_at_a_signal_finishes(client: Client, home: Path) -> None:
    with locked(home):
        client.spoken.say(remember(1, "in flight"), remember(2, "not begun"))
        begins(client, "memory_remember")
        client.spoken.process.send_signal(signal.SIGTERM)
    assert ids(client, 2) == [1, None]
    assert client.spoken.process.wait(PATIENCE_S) == 0
    assert texts(home) == ["in flight"]


@pytest.fixture
def process(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server whose answers nobody reads."""
    with subprocess.Popen(
        [sys.executable, *SERVE],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        yield process
        process.kill()


def test_a_signal_ends_it_while_nobody_reads_the_answers(process: Any) -> None:
    process.stdin.write(b'{"id":1,"method":"tools/list"}\n' * 100)  # 300 kB of answers
    process.stdin.flush()
    until(lambda: is_full(process.stdout))
    process.send_signal(signal.SIGTERM)
    assert process.wait(WITHIN_S) == 0


def is_full(pipe: Any) -> bool:
    """Whether nothing more gets into a pipe from which nobody reads."""
    before = bytes_in(pipe)
    time.sleep(0.2)
    return 0 < before == bytes_in(pipe)


def bytes_in(pipe: Any) -> int:
    """Bytes that can be read from a pipe."""
    count = bytearray(4)
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return int.from_bytes(count, sys.byteorder)


def test_it_ends_quietly_when_the_client_has_gone(process: Any) -> None:
    process.stdout.close()
    process.stdin.write(b'{"id":1,"method":"ping"}\n')
    process.stdin.flush()
    assert process.wait(PATIENCE_S) == 0
    assert process.stderr.read() == b""


def test_a_killed_process_loses_nothing_that_it_acknowledged(home: Path) -> None:
    with serving("--palace", "shop") as client:
        client.spoken.say(*[remember(number, f"fact {number}") for number in range(300)])
        for _ in range(50):
            client.spoken.hear()
        client.spoken.process.kill()
        client.spoken.ended()
    acknowledged = [f"fact {message['id']}" for message in client.spoken.messages]
    kept = texts(home)
    assert len(kept) == len(set(kept))
    assert len(acknowledged) >= 50
    assert kept[: len(acknowledged)] == acknowledged
    assert len(kept) <= len(acknowledged) + 1
    with closing(sqlite3.connect(home / "memory" / "memory.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with serving("--palace", "shop") as again:
        assert again.result("palace_info")["drawer_count"] == len(kept)
