"""The page of a tree, as somebody with its link has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.testclient import TestClient

from triseek.app.dispatch import Local
from triseek.app.tool_context import ToolContext
from triseek.engine.service import Service
from triseek.engine.tool_host import ToolHost
from triseek.loopback.address import Address
from triseek.memory.service import Memory
from triseek.ui.app import application
from triseek.ui.auth import Keys
from triseek.ui.memory.feed import Feed
from triseek.ui.memory.routes import routes

if TYPE_CHECKING:
    from httpx2 import Response

PORT = 8123
OWN = f"http://127.0.0.1:{PORT}"


class Opened:
    """An application and a client that knows its token."""

    def __init__(self, root: str) -> None:
        self.root = root
        dispatch = Local(ToolContext(ToolHost(service=Service(), root=root)))
        self.keys = Keys()
        memory = Memory()
        self.app = application(
            dispatch, Address("127.0.0.1", PORT), self.keys, routes(memory, Feed(memory))
        )
        self.client = TestClient(self.app, base_url=OWN)

    @property
    def known(self) -> dict[str, str]:
        """The header that opens the door."""
        return {"Authorization": f"Bearer {self.keys.token}"}

    def ask(self, question: str, **given: Any) -> Response:
        return self.client.get(f"/api/{question}", params=given, headers=self.known)

    def told(self, question: str, **given: Any) -> Any:
        """What a question that has to succeed is answered with."""
        answer = self.ask(question, **given)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refused(self, question: str, **given: Any) -> dict[str, Any]:
        """The error of a question that has to fail as bad input does."""
        answer = self.ask(question, **given)
        assert answer.status_code == 400, answer.text
        error: dict[str, Any] = answer.json()["error"]
        return error
