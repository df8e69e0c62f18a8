"""The history tools on a real database, called as dispatch calls them."""

from __future__ import annotations

import dataclasses
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests import time_zones
from tests.history.rows import Rows
from triseek.app import arguments, dispatch
from triseek.app.registry import chosen
from triseek.engine.tool_host import ToolHost
from triseek.errors import TriseekError
from triseek.history.context import HistoryContext
from triseek.history.database import open_database
from triseek.model.call import Call
from triseek.search import envelopes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOOLS = {tool.name: tool for tool in chosen(["history"])}


class History:
    """A history database, its rows and its tools."""

    def __init__(self, folder: Path) -> None:
        self.database = open_database(str(folder / "state"))
        self.rows = Rows(self.database)
        self.root = folder / "shop"
        self.root.mkdir()
        self.service = SimpleNamespace(database=self.database, recall=None)
        host = ToolHost(service=None, root=str(self.root), services={"history": self.service})
        self.context = HistoryContext(host)

    def ask(self, name: str, **raw: Any) -> dict[str, Any]:
        """Return the envelope of a call, as it arrives at a client."""
        return self._called(name, raw)[0]

    def text(self, name: str, **raw: Any) -> str:
        """Return the text of a call."""
        return self._called(name, raw)[1]

    def error(self, name: str, **raw: Any) -> str:
        """Return the message of a call that fails."""
        return str(self.ask(name, **raw)["error"]["message"])

    def ids(self, name: str, **raw: Any) -> list[int]:
        """Return the ids of the observations of a call."""
        return [record["id"] for record in self.ask(name, **raw)["observations"]]

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
        return answer, dispatch.text(tool, understood, answer)


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with time_zones.utc(monkeypatch):
        yield


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    made = History(tmp_path)
    yield made
    made.database.close()
