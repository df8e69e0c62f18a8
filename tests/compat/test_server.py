"""Who may ask the server, what it does with hostile requests, and how it ends."""

from __future__ import annotations

import base64
import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import pytest

from tests.compat import served
from tests.compat.asked import Asked
from tests.compat.shapes import ask
from triseek.compat import app, pages
from triseek.compat.app import BODY_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.long

TOKEN = "a-token-of-this-test"
NEEDLE = Asked("POST", "/api/search", '{"Q":"needle"}')


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that asks for a token."""
    home, tree = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("tree")
    (tree / "a.txt").write_text("needle\n")
    served.build(home, [tree])
    with served.serving(home, "--token", TRISEEK_ZOEKT_TOKEN=TOKEN) as server:
        yield server.url


def _basic(password: str) -> str:
    return "Basic " + base64.b64encode(f"anybody:{password}".encode()).decode()


@pytest.mark.parametrize("authorization", [f"Bearer {TOKEN}", f"bearer {TOKEN}", _basic(TOKEN)])
def test_the_token_is_taken_as_bearer_or_password(guarded: str, authorization: str) -> None:
    assert ask(guarded, NEEDLE, {"Authorization": authorization}).status == 200


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer wrong",
        f"Bearer {TOKEN}x",
        _basic("wrong"),
        "Basic ?",
        f"Basic {TOKEN}",
    ],
)
def test_without_the_token_nothing_is_told(guarded: str, authorization: str) -> None:
    for request in (NEEDLE, Asked("GET", "/print?r=tree&f=a.txt"), Asked("GET", "/nosuch")):
        answer = ask(guarded, request, {"Authorization": authorization} if authorization else {})

        assert answer.status == 401
        assert b"needle" not in answer.body


def test_a_load_balancer_needs_no_token(guarded: str) -> None:
    assert ask(guarded, Asked("GET", "/readyz")).status == 200
    assert ask(guarded, Asked("GET", "/healthz")).status == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:80"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 200),
    ],
)
def test_foreign_pages_get_nothing(ours: str, headers: dict[str, str], status: int) -> None:
    assert ask(ours, NEEDLE, headers).status == status


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"x" * (BODY_MAX + 1), 413),
        (b"[" * BODY_MAX, 400),
        (b'{"Q":"' + b"(" * 200_000 + b'"}', 400),
        (b'{"Q":"' + b"a or " * 200_000 + b'a"}', 400),
        (b'{"Q":"' + b"a" * 1_000_000 + b'"}', 200),
        (b'{"Q":"(a*)*b","Opts":{"MaxDocDisplayCount":9223372036854775807}}', 200),
        (b'{"Q":"needle","Opts":{"NumContextLines":9223372036854775807,"ChunkMatches":true}}', 200),
        (b'{"Q":"needle","Opts":{"MaxWallTime":1}}', 200),
        (b'{"Q":"\\u0000"}', 200),
        (b'{"Q":"r:' + b"(a|b)" * 1000 + b'"}', 200),
    ],
    ids=range(10),
)
def test_hostile_bodies_get_one_answer(ours: str, body: bytes, status: int) -> None:
    begun = time.monotonic()
    answer = ask(ours, Asked("POST", "/api/search", body.decode()))

    # Where a limit of the query language is met first, the request is refused in one line.
    assert answer.status in (status, 400)
    assert isinstance(answer.document, dict)
    assert len(answer.document.get("Error", "").splitlines()) <= 1
    assert len(answer.document.get("Error", "")) < 1_000
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize(
    "path",
    [
        "/print?r=alpha&f=../alpha/main.go&format=raw",
        "/print?r=alpha&f=/etc/passwd&format=raw",
        "/print?r=..&f=x&format=raw",
        "/print?r=alpha&f=%00&format=raw",
        "/print?r=alpha&f=deep&format=raw",
        "/print?r=alpha&f=%ff%fe",
    ],
)
def test_only_files_of_a_repository_are_printed(ours: str, path: str) -> None:
    answer = ask(ours, Asked("GET", path))

    assert (answer.status, answer.body) == (418, b"ambiguous result: []\n")


def test_a_printed_file_is_text_in_a_page(ours: str) -> None:
    answer = ask(ours, Asked("GET", "/print?r=alpha&f=main.go"))

    assert b"&lt;b&gt;world&lt;/b&gt; &amp; more</pre>" in answer.body
    assert b"<b>" not in answer.body


def test_a_file_of_line_ends_is_printed_in_pieces() -> None:
    page = pages.printed({"r": "a", "f": "b"}, b"\n" * 200_000)
    sizes = [len(piece) for piece in page]

    assert len(sizes) == 200_003
    assert max(sizes) < 200


def test_a_body_that_does_not_come_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "BODY_S", 0.1)
    sent: list[Any] = []
    scope = {
        "type": "http", "method": "POST", "path": "/api/search", "headers": [], "query_string": b"",
    }  # fmt: skip

    async def receive() -> Any:
        if sent:
            await anyio.sleep_forever()
        sent.append("a part")
        return {"type": "http.request", "body": b"{", "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    anyio.run(app.application(None, lambda: True), scope, receive, send)  # type: ignore[arg-type]

    assert sent[1]["status"] == 408
    assert json.loads(sent[2]["body"]) == {"Error": "the body did not come within 0.1 seconds"}


def test_a_client_that_sends_slowly_or_leaves_stops_nobody(ours: str) -> None:
    address = (urlsplit(ours).hostname, urlsplit(ours).port)
    idle = [socket.create_connection(address) for _ in range(50)]
    for each in idle[:25]:
        each.sendall(b"POST /api/search HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n")
    for each in idle[25:]:
        body = b'{"Q":".*","Opts":{"ChunkMatches":true}}'
        host = urlsplit(ours).netloc.encode()
        head = b"POST /api/search HTTP/1.1\r\nHost: %b\r\nContent-Length: %d\r\n\r\n"
        each.sendall(head % (host, len(body)) + body)
        each.close()

    assert ask(ours, NEEDLE).status == 200
    for each in idle[:25]:
        each.close()


def test_many_clients_are_answered_alike(ours: str) -> None:
    answers: list[int] = []
    threads = [
        threading.Thread(
            target=lambda: answers.append(len(ask(ours, NEEDLE).document["Result"]["Files"]))
        )
        for _ in range(40)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert answers == [answers[0]] * len(threads)


def _files(url: str, query: str) -> list[str]:
    document: Any = ask(url, Asked("POST", "/api/search", json.dumps({"Q": query}))).document
    return sorted(file["FileName"] for file in document["Result"]["Files"] or ())


def test_an_edit_is_seen_by_the_next_request(tmp_path: Path) -> None:
    home, tree, later = (tmp_path / name for name in ("home", "tree", "later"))
    for folder in (home, tree, later):
        folder.mkdir()
        (folder / "a.txt").write_text("needle\n")
    served.build(home, [tree])
    with served.serving(home) as server:
        assert _files(server.url, "needle") == ["a.txt"]
        for number in range(5):
            (tree / "b.txt").write_text(f"thorn{number}\n")
            assert _files(server.url, f"thorn{number}") == ["b.txt"]
        (tree / "a.txt").rename(tree / "c.txt")
        assert _files(server.url, "needle") == ["c.txt"]
        (tree / ".env").write_text("needle of a secret\n")
        assert _files(server.url, "needle") == ["c.txt"]
        for path, status in (("c.txt", 200), (".env", 418), (".//c.txt", 418)):
            page = Asked("GET", f"/print?r=tree&f={path}&format=raw")
            assert ask(server.url, page).status == status
        (tree / "c.txt").unlink()
        assert _files(server.url, "needle") == []

        served.build(home, [later])
        until = time.monotonic() + 20
        while _files(server.url, "r:later needle") != ["a.txt"]:
            assert time.monotonic() < until, "a repository that is indexed later is not searched"
            time.sleep(0.5)


def test_a_signal_ends_it_although_requests_are_open(tmp_path: Path) -> None:
    with served.serving(tmp_path) as server:
        url = urlsplit(server.url)
        connection = http.client.HTTPConnection(url.netloc)
        connection.putrequest("POST", "/api/search")
        connection.putheader("Content-Length", "100")
        connection.endheaders(b"{")
        server.process.send_signal(signal.SIGTERM)

        assert server.process.wait(15) == 0
        connection.close()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--zoekt-compat", "nowhere"], "--zoekt-compat takes HOST:PORT"),
        (["--zoekt-compat", "0.0.0.0:0"], "0.0.0.0 is no loopback address"),
        (["--zoekt-compat", "example.com:0", "--token"], "example.com is no"),
        (["--zoekt-compat", "127.0.0.1:0", "--token", "--without-token"], "contradict"),
        (["--zoekt-compat", "127.0.0.1:0", "--root", "."], "no index for"),
        (["--zoekt-compat", "127.0.0.1:0", "--root", "absent"], "absent"),
        ([], "--zoekt-compat"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(
    words: list[str], message: str, tmp_path: Path
) -> None:
    argv = [sys.executable, "-m", "triseek", "serve", *words]
    done = subprocess.run(
        argv,
        env=served.environment(tmp_path),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) <= 2
