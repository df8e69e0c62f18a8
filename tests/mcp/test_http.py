"""The server by HTTP: who may ask it, and how it ends."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.mcp.speaking import (
    ENVELOPE,
    MODERN,
    PATIENCE_S,
    SERVE,
    SIGNALS,
    STAND_IN,
    call,
    hello,
    notice,
    request,
    until,
)
from triseek.app.registry import chosen
from triseek.loopback.address import Address
from triseek.mcp.http import BODY_MAX, SESSIONS_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

pytestmark = pytest.mark.long

ACCEPT = "application/json, text/event-stream"


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        """The last message of a body, be it a document or a stream of events."""
        data = [line[5:] for line in self.body.splitlines() if line.startswith(b"data:")]
        found: dict[str, Any] = json.loads(data[-1] if data else self.body)
        return found


class Served:
    """A server that listens, and requests to it."""

    def __init__(self, process: subprocess.Popen[bytes], home: str) -> None:
        self.process = process
        self.said = b""
        assert process.stderr
        while b"Bearer" not in self.said:
            line = process.stderr.readline()
            assert line, self.said
            self.said += line
        found = re.search(rb"http://(\S+):(\d+)/mcp", self.said)
        assert found
        self.host, self.port = found[1].decode(), int(found[2])
        self.token_file = Path(home, "daemon", f"mcp-{self.port}.token")
        self.token = self.token_file.read_text() if self.token_file.exists() else ""

    def request(
        self, message: Any = None, headers: Mapping[str, str | None] | None = None, **how: Any
    ) -> Reply:
        """Ask; a header that is None is left out."""
        said: dict[str, str | None] = {
            "Accept": ACCEPT,
            "Content-Type": "application/json",
            "Authorization": f"Bearer {self.token}",
            **(headers or {}),
        }
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        line = http.client.HTTPConnection(self.host.strip("[]"), self.port, timeout=PATIENCE_S)
        try:
            line.putrequest(how.get("method", "POST"), how.get("path", "/mcp"), skip_host=True)
            for name, value in {"Host": f"{self.host}:{self.port}", **said}.items():
                if value is not None:
                    line.putheader(name, value)
            line.putheader("Content-Length", str(how.get("length", len(body))))
            line.endheaders(body)
            answer = line.getresponse()
            return Reply(
                answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
            )
        finally:
            line.close()

    def session(self) -> dict[str, str | None]:
        """Headers of a session that has been shaken hands with."""
        opened = self.request(hello())
        headers: dict[str, str | None] = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        assert self.request(notice("notifications/initialized"), headers).status == 202
        return headers

    def ended(self) -> int:
        code = self.process.wait(PATIENCE_S)
        assert self.process.stderr
        assert self.process.stdout
        self.said += self.process.stderr.read()
        assert self.process.stdout.read() == b""
        return code


@contextmanager
def serving(*words: str, address: str = "127.0.0.1:0", **variables: str) -> Iterator[Served]:
    env = {**os.environ, "TRISEEK_MCP_DISABLE_STARTUP_SYNC": "1", **variables}
    process = subprocess.Popen(
        [sys.executable, *words, "--http", address],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
    )
    with process:
        try:
            yield Served(process, env["TRISEEK_HOME"])
        finally:
            process.kill()


@pytest.fixture
def tree(repo: Any) -> str:
    found: str = repo({"src/a.py": "def needle():\n    pass\n", "b.txt": "a needle\n"})
    return found


@pytest.fixture
def served(tree: str) -> Iterator[Served]:
    with serving(*SERVE, tree) as served:
        yield served


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server for tests that leave nothing behind."""
    home, tree = (str(tmp_path_factory.mktemp(name)) for name in ("home", "tree"))
    with serving(*SERVE, tree, TRISEEK_HOME=home, HOME=home, TRISEEK_NO_DAEMON="1") as served:
        yield served


def test_a_session_lists_calls_and_is_ended(served: Served) -> None:
    session = served.session()

    listed = served.request(request(2, "tools/list"), session).message
    called = served.request(call(3, "search_content", query="needle"), session).message
    ended = served.request(headers=session, method="DELETE")

    assert len(listed["result"]["tools"]) == len(chosen(["default"]))
    assert called["result"]["structuredContent"]["files_with_matches"] == 2
    assert ended.status == 200
    assert served.request(request(4, "ping"), session).status == 404


