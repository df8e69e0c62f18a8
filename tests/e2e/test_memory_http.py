"""The memory by HTTP beside the stdio server, as a real process, with a client on a socket."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.long

WITHIN_S = 30.0
SERVE = (sys.executable, "-m", "triseek", "memory", "serve")


class Served:
    """A stdio server with its companion."""

    def __init__(self, home: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [*SERVE, *words], env={**os.environ, **serving.environ(home)}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        said = ""
        assert self.process.stderr is not None
        while "Bearer" not in said:
            line = self.process.stderr.readline()
            assert line, said
            said += line
        address = re.search(r"http://127\.0\.0\.1:\d+", said)
        file = re.search(r"\$\(cat (\S+)\)", said)
        assert address is not None
        assert file is not None
        self.url, self.token_file = address[0], file[1]
        with open(self.token_file, encoding="ascii") as text:
            self.token = text.read()

    def open(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        known = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {**known, **headers}, method=method)
        return urllib.request.urlopen(request, timeout=WITHIN_S)

    def json(self, method: str, path: str, body: Any = None) -> Any:
        with self.open(method, path, body) as answer:
            return json.load(answer)

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool by standard input and output."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        params = {"name": tool, "arguments": arguments}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        self.process.stdin.write(json.dumps(call) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        return json.loads(reply["result"]["content"][0]["text"])


@contextlib.contextmanager
def served(home: Path) -> Iterator[Served]:
    server = Served(home, "--palace", "mine", "--http", "127.0.0.1:0")
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()
        for pipe in (server.process.stdin, server.process.stdout, server.process.stderr):
            if pipe is not None:
                pipe.close()


def events(stream: Any, wanted: int) -> list[tuple[str, dict[str, Any]]]:
    """The next events with ids of a stream, other than the first."""
    seen: list[tuple[str, dict[str, Any]]] = []
    number = ""
    while len(seen) < wanted:
        line = stream.readline().decode()
        assert line, "the stream has ended"
        if line.startswith("id: "):
            number = line[4:].strip()
        elif line.startswith("data: ") and number:
            event = json.loads(line[6:])
            seen += [(number, event)] if event["type"] != "connected" else []
            number = ""
    return seen


def test_both_ways_lead_to_the_same_memory(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        stored = server.call("memory_remember", text="the retry waits a second", room="Backend")
        reply = server.json("GET", "/api/v1/palaces/mine/recall?q=retry+waits")
        assert [row["id"] for row in reply["results"]] == [stored["drawer_id"]]
        assert reply["results"][0]["room"] == "Backend"
        body = {"content": "the pool closes after 5 s", "tags": ["http"]}
        drawer = server.json("POST", "/api/v1/palaces/mine/drawers", body)["drawer_id"]
        rows = server.call("memory_recall", query="pool closes")["results"]
        assert rows[0]["drawer_id"] == drawer
        fact = {"subject": "api", "predicate": "uses", "object": "flask"}
        server.json("POST", "/api/v1/palaces/mine/kg", fact)
        assert server.call("kg_query", subject="api")["triples"][0]["object"] == "flask"


def test_the_feed_tells_of_all_processes_and_resumes(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        with server.open("GET", "/sse") as stream:
            server.call("memory_remember", text="by standard input")
            (first,) = events(stream, 1)
            serving.triseek(tmp_path, "memory", "remember", "--palace", "mine", "by a command")
            (second,) = events(stream, 1)
        assert [first[1]["type"], second[1]["type"]] == ["drawer_added"] * 2
        assert second[1]["drawer_count"] == 2
        with server.open("GET", "/sse", **{"Last-Event-ID": first[0]}) as stream:
            assert events(stream, 1) == [second]


def test_the_end_of_input_ends_streams_within_two_seconds(tmp_path: Path) -> None:
    with served(tmp_path) as server, server.open("GET", "/sse") as stream:
        assert stream.readline()
        assert server.process.stdin is not None
        began = time.monotonic()
        server.process.stdin.close()
        assert server.process.wait(WITHIN_S) == 0
        assert time.monotonic() - began < 2.5
        assert not os.path.exists(server.token_file)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_within_two_seconds(tmp_path: Path, sign: signal.Signals) -> None:
    with served(tmp_path) as server, server.open("GET", "/sse") as stream:
        assert stream.readline()
        began = time.monotonic()
        server.process.send_signal(sign)
        assert server.process.wait(WITHIN_S) == 0
        assert time.monotonic() - began < 2.5
        assert not os.path.exists(server.token_file)


def test_who_does_not_know_the_token_or_comes_from_a_page_gets_nothing(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        for headers, status in (
            ({"Authorization": "Bearer wrong"}, 401),
            ({"Origin": "http://evil.example"}, 403),
            ({"Host": "evil.example"}, 421),
        ):
            for method, path in (("GET", "/sse"), ("DELETE", "/api/v1/palaces/mine?force=true")):
                with pytest.raises(urllib.error.HTTPError) as refused:
                    server.open(method, path, **headers)
                refused.value.close()
                assert refused.value.code == status
        assert [each["id"] for each in server.json("GET", "/api/v1/palaces")["palaces"]] == ["mine"]


@pytest.mark.parametrize("address", ["0.0.0.0:0", "192.0.2.1:80", "127.0.0.1", "[::]:1"])
def test_an_address_that_others_reach_is_refused_in_one_line(tmp_path: Path, address: str) -> None:
    done = subprocess.run(
        [*SERVE, "--palace", "mine", "--http", address],
        env={**os.environ, **serving.environ(tmp_path)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=WITHIN_S,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) <= 2  # the error, and its next step
    assert "Traceback" not in done.stderr


def test_clients_of_both_ways_write_at_once(tmp_path: Path) -> None:
    with served(tmp_path) as server:

        def write(client: int) -> None:
            for number in range(10):
                body = {"content": f"http {client} {number}"}
                server.json("POST", "/api/v1/palaces/mine/drawers", body)

        threads = [threading.Thread(target=write, args=(client,)) for client in range(3)]
        for thread in threads:
            thread.start()
        for number in range(10):
            server.call("memory_remember", text=f"stdio {number}")
        for thread in threads:
            thread.join()
        reply = server.json("GET", "/api/v1/palaces/mine/drawers?limit=1000")
        contents = {drawer["content"] for drawer in reply["drawers"]}
        assert contents == {
            *(f"http {client} {number}" for client in range(3) for number in range(10)),
            *(f"stdio {number}" for number in range(10)),
        }
