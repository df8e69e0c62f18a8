"""The memory tools on a real database, called as dispatch calls them."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests import time_zones
from tests.result_schemas import check
from triseek.app import arguments, dispatch
from triseek.app.registry import chosen
from triseek.engine.tool_host import ToolHost
from triseek.errors import TriseekError
from triseek.memory.context import MemoryContext
from triseek.memory.service import Memory
from triseek.model.call import Call
from triseek.search import envelopes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOOLS = {tool.name: tool for tool in chosen(["memory"])}


class Tools:
    """The tools of an agent that works in a repository."""

    def __init__(self, memory: Memory, root: Path) -> None:
        self.memory = memory
        self.root = root
        host = ToolHost(service=None, root=str(root), services={"memory": memory})  # type: ignore[arg-type]
        self.context = MemoryContext(host)

    def ask(self, name: str, /, **raw: Any) -> dict[str, Any]:
        """Return the envelope of a call, as it arrives at a client."""
        return self._called(name, raw)[0]

    def text(self, name: str, /, **raw: Any) -> str:
        """Return the text of a call."""
        return self._called(name, raw)[1]

    def error(self, name: str, /, **raw: Any) -> str:
        """Return the message of a call that fails."""
        return str(self.ask(name, **raw)["error"]["message"])

    def remember(self, text: str, **raw: Any) -> str:
        """Return the id of a new drawer."""
        return str(self.ask("memory_remember", text=text, **raw)["drawer_id"])

    def recalled(self, query: str, **raw: Any) -> list[str]:
        """Return the texts that are recalled."""
        results = self.ask("memory_recall", query=query, **raw)["results"]
        return [result["content"] for result in results]

    def _called(self, name: str, raw: dict[str, Any]) -> tuple[dict[str, Any], str]:
        tool = TOOLS[name]
        understood = dict(raw)
        try:
            request = arguments.read(tool, raw)
            understood = dataclasses.asdict(request)
            answer = tool.answer(self.context, request, Call())
        except TriseekError as error:
            answer = envelopes.failure(error)
        answer, understood = json.loads(json.dumps([answer, understood]))
        return check(name, answer), dispatch.text(tool, understood, answer)


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with time_zones.utc(monkeypatch):
        yield


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    memory = Memory(str(tmp_path / "memory"))
    yield memory
    memory.close()


@pytest.fixture
def tools(memory: Memory, tmp_path: Path) -> Tools:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    return Tools(memory, tmp_path / "shop")