def test_a_request_of_the_stateless_era_needs_no_session(served: Served) -> None:
    params = {"name": "search_content", "arguments": {"query": "needle"}, "_meta": ENVELOPE}
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call"}

    answer = served.request(
        request(1, "tools/call", params), {**headers, "Mcp-Name": "search_content"}
    )

    assert answer.status == 200, answer
    assert answer.message["result"]["structuredContent"]["files_with_matches"] == 2


def test_two_clients_are_served_at_once(tree: str) -> None:
    with serving(*STAND_IN, tree) as served:
        first, second = served.session(), served.session()
        slow: list[Reply] = []
        asked = call(1, "index_status", wait_for="go")
        waiting = threading.Thread(target=lambda: slow.append(served.request(asked, first)))
        waiting.start()
        until(Path(tree, "go.begun").exists)

        found = served.request(call(1, "search_content", query="needle"), second).message

        assert found["result"]["structuredContent"]["files_with_matches"] == 2
        assert not slow
        Path(tree, "go").touch()
        waiting.join(PATIENCE_S)
        assert "result" in slow[0].message


@pytest.mark.parametrize(
    "given",
    [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic {token}", "Bearer {token}x", "{token}"],
)
def test_who_does_not_know_the_token_is_not_answered(shared: Served, given: str | None) -> None:
    said = None if given is None else given.format(token=shared.token)

    refused = shared.request(hello(), {"Authorization": said})

    assert refused.status == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert shared.token.encode() not in refused.body


@pytest.mark.parametrize("path", ["/mcp", "/", "/docs", "/.well-known/oauth-protected-resource"])
def test_no_path_is_open(shared: Served, path: str) -> None:
    assert shared.request(hello(), {"Authorization": None}, path=path).status == 401


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:{port}.x"],
)
def test_a_request_that_names_another_host_is_refused(shared: Served, host: str) -> None:
    refused = shared.request(hello(), {"Host": host.format(port=shared.port)})

    assert refused.status == 421


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1:{port}", "LOCALHOST:{port}"])
def test_the_servers_own_names_are_taken(shared: Served, host: str) -> None:
    assert shared.request(hello(), {"Host": host.format(port=shared.port)}).status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost:{port}", ""]
)
def test_a_foreign_page_is_refused(shared: Served, origin: str) -> None:
    refused = shared.request(hello(), {"Origin": origin.format(port=shared.port)})

    assert refused.status == 403


def test_a_page_of_its_own_is_not(shared: Served) -> None:
    own = {"Origin": f"http://127.0.0.1:{shared.port}"}

    assert shared.request(hello(), own).status == 200


def test_a_body_that_is_too_large_is_refused_and_others_are_served(shared: Served) -> None:
    session = shared.session()
    large = b'{"jsonrpc": "2.0", "method": "' + b"x" * BODY_MAX + b'"}'

    assert shared.request(large, session).status == 413
    assert shared.request(b"{", session, length=BODY_MAX + 1).status == 413
    assert shared.request(request(1, "ping"), session).message["result"] == {}


def test_who_knows_no_token_has_no_body_read(shared: Served) -> None:
    with socket.create_connection((shared.host, shared.port), timeout=PATIENCE_S) as line:
        line.sendall(
            f"POST /mcp HTTP/1.1\r\nHost: {shared.host}:{shared.port}\r\n"
            "Content-Length: 1000000\r\n\r\n".encode()
        )
        answer = line.recv(65536)

    assert answer.startswith(b"HTTP/1.1 401 ")


def test_the_token_is_in_a_file_of_its_owners_alone_while_the_server_runs(served: Served) -> None:
    mode = served.token_file.stat().st_mode
    folder = served.token_file.parent.stat().st_mode

    assert stat.S_IMODE(mode) == 0o600
    assert stat.S_IMODE(folder) == 0o700
    assert len(served.token) >= 43
    served.process.send_signal(signal.SIGTERM)
    served.ended()
    assert not served.token_file.exists()


