"""A memory's server in a thread of this process, and sockets that speak to it."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.ui.memory.companion import Companion

WITHIN_S = 20.0


class Server:
    """A running server, as its users see it."""

    def __init__(self, companion: Companion, said: str) -> None:
        self.companion = companion
        self.said = said
        self.host, self.port = companion.address
        expression = re.search(r"Bearer (.*)`", said)
        assert expression is not None
        shell = ["sh", "-c", f'printf %s "{expression[1]}"']
        self.token = subprocess.run(shell, capture_output=True, text=True, check=True).stdout

    @contextlib.contextmanager
    def request(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> Iterator[http.client.HTTPResponse]:
        """The answer to a request; its body may be a stream."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=WITHIN_S)
        known = {"Authorization": f"Bearer {self.token}"}
        shown = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, body, {**known, **shown})
            with connection.getresponse() as answer:
                yield answer
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        with self.request("GET", path) as answer:
            assert answer.status == 200
            return json.load(answer)

    @contextlib.contextmanager
    def feed(self, **headers: str) -> Iterator[Feed]:
        with self.request("GET", "/sse", **headers) as answer:
            assert answer.status == 200
            yield Feed(answer)


class Feed:
    """The frames of a stream."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self.answer = answer
        self.last_id = ""
        """Of the last frame that had an id."""
        self.status: dict[str, Any] = {}
        """The last event of this kind."""

    def frame(self) -> Any:
        """The next event; a comment is a text."""
        lines: list[str] = []
        while line := self.answer.readline().decode():
            if line == "\n":
                break
            lines.append(line[:-1])
        assert lines, "the stream has ended"
        if lines[0].startswith(":"):
            return lines[0]
        fields = dict(line.split(": ", 1) for line in lines)
        assert set(fields) <= {"id", "data"}
        self.last_id = fields.get("id", self.last_id)
        event = json.loads(fields["data"])
        if event["type"] == "status_changed":
            self.status = event
        return event

    def until(self, kind: str) -> Any:
        """The next event of a kind."""
        while (frame := self.frame())["type"] != kind:
            pass
        return frame
