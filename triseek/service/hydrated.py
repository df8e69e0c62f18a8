"""What the session that was resumed here had searched for: told beside the answers to the same.

A context that goes on with somebody's work has seen none of their answers, so it is given each in
full; and it is told that the question was asked before, by whom, and whether the answer has changed
since. A question is the same if the tool and all its arguments are, as they were understood.
"""

from __future__ import annotations

import json
import os
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.errors import TriseekError
from triseek.ipc import client
from triseek.service import telling
from triseek.service.roots import project

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.service.desk import Desk

STATUS = "hydrated"
PATIENCE_S = 2.0
PATHS_CHARS_MAX = 2_000
"""Of the paths that are told again."""


class Prior(NamedTuple):
    """An answer that the session before had."""

    snapshot_id: str
    search_id: str
    paths: list[str]
    """The first of them, best first."""


class Hydrated:
    """What a root's sessions go on from; safe to use from several threads."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._serial = 0
        self._priors: Mapping[str, Prior] = {}
        self._lock = Lock()

    def prior(self, serial: int, tool: str, given: Mapping[str, Any]) -> Prior | None:
        """The answer that the resumed session had to a question; None if it did not ask it.

        Args:
            serial: The number of the root's newest resume, as the daemon says; 0 for none.
            tool: Who is asked.
            given: The arguments that somebody chose.
        """
        with self._lock:
            if serial != self._serial:
                found = self._ask()
                if found is not None:
                    self._serial, self._priors = serial, found
            return self._priors.get(_question(tool, telling.arguments(given)))

    def _ask(self) -> Mapping[str, Prior] | None:
        try:
            told = client.ask("session_hydrated", {"target_root": self._root}, timeout_s=PATIENCE_S)
        except TriseekError:
            return None  # the next search asks again
        return _priors(told, self._root)


def beside(desk: Desk, tool: str, request: Any, envelope: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - any search's
    """An answer to a search, and what it was in the session that was resumed, if it was asked."""
    if envelope.get("results_omitted"):
        return envelope
    prior = desk.hydrated.prior(desk.lending.hydration, tool, telling.chosen(request))
    if prior is None:
        return envelope
    now = [result["path"] for result in envelope["results"][: telling.PATHS_MAX]]
    return {
        **envelope,
        "reuse_status": STATUS,
        "prior_search_id": prior.search_id,
        "prior_snapshot_id": prior.snapshot_id,
        "prior_result_paths": _few(prior.paths),
        "prior_paths_differ": set(now) != set(prior.paths),
    }


def _priors(told: Mapping[str, Any], root: str) -> Mapping[str, Prior]:
    """Answers by their questions. A snapshot may come from elsewhere: it may hold anything.

    root: Where answers count their paths from; a session counts them from its repository.
    """
    snapshot_id, repository = str(told["snapshot_id"]), project(root)
    found = {}
    for run in told["searches"]:
        arguments, paths = run.get("arguments"), run.get("result_paths")
        tool = _tool(run.get("kind"), arguments)
        if tool and not _is_cut(arguments) and isinstance(paths, list):
            texts = [path for path in paths if isinstance(path, str)][: telling.PATHS_MAX]
            shown = [os.path.relpath(os.path.join(repository, path), root) for path in texts]  # noqa: PTH118
            found[_question(tool, arguments)] = Prior(
                snapshot_id, str(run.get("search_id", "")), shown
            )
    return found


def _tool(kind: object, arguments: object) -> str:
    """Which tool was asked; "" if it was none of ours."""
    if not isinstance(arguments, dict):
        return ""
    if "content_query" in arguments:
        return "search_path_and_content"
    if "query" not in arguments:
        return ""
    return "find_files" if kind == "path" else "search_content"


def _is_cut(arguments: Mapping[str, Any]) -> bool:
    """Whether not all of a question was noted."""
    return any(
        isinstance(value, str) and len(value) >= telling.ARGUMENT_MAX
        for value in arguments.values()
    )


def _question(tool: str, arguments: Mapping[str, Any]) -> str:
    asked = {name: value for name, value in arguments.items() if name != "force_refresh"}
    return f"{tool} {json.dumps(asked, sort_keys=True)}"


def _few(paths: list[str]) -> list[str]:
    """The first paths, as many as are no burden."""
    room, few = PATHS_CHARS_MAX, []
    for path in paths:
        room -= len(path)
        if room < 0:
            break
        few.append(path)
    return few
