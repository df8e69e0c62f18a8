"""A memory, and a client of its server that knows the token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from triseek.loopback.address import Address
from triseek.memory.service import Memory
from triseek.ui.memory.companion import application

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from httpx2 import Response

PORT = 8124
OWN = f"http://127.0.0.1:{PORT}"
TOKEN = "a-token-that-nobody-guesses"


class Client:
    """Asks the memory's server, with its token."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        app, self.feed = application(memory, Address("127.0.0.1", PORT), TOKEN)
        self.raw = TestClient(app, base_url=OWN)

    def ask(self, method: str, path: str, **more: Any) -> Response:
        headers = {"Authorization": f"Bearer {TOKEN}", **more.pop("headers", {})}
        return self.raw.request(method, path, headers=headers, **more)

    def get(self, path: str, status: int = 200, **params: Any) -> Any:
        """The JSON of a GET below /api/v1 that has to have a status."""
        return self._json(self.ask("GET", f"/api/v1{path}", params=params), status)

    def send(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """The JSON of a request with a body that has to have a status."""
        return self._json(self.ask(method, f"/api/v1{path}", json=body), status)

    @staticmethod
    def _json(answer: Response, status: int) -> Any:
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/json"
        document = answer.json()
        if status >= 400:
            assert list(document) == ["error"]
            assert "\n" not in document["error"]
        return document


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    memory = Memory(str(tmp_path / "memory"))
    yield memory
    memory.close()


@pytest.fixture
def client(memory: Memory) -> Client:
    return Client(memory)
