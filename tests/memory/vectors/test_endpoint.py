from __future__ import annotations

import http.server
import json
import threading
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from triseek.config import Settings
from triseek.errors import BackendFailure, InvalidRequest
from triseek.memory.vectors import endpoint
from triseek.memory.vectors.choice import choose
from triseek.memory.vectors.embedder import identity
from triseek.memory.vectors.endpoint import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "sk-very-secret"


class Server(http.server.ThreadingHTTPServer):
    """An endpoint on this machine, with the body or function that it answers with."""

    daemon_threads = True
    answer: object = None
    status = 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[dict[str, object]] = []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, *_arguments: object) -> None:
        """Say nothing of a client that has gone."""


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append({**body, "path": self.path, "head": dict(self.headers)})
        answer = self.server.answer
        if callable(answer):
            answer = answer(self, body)
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(self.server.status)
        self.send_header("Location", "http://127.0.0.1:1/")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def lengths(_handler: Handler, body: dict[str, list[str]]) -> object:
    """A vector for each text, in another order than the texts are in."""
    rows = [{"index": at, "embedding": [len(text), 4, 0]} for at, text in enumerate(body["input"])]
    return {"data": rows[::-1]}


def test_vectors_are_in_the_order_of_the_texts(server: Server) -> None:
    server.answer = lengths
    asked = Endpoint(f"{server.url}/", "some-model:1b", KEY)
    vectors = asked.embed(["abc", "", *["x" * 3] * 40])
    assert vectors == pytest.approx(np.array([[0.6, 0.8, 0], [0, 1, 0], *[[0.6, 0.8, 0]] * 40]))
    assert vectors.dtype == np.float32
    assert identity(asked) == "endpoint:some-model:1b/1/3"
    assert [len(request["input"]) for request in server.requests] == [32, 10]  # type: ignore[arg-type]
    assert server.requests[0]["path"] == "/v1/embeddings"
    assert server.requests[0]["model"] == "some-model:1b"
    assert server.requests[0]["head"]["Authorization"] == f"Bearer {KEY}"  # type: ignore[index]
    assert asked.embed([]).shape == (0, 3)


def test_the_dimension_is_asked_for(server: Server) -> None:
    server.answer = lengths
    assert Endpoint(f"{server.url}/embeddings", "m").dimension == 3


@pytest.mark.parametrize(
    "answer",
    [
        b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, {"data": 1}, {"data": [1]},
        {"data": []},
        {"data": [{"index": 0}]}, {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": "text"}]}, {"data": [{"index": {}, "embedding": [1]}]},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [1e300]}]},
        {"data": [{"index": 0, "embedding": [10**400]}]},
        b'{"data": [{"index": 0, "embedding": [NaN]}]}',
        {"data": [{"index": 0, "embedding": [[1]]}]},
        {"data": [{"index": 0, "embedding": [0.5] * 9_000}]},
    ],
)  # fmt: skip
def test_what_is_no_answer_is_one_line(server: Server, answer: object) -> None:
    server.answer = answer
    with pytest.raises(BackendFailure) as caught:
        Endpoint(server.url, "m", KEY).embed(["text"])
    assert "\n" not in caught.value.message
    assert KEY not in caught.value.message


def test_vectors_of_another_size_are_refused(server: Server) -> None:
    server.answer = lengths
    asked = Endpoint(server.url, "m")
    asked.embed(["text"])
    server.answer = {"data": [{"index": 0, "embedding": [1, 2]}]}
    with pytest.raises(BackendFailure):
        asked.embed(["text"])


@pytest.mark.parametrize("status", [302, 401, 500])
def test_a_refusal_names_its_status_and_no_redirect_is_followed(
    server: Server, status: int
) -> None:
    server.answer, server.status = {"error": KEY}, status
    with pytest.raises(BackendFailure, match=f"answers {status}") as caught:
        Endpoint(server.url, "m", KEY).embed(["text"])
    assert KEY not in caught.value.message


def test_who_drips_is_not_waited_for(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "QUERY_S", 0.3)
    done = threading.Event()

    def drip(handler: Handler, _body: object) -> bytes:
        while not done.wait(0.05):
            handler.wfile.write(b"H")  # never the end of a line
        return b""

    server.answer = drip
    asked, begin = Endpoint(server.url, "m"), time.monotonic()
    with pytest.raises(BackendFailure):
        asked.embed(["text"])
    assert time.monotonic() - begin < 5
    with pytest.raises(BackendFailure, match="a moment ago"):
        asked.embed(["text"])
    assert len(server.requests) == 1
    done.set()


def test_a_long_answer_is_cut_off(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "_ANSWER_MAX", 1_000)
    server.answer = b" " * 10_000_000
    with pytest.raises(BackendFailure, match="too long"):
        Endpoint(server.url, "m").embed(["text"])


@pytest.mark.parametrize("host", ["192.0.2.1", "10.1.2.3", "[2001:db8::1]", "0.0.0.0"])
def test_another_machine_is_asked_only_if_the_user_says_so(host: str) -> None:
    with pytest.raises(BackendFailure, match="not this machine") as caught:
        Endpoint(f"http://{host}/v1", "m").embed(["text"])
    assert "memory.endpoint_remote" in caught.value.next_step


def test_nothing_goes_unencrypted_beyond_private_networks() -> None:
    with pytest.raises(BackendFailure, match="not https"):
        Endpoint("http://8.8.8.8/v1", "m", remote=True).embed(["text"])


def test_settings_that_are_not_complete_name_what_is_missing(server: Server) -> None:
    with pytest.raises(InvalidRequest, match=r"memory\.endpoint_url"):
        choose(Settings(memory_embedder="endpoint"))
    with pytest.raises(InvalidRequest, match=r"memory\.endpoint_model"):
        choose(Settings(memory_embedder="endpoint", memory_endpoint_url=server.url))
    server.answer = lengths
    chosen = choose(
        Settings(
            memory_embedder="endpoint", memory_endpoint_url=server.url, memory_endpoint_model="m"
        )
    )
    assert chosen is not None
    assert chosen.embed(["abc"]).shape == (1, 3)
    assert choose(Settings()) is None


def test_no_message_holds_a_password_of_the_address() -> None:
    with pytest.raises(BackendFailure) as refused:
        Endpoint("http://me:hush@127.0.0.1:1/v1", "small").embed(["text"])
    assert "hush" not in refused.value.message
    assert "http://127.0.0.1:1/v1" in refused.value.message
