"""A model on loopback that answers as scripts say, by the API that is asked of it."""

from __future__ import annotations

import contextlib
import http.server
import itertools
import json
import threading
from typing import TYPE_CHECKING, Any

from tests.agents import anthropic, google, openai
from tests.agents.script import Scripts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class Model(Scripts):
    """Scripts, and the address at which agents reach them."""

    url: str = ""


def by_google(model: Model, path: str, body: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    """What is answered by an API whose methods stand behind a colon."""
    if path.endswith(":countTokens"):
        return {"totalTokens": 100}
    return google.whole(model.answer(google.request(path, body), number), number)


def event(name: str, data: Mapping[str, Any]) -> str:
    """An event of a stream; not every API names them."""
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"


@contextlib.contextmanager
def serving() -> Iterator[Model]:  # noqa: C901 - one handler for every API
    """A model that listens until the block ends."""
    model = Model()
    numbers = itertools.count(1)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length) or b"{}")
            path = self.path.partition("?")[0]
            if path.endswith("/count_tokens"):
                return self._json({"input_tokens": 100})
            number = next(numbers)
            if ":" in path:
                said = by_google(model, path, body, number)
                return self._events([("", said)]) if "stream" in path else self._json(said)
            if path.endswith("/messages"):
                turn = model.answer(anthropic.request(path, body), number)
                if not body.get("stream"):
                    return self._json(anthropic.whole(turn, number))
                return self._events(anthropic.stream(turn, number))
            if path.endswith("/responses"):
                turn = model.answer(openai.request(path, body), number)
                return self._events(openai.stream(turn, number))
            return self._json({}, 404)

        def do_GET(self) -> None:
            self._json({"data": [], "models": []}, 200 if "/models" in self.path else 404)

        def do_HEAD(self) -> None:
            self._json({})

        def _json(self, body: Mapping[str, Any], status: int = 200) -> None:
            self._send(json.dumps(body).encode(), "application/json", status)

        def _events(self, events: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
            told = "".join(event(name, data) for name, data in events)
            self._send(told.encode(), "text/event-stream")

        def _send(self, body: bytes, kind: str, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with contextlib.suppress(OSError):
                if self.command != "HEAD":
                    self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Silent."""

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """An agent that hangs up is no fault."""

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        model.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield model
        finally:
            server.shutdown()