def test_the_token_is_shown_nowhere(served: Served) -> None:
    served.session()
    served.request(hello(), {"Authorization": "Bearer wrong"})
    words = Path(f"/proc/{served.process.pid}/cmdline").read_bytes()

    served.process.send_signal(signal.SIGTERM)
    served.ended()

    assert str(served.token_file).encode() in served.said
    assert served.token.encode() not in served.said + words


def test_a_chosen_token_is_used_and_not_written_down(tree: str, tmp_path: Path) -> None:
    with serving(*SERVE, tree, TRISEEK_MCP_TOKEN="chosen-by-somebody") as served:
        assert not served.token_file.exists()
        served.token = "chosen-by-somebody"
        assert served.request(hello()).status == 200
    file = tmp_path / "token"
    file.write_text("another-of-somebody\n")
    with serving(*SERVE, tree, TRISEEK_MCP_TOKEN_FILE=str(file)) as served:
        served.token = "another-of-somebody"
        assert served.request(hello()).status == 200


@pytest.mark.parametrize("token", ["short", "has a space in its middle", "", "é" * 20])
def test_a_token_that_is_none_is_refused(tree: str, token: str) -> None:
    done = run("--http", "127.0.0.1:0", tree=tree, TRISEEK_MCP_TOKEN=token)

    assert done.returncode == 2
    assert b"a token has 16 or more" in done.stderr
    assert not token or token.encode() not in done.stderr


@pytest.mark.parametrize(
    "address", ["0.0.0.0:0", "10.1.2.3:80", "[::]:0", "example.com:80", "127.0.0.1.example.com:1"]
)
def test_what_others_reach_is_refused_by_name(tree: str, address: str) -> None:
    done = run("--http", address, tree=tree)

    assert done.returncode == 2
    assert address.rpartition(":")[0].strip("[]").encode() in done.stderr
    assert b"no loopback address" in done.stderr


def test_loopback_is_taken_by_any_of_its_names() -> None:
    assert Address.parse("localhost:80") == ("127.0.0.1", 80)
    assert Address.parse("127.9.9.9:0") == ("127.9.9.9", 0)
    assert Address.parse("[::1]:1").authority == "[::1]:1"


def test_a_port_in_use_is_one_clear_line(served: Served, tree: str) -> None:
    done = run("--http", f"127.0.0.1:{served.port}", tree=tree)

    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"cannot listen" in done.stderr
    assert served.token_file.exists()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_it_with_a_stream_open_and_a_call_under_way(
    tree: str, number: signal.Signals
) -> None:
    with serving(*STAND_IN, tree) as served:
        session = served.session()
        stream = http.client.HTTPConnection(served.host, served.port, timeout=PATIENCE_S)
        stream.request(
            "GET",
            "/mcp",
            headers={
                "Accept": ACCEPT,
                "Authorization": f"Bearer {served.token}",
                **{name: value for name, value in session.items() if value},
            },
        )
        events = stream.getresponse()
        assert events.status == 200
        asked = call(1, "index_status", wait_for="go")
        slow = threading.Thread(target=swallow, args=(served, asked, session))
        slow.start()
        until(Path(tree, "go.begun").exists)

        served.process.send_signal(number)

        assert served.ended() == 0
        assert Path(tree, "go.cancelled").exists()
        assert b"Traceback" not in served.said
        slow.join(PATIENCE_S)
        events.close()
        stream.close()


def swallow(served: Served, asked: Any, session: Mapping[str, str | None]) -> None:
    """Ask, though there may be no answer."""
    with suppress(OSError, http.client.HTTPException):
        served.request(asked, session)


def run(*words: str, tree: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, *SERVE, tree, *words],
        env={**os.environ, **variables},
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.slow  # 260 sessions by the real server
def test_more_sessions_than_there_may_be_keep_no_client_out(served: Served) -> None:
    """Clients that never send DELETE: the first of them is the one that has to begin anew."""
    first = served.session()
    for _ in range(SESSIONS_MAX + 4):
        assert served.request(hello()).status == 200

    assert served.request(request(1, "ping"), first).status == 404
    assert served.request(request(1, "ping"), served.session()).status == 200
