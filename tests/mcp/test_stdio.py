"""The server as a client meets it: pipes, lines, and a process."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import termios
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.mcp.speaking import (
    ENVELOPE,
    MODERN,
    PATIENCE_S,
    SERVE,
    SIGNALS,
    STAND_IN,
    Spoken,
    call,
    children_of,
    greeted,
    hello,
    is_running,
    notice,
    request,
    speaking,
    until,
)
from triseek import __version__
from triseek.app.registry import chosen

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.long

TOOLS = {tool.name for tool in chosen(["default"])}
WRITING = {
    "reindex", "session_open", "session_close", "session_snapshot", "session_handoff",
    "session_resume",
}  # fmt: skip


@pytest.fixture
def tree(repo: Any) -> str:
    return repo({"src/a.py": "def needle():\n    pass\n", "b.txt": "a needle\n"})


@pytest.fixture
def server(tree: str) -> Iterator[Spoken]:
    with greeted([*SERVE, tree]) as server:
        yield server


@pytest.fixture
def stand_in(tree: str) -> Iterator[Spoken]:
    with greeted([*STAND_IN, tree]) as server:
        yield server


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_each_version_of_the_handshake_is_agreed_to(tree: str, version: str) -> None:
    with speaking([*SERVE, tree]) as server:
        result = server.ask(hello(1, version))["result"]

    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "triseek"
    assert result["serverInfo"]["version"] == __version__
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert "search_content" in result["instructions"]


def test_an_unknown_version_is_answered_with_the_latest_of_the_handshake(tree: str) -> None:
    with speaking([*SERVE, tree]) as server:
        result = server.ask(hello(1, "1999-01-01"))["result"]

    assert result["protocolVersion"] == "2025-11-25"


def test_a_client_without_a_handshake_discovers_lists_and_calls(tree: str) -> None:
    params = {"name": "search_content", "arguments": {"query": "needle"}, "_meta": ENVELOPE}
    with speaking([*SERVE, tree]) as server:
        found = server.ask(request(1, "server/discover", {"_meta": ENVELOPE}))["result"]
        listed = server.ask(request(2, "tools/list", {"_meta": ENVELOPE}))["result"]
        called = server.ask(request(3, "tools/call", params))["result"]

    assert MODERN in found["supportedVersions"]
    assert {tool["name"] for tool in listed["tools"]} == TOOLS
    assert called["structuredContent"]["files_with_matches"] == 2


def test_the_two_eras_are_not_mixed_in_one_connection(tree: str) -> None:
    with speaking([*SERVE, tree]) as server:
        server.ask(request(1, "server/discover", {"_meta": ENVELOPE}))
        refused = server.ask(hello(2))

    assert refused["error"]["code"] == -32022
    assert refused["error"]["data"]["supported"] == [MODERN]


def test_every_tool_is_listed_with_what_it_takes_and_gives(server: Spoken) -> None:
    tools = server.ask(request(1, "tools/list"))["result"]["tools"]

    assert {tool["name"] for tool in tools} == TOOLS
    for tool in tools:
        assert tool["inputSchema"]["type"] == "object"
        assert tool["outputSchema"]["type"] == "object"
        assert tool["description"]
        assert tool["annotations"]["readOnlyHint"] is (tool["name"] not in WRITING)


def test_a_call_is_answered_in_text_and_as_a_document(server: Spoken, tree: str) -> None:
    result = server.ask(call(1, "search_content", query="needle"))["result"]

    assert result["isError"] is False
    assert result["content"][0]["text"].startswith("2 matches in 2 files\nsrc/a.py\n1:")
    assert result["structuredContent"]["repo_root"] == os.path.realpath(tree)
    assert {one["path"] for one in result["structuredContent"]["results"]} == {
        "src/a.py",
        "b.txt",
    }


def test_wrong_arguments_are_an_answer_of_the_tool(server: Spoken) -> None:
    result = server.ask(call(1, "search_content", query="x", limit="many"))["result"]

    assert result["isError"] is True
    assert result["structuredContent"]["error"]["code"] == "INVALID_QUERY"


def test_an_unknown_tool_and_an_unknown_method_are_protocol_errors(server: Spoken) -> None:
    tool = server.ask(call(1, "grep"))
    method = server.ask(request(2, "tools/grep"))

    assert tool["error"]["code"] == -32602
    assert "grep" in tool["error"]["message"]
    assert method["error"]["code"] == -32601


def test_nothing_but_ping_is_answered_before_the_handshake(tree: str) -> None:
    with speaking([*SERVE, tree]) as server:
        assert server.ask(request(1, "ping"))["result"] == {}
        assert server.ask(request(2, "tools/list"))["error"]["code"] == -32602
        assert "result" in server.ask(hello(3))


def test_shutdown_is_answered_and_then_the_server_ends(server: Spoken) -> None:
    server.say(call(1, "search_content", query="needle"), request(2, "shutdown"))
    server.say(request(3, "ping"))  # too late

    assert server.ended() == 0
    assert server.answer(1)["result"]["structuredContent"]["files_with_matches"] == 2
    assert server.answer(2)["result"] == {}
    assert not [one for one in server.messages if one.get("id") == 3]


def test_a_slow_call_holds_up_no_other(stand_in: Spoken, tree: str) -> None:
    stand_in.say(call(1, "index_status", wait_for="go"))

    found = stand_in.ask(call(2, "search_content", query="needle"))
    pinged = stand_in.ask(request(3, "ping"))

    assert found["result"]["structuredContent"]["files_with_matches"] == 2
    assert pinged["result"] == {}
    assert not [one for one in stand_in.messages if one.get("id") == 1]
    Path(tree, "go").touch()
    assert "result" in stand_in.answer(1)


def test_what_is_cancelled_stops_and_is_not_answered(stand_in: Spoken, tree: str) -> None:
    stand_in.say(call(1, "index_status", wait_for="go"))
    until(Path(tree, "go.begun").exists)

    stand_in.say(notice("notifications/cancelled", requestId=1, reason="enough"))

    until(Path(tree, "go.cancelled").exists)
    assert stand_in.ask(request(2, "ping"))["result"] == {}
    assert stand_in.close() == 0
    assert not [one for one in stand_in.messages if one.get("id") == 1]


def test_a_tool_that_hangs_is_answered_and_holds_up_neither_others_nor_the_end(tree: str) -> None:
    with greeted([*STAND_IN, tree, "--limit", "0.5"]) as server:
        answer = server.ask(call(1, "index_status", wait_for="never", deaf=True))

        assert answer["result"]["isError"]
        message = answer["result"]["structuredContent"]["error"]["message"]
        assert message == "no answer within 0.5 s"
        assert "result" in server.ask(call(2, "search_content", query="hello"))
        assert server.close() == 0


def test_a_cancelled_reindex_ends_the_process_that_works(server: Spoken, repo: Any) -> None:
    repo({f"many/{number}.txt": f"line {number}\n" * 50 for number in range(3_000)})
    server.say(call(1, "reindex", mode="full"))
    until(lambda: bool(builders_of(server)))
    working = builders_of(server)

    server.say(notice("notifications/cancelled", requestId=1))

    until(lambda: not any(is_running(pid) for pid in working))
    assert "result" in server.ask(call(2, "reindex"))  # and nothing of it is in the way
    assert not [one for one in server.messages if one.get("id") == 1]


def builders_of(server: Spoken) -> list[int]:
    return [
        pid
        for pid in children_of(server.process.pid)
        if b"triseek.engine.reindex_process" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


def test_reindex_tells_its_progress_in_rising_numbers(server: Spoken) -> None:
    asked = call(1, "reindex", mode="full")
    asked["params"]["_meta"] = {"progressToken": "far"}

    result = server.ask(asked)["result"]

    told = [one["params"] for one in server.messages if one.get("method")]
    numbers = [one["progress"] for one in told]
    assert result["structuredContent"]["completed"] is True
    assert len(numbers) > 1
    assert all(before < after for before, after in itertools.pairwise(numbers))
    assert {one["progressToken"] for one in told} == {"far"}
    assert all(one["message"] for one in told)


def test_who_asks_for_no_progress_is_told_none(server: Spoken) -> None:
    server.ask(call(1, "reindex", mode="full"))

    assert not [one for one in server.messages if "method" in one]


def test_what_was_asked_before_the_end_of_input_is_answered(server: Spoken) -> None:
    server.say(*(call(number, "search_content", query="needle") for number in range(40)))

    assert server.close() == 0
    answers = {one["id"]: one for one in server.messages if one.get("id") != "hello"}
    assert answers.keys() == set(range(40))
    for answer in answers.values():
        assert answer["result"]["structuredContent"]["files_with_matches"] == 2


def test_a_server_nobody_spoke_to_ends_with_its_input(tree: str) -> None:
    with speaking([*SERVE, tree]) as server:
        assert server.close() == 0

    assert server.messages == []


def test_input_and_output_may_be_files(tree: str, tmp_path: Path) -> None:
    asked, told = tmp_path / "asked", tmp_path / "told"
    asked.write_text("\n".join(map(json.dumps, (hello(1), call(2, "search_content", query="a")))))
    with asked.open("rb") as source, told.open("wb") as target:
        subprocess.run(
            [sys.executable, *SERVE, tree],
            stdin=source,
            stdout=target,
            timeout=PATIENCE_S,
            check=True,
        )

    assert [json.loads(line)["id"] for line in told.read_text().splitlines()] == [1, 2]


def test_nothing_but_messages_gets_onto_standard_output(stand_in: Spoken) -> None:
    stand_in.ask(call(1, "index_status", noise=True))

    assert stand_in.close() == 0  # every line was read as a message
    assert [one["id"] for one in stand_in.messages] == ["hello", 1]
    for noise in (b"printed", b"written", b"a child's", b"the C library's"):
        assert noise in stand_in.said


def test_an_answer_much_longer_than_a_pipe_arrives_whole(stand_in: Spoken) -> None:
    stand_in.say(*(call(number, "index_status", weight=300_000) for number in range(5)))

    for number in range(5):
        weight = stand_in.answer(number)["result"]["structuredContent"]["weight"]
        assert len(weight) == 300_000


@pytest.fixture
def unread(tree: str) -> Iterator[subprocess.Popen[bytes]]:
    """The stand-in with nobody who reads; it waits for a file before it answers at length."""
    process = subprocess.Popen(
        [sys.executable, *STAND_IN, tree],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    with process:
        for message in (hello(), call(1, "index_status", wait_for="go", weight=1_000_000)):
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        until(Path(tree, "go.begun").exists)
        yield process
        process.kill()


def waiting_in(descriptor: int) -> int:
    """Bytes that could be read."""
    return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)), sys.byteorder)


def test_a_client_that_reads_nothing_can_still_end_the_server(
    unread: subprocess.Popen[bytes], tree: str
) -> None:
    assert unread.stdout
    Path(tree, "go").touch()
    full = fcntl.fcntl(unread.stdout.fileno(), fcntl.F_GETPIPE_SZ) - select.PIPE_BUF
    descriptor = unread.stdout.fileno()
    until(lambda: waiting_in(descriptor) > full)

    unread.send_signal(signal.SIGTERM)

    assert unread.wait(PATIENCE_S) == 0


def test_a_client_that_is_gone_ends_the_server_quietly(
    unread: subprocess.Popen[bytes], tree: str
) -> None:
    assert unread.stdout
    assert unread.stderr
    unread.stdout.close()

    Path(tree, "go").touch()

    assert unread.wait(PATIENCE_S) == 0
    assert b"Traceback" not in unread.stderr.read()


def test_the_first_answers_wait_for_no_compiler(tree: str) -> None:
    script = (
        "import sys\n"
        "from triseek.mcp import hosting\n"
        "heavy = lambda: sorted({'numpy', 'numba', 'pyarrow', 'typer'} & set(sys.modules))\n"
        "loaded = lambda *_: print('loaded', heavy(), file=sys.stderr, flush=True)\n"
        "hosting.LocalSession._begin = loaded\n"
        "from triseek.cli import main\n"
        f"sys.argv = ['triseek', 'mcp', 'serve', '--repo', {tree!r}]\n"
        "main.main()\n"
    )
    with speaking(["-c", script]) as server:
        server.ask(hello())
        server.ask(request(1, "ping"))
        server.close()

    assert b"loaded []" in server.said


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_server_and_all_it_started(
    tree: str, repo: Any, number: signal.Signals
) -> None:
    repo({f"many/{number}.txt": f"line {number}\n" * 50 for number in range(3_000)})
    with greeted([*SERVE, tree]) as server:
        server.say(call(1, "reindex", mode="full"))
        until(lambda: bool(builders_of(server)))
        started = children_of(server.process.pid)

        server.process.send_signal(number)

        assert server.ended() == 0
        until(lambda: not any(is_running(pid) for pid in started))
        assert b"Traceback" not in server.said


@pytest.mark.parametrize("is_told", [True, False], ids=["signal", "end of input"])
def test_what_was_begun_behind_the_first_answer_ends_with_the_server(
    tree: str, repo: Any, tmp_path: Path, *, is_told: bool
) -> None:
    repo({f"many/{number}.txt": f"line {number}\n" * 50 for number in range(3_000)})
    cold = {"NUMBA_CACHE_DIR": str(tmp_path / "cold")}
    with greeted([*SERVE, tree], variables=cold, sync=True) as server:
        # One compiles, one indexes, and one ends both should the server be killed.
        until(lambda: len(children_of(server.process.pid)) == 3)
        started = children_of(server.process.pid)

        if is_told:
            server.process.send_signal(signal.SIGTERM)

        assert server.close() == 0
        until(lambda: not any(is_running(pid) for pid in started))  # their guard kills them
        assert b"Traceback" not in server.said


def test_a_client_that_never_reads_the_log_is_served(tree: str) -> None:
    malformed = json.dumps(notice("notifications/progress", progressToken=[])).encode() + b"\n"
    with subprocess.Popen(
        [sys.executable, *SERVE, tree],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        killer = threading.Timer(PATIENCE_S, process.kill)
        killer.start()
        for message in (hello(), notice("notifications/initialized")):
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.write(malformed * 3_000)  # each is a warning of the SDK
        process.stdin.write(json.dumps(request(1, "ping")).encode() + b"\n")
        process.stdin.close()

        told = [json.loads(line)["id"] for line in process.stdout]

        killer.cancel()
        assert told == ["hello", 1]
        assert b"malformed" in process.stderr.read()


def test_one_socket_may_be_both_ends_where_there_is_no_log(tree: str) -> None:
    ours, theirs = socket.socketpair()
    closing_the_log = ["sh", "-c", 'exec 2>&-; exec "$@"', "sh"]
    with (
        ours,
        theirs,
        subprocess.Popen(
            [*closing_the_log, sys.executable, *STAND_IN, tree], stdin=theirs, stdout=theirs
        ),
    ):
        theirs.close()
        ours.settimeout(PATIENCE_S)
        for message in (hello(), call(1, "index_status", noise=True)):
            ours.sendall(json.dumps(message).encode() + b"\n")
        ours.shutdown(socket.SHUT_WR)
        with ours.makefile("rb") as told:
            messages = [json.loads(line) for line in told]

    assert [message["id"] for message in messages] == ["hello", 1]
    assert messages[1]["result"]["isError"] is False
