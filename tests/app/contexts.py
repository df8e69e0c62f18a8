"""Contexts of tools on trees, alone or in a daemon that is no other process."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

from tests.engine import answers
from tests.result_schemas import check
from triseek.app.tool_context import ToolContext
from triseek.config import Settings
from triseek.daemon.open_roots import OpenRoots
from triseek.daemon.verbs import ROOT_VERBS, bound
from triseek.engine.engine import Engine
from triseek.engine.roots import index_dir
from triseek.engine.service import Service
from triseek.engine.tool_host import ToolHost
from triseek.index.build import build
from triseek.model.call import Call
from triseek.search import handlers, searching
from triseek.search.requests import (
    FindFilesRequest,
    SearchContentRequest,
    SearchPathAndContentRequest,
)
from triseek.sessions.recording import Action

if TYPE_CHECKING:
    from collections.abc import Mapping

WITHIN_S = 60.0


class Daemon:
    """The daemon's own objects, without its socket; contexts outlive them."""

    def __init__(self) -> None:
        self.jobs: OpenRoots | None = None
        self._alone = Service()

    def start(self) -> None:
        self.jobs = OpenRoots(Settings(daemon_auto_index=False))
        self.jobs.start()

    def stop(self) -> None:
        if self.jobs is not None:
            jobs, self.jobs = self.jobs, None
            jobs.close()

    def ask(self, verb: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Ask as a client does: JSON in, JSON out."""
        assert self.jobs is not None
        heard = json.loads(json.dumps(dict(params)))
        return json.loads(json.dumps(bound(self.jobs, ROOT_VERBS)[verb](heard, None)))

    def watch(self, root: str) -> None:
        """Keep a root, and wait until its events are followed."""
        until(lambda: self.jobs.is_warm)
        self.ask("preload_root", {"target_root": root, "exact": True})
        until(lambda: self.ask("sync", {"target_root": root})["watched"])

    def engine(self, root: str, *, exact: bool = True) -> Engine:
        service = self._alone if self.jobs is None else self.jobs.service
        return service.engine(root, exact=exact)

    def context(self, root: str) -> ToolContext:
        """What tools work on in it."""
        host = ToolHost(
            service=self,  # type: ignore[arg-type]
            root=root,
            trouble=lambda engine: self.jobs.trouble(engine.root) if self.jobs else None,
        )
        return ToolContext(host, Actions())


class Actions(list[Action]):
    """A sink that keeps what it is given."""

    def __call__(self, _root: str, action: Action) -> None:
        self.append(action)


def until(wanted: Any, within_s: float = WITHIN_S) -> Any:
    deadline = time.monotonic() + within_s
    while not (found := wanted()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def indexed(repo: Any, files: Mapping[str | bytes, bytes | str]) -> str:
    """A tree with an index; its canonical root."""
    root = os.path.realpath(repo(files))
    time.sleep(answers.TICK_S)
    build(root, index_dir(root))
    return root


def context_on(root: str, **around: Any) -> ToolContext:
    return ToolContext(ToolHost(service=Service(), root=root, **around), Actions())


class Bare:
    """A service without indexes: whatever it answers was read from the tree."""

    def engine(self, path: str, *, exact: bool = False) -> Engine:
        return Engine(path)


def bare_context(root: str) -> ToolContext:
    return ToolContext(ToolHost(service=Bare(), root=root), Actions())  # type: ignore[arg-type]


def context_by(backend: str, repo: Any, files: Mapping[str | bytes, bytes | str]) -> ToolContext:
    """A context on a tree of these files that answers by its `index`, or by the `tree` alone."""
    if backend == "tree":
        return bare_context(os.path.realpath(repo(files)))
    return context_on(indexed(repo, files))


def search(
    context: ToolContext, /, query: str, who: str | None = None, **more: Any
) -> dict[str, Any]:
    request = SearchContentRequest(query=query, **more)
    answer = searching.search_content(context.contexts["search"], request, Call(conversation=who))
    return check("search_content", json.loads(json.dumps(answer)))


def search_in(
    context: ToolContext, /, glob: str, query: str, who: str | None = None, **more: Any
) -> Any:
    request = SearchPathAndContentRequest(path_query=glob, content_query=query, **more)
    answer = searching.search_path_and_content(
        context.contexts["search"], request, Call(conversation=who)
    )
    return check("search_path_and_content", json.loads(json.dumps(answer)))


def find(
    context: ToolContext, /, query: str, who: str | None = None, **more: Any
) -> dict[str, Any]:
    answer = handlers.find_files(
        context.contexts["search"], FindFilesRequest(query=query, **more), Call(conversation=who)
    )
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
