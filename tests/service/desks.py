"""A desk with a daemon behind it that is no other process: its verbs, JSON in and JSON out."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

from tests.engine import roads
from tests.result_schemas import check
from triseek.config import Settings
from triseek.daemon.calls import calls
from triseek.daemon.upkeep import Upkeep
from triseek.engine.engine import Engine
from triseek.errors import DaemonUnreachable
from triseek.index.build import build
from triseek.model.tools import (
    FindFilesRequest,
    SearchContentRequest,
    SearchPathAndContentRequest,
)
from triseek.service import finding, searching
from triseek.service.desk import Call, Desk
from triseek.service.lending import Lending
from triseek.service.roots import index_dir
from triseek.service.service import Service

if TYPE_CHECKING:
    from collections.abc import Mapping

WITHIN_S = 60.0


class Daemon:
    """Stands in for `ipc.client.ask`."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.upkeep: Upkeep | None = None

    def start(self) -> None:
        self.upkeep = Upkeep(Settings(auto_index=False))
        self.upkeep.start()

    def stop(self) -> None:
        if self.upkeep is not None:
            upkeep, self.upkeep = self.upkeep, None
            upkeep.close()

    def ask(
        self, verb: str, params: Mapping[str, Any] | None = None, timeout_s: float = 5.0
    ) -> dict[str, Any]:
        self.asked.append(verb)
        if self.upkeep is None:
            raise DaemonUnreachable("none runs")
        heard = json.loads(json.dumps(dict(params or {})))
        return json.loads(json.dumps(calls(self.upkeep)[verb](heard)))

    def watch(self, root: str) -> None:
        """Keep a root, and wait until its events are followed."""
        until(lambda: self.upkeep.is_warm)
        self.ask("preload_root", {"target_root": root, "exact": True})
        until(lambda: self.ask("sync", {"target_root": root})["watched"])

    def engine(self, root: str) -> Engine:
        return self.upkeep.service.engine(root, exact=True)


def until(wanted: Any, within_s: float = WITHIN_S) -> Any:
    deadline = time.monotonic() + within_s
    while not (found := wanted()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def indexed(repo: Any, files: Mapping[str | bytes, bytes | str]) -> str:
    """A tree with an index; its canonical root."""
    root = os.path.realpath(repo(files))
    time.sleep(roads.TICK_S)
    build(root, index_dir(root))
    return root


def desk_on(root: str) -> Desk:
    return Desk(Service(lender=Lending), root)


class Bare:
    """A service without indexes: whatever it answers was read from the tree."""

    def engine(self, path: str, *, exact: bool = False) -> Engine:
        return Engine(path)


def bare_desk(root: str) -> Desk:
    desk = Desk(Bare(), root)  # type: ignore[arg-type]
    desk.lending.ask = lambda verb, params: None  # type: ignore[method-assign]
    return desk


def desk_by(road: str, repo: Any, files: Mapping[str | bytes, bytes | str]) -> Desk:
    """A desk on a tree of these files that answers by its `index`, or by the `tree` alone."""
    if road == "tree":
        return bare_desk(os.path.realpath(repo(files)))
    desk = desk_on(indexed(repo, files))
    desk.lending.ask = lambda verb, params: None  # type: ignore[method-assign]
    return desk


def search(desk: Desk, query: str, who: str | None = None, **more: Any) -> dict[str, Any]:
    request = SearchContentRequest(query=query, **more)
    answer = searching.search_content(desk, request, Call(conversation=who))
    return check("search_content", json.loads(json.dumps(answer)))


def search_in(desk: Desk, glob: str, query: str, who: str | None = None, **more: Any) -> Any:
    request = SearchPathAndContentRequest(path_query=glob, content_query=query, **more)
    answer = searching.search_path_and_content(desk, request, Call(conversation=who))
    return check("search_path_and_content", json.loads(json.dumps(answer)))


def find(desk: Desk, query: str, who: str | None = None, **more: Any) -> dict[str, Any]:
    answer = finding.find(desk, FindFilesRequest(query=query, **more), Call(conversation=who))
    return check("find_files", json.loads(json.dumps(answer)))


def lines(answer: Mapping[str, Any]) -> list[tuple[str, int]]:
    """(path, line) of every matching line that an answer shows."""
    return [
        (result["path"], match["line"])
        for result in answer["results"]
        for match in result["matches"]
        if "context" not in match
    ]


def paths(answer: Mapping[str, Any]) -> list[str]:
    return [result["path"] for result in answer["results"]]


def is_hit(answer: Mapping[str, Any]) -> bool:
    return answer.get("reuse_status") == "fresh_duplicate"
