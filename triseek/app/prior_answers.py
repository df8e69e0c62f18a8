"""Answers that the session resumed here had, reported beside the new answers to the same questions.

A context that goes on with somebody's work has seen none of their answers, so it gets each in full.
It is also told that the question was asked before, by whom, and whether the answer has changed
since. Two questions are the same if the tool and all arguments, as understood, are the same.
"""

from __future__ import annotations

import contextlib
import json
import os
from itertools import accumulate, compress
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.app import call_record
from triseek.engine.roots import project
from triseek.errors import TriseekError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.app.resume import Resuming
    from triseek.engine.tool_host import ToolHost
    from triseek.model.snapshot import SearchRun

STATUS = "hydrated"
PATHS_CHARS_MAX = 2_000
"""Of the earlier paths that are reported."""


class Prior(NamedTuple):
    """An answer that the resumed session had."""

    snapshot_id: str
    search_id: str
    paths: list[str]
    """The first paths, best first."""


class PriorAnswers:
    """The answers of the session that a root's sessions go on from. Thread-safe."""

    def __init__(self, host: ToolHost, resuming: Resuming | None) -> None:
        """Use the root of `host`.

        resuming: Knows the sessions that were resumed; None outside of the daemon.
        """
        self._host = host
        self._resuming = resuming
        self._serial = 0
        self._priors: Mapping[str, Prior] = {}
        self._lock = Lock()

    def prior(self, tool: str, arguments: Mapping[str, Any]) -> Prior | None:
        """Return the answer that the resumed session had to a question; None if it did not ask it.

        Args:
            tool: The tool that is called.
            arguments: Those that were explicitly chosen.
        """
        serial = self._host.newest_resume(self._host.root)
        with self._lock:
            if serial != self._serial:
                with contextlib.suppress(TriseekError):  # the next search tries again
                    self._priors = self._load()
                    self._serial = serial
            return self._priors.get(_question(tool, call_record.arguments(arguments)))

    def beside(self, tool: str, request: Any, envelope: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - any search's
        """Add to a search's answer what it was in the resumed session, if that asked the same."""
        if envelope.get("results_omitted"):
            return envelope
        prior = self.prior(tool, call_record.explicit_arguments(request))
        if prior is None:
            return envelope
        now = [result["path"] for result in envelope["results"][: call_record.PATHS_MAX]]
        fits = (size <= PATHS_CHARS_MAX for size in accumulate(map(len, prior.paths)))
        return {
            **envelope,
            "reuse_status": STATUS,
            "prior_search_id": prior.search_id,
            "prior_snapshot_id": prior.snapshot_id,
            "prior_result_paths": list(compress(prior.paths, fits)),
            "prior_paths_differ": set(now) != set(prior.paths),
        }

    def _load(self) -> Mapping[str, Prior]:
        """Return answers by question. A snapshot may come from elsewhere and may hold anything.

        Paths of a session are relative to the repository, those of answers to the root.
        """
        priors: dict[str, Prior] = {}
        root = self._host.root
        repository = project(root)
        if self._resuming is None:
            return priors
        resumed = self._resuming.hydrated(repository)
        for run in resumed.searches:
            tool = _tool(run)
            if tool and not _is_cut(run.arguments):
                paths = run.result_paths[: call_record.PATHS_MAX]
                shown = [os.path.relpath(os.path.join(repository, path), root) for path in paths]  # noqa: PTH118
                prior = Prior(str(resumed.snapshot_id), run.search_id, shown)
                priors[_question(tool, run.arguments)] = prior
        return priors


def _tool(run: SearchRun) -> str:
    """Return the tool that was called; "" if it was not one of ours."""
    if "content_query" in run.arguments:
        return "search_path_and_content"
    if "query" not in run.arguments:
        return ""
    return "find_files" if run.kind == "path" else "search_content"


def _is_cut(arguments: Mapping[str, Any]) -> bool:
    """Whether only a part of a question was recorded."""
    return any(
        isinstance(value, str) and len(value) >= call_record.ARGUMENT_MAX
        for value in arguments.values()
    )


def _question(tool: str, arguments: Mapping[str, Any]) -> str:
    relevant = {name: value for name, value in arguments.items() if name != "force_refresh"}
    return f"{tool} {json.dumps(relevant, sort_keys=True)}"
