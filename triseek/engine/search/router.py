"""Choose the backend for a request, with a reason, from a given repository state. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from triseek.errors import (
    BackendFailure,
    FormatTooNew,
    IndexCorrupt,
    IndexUnavailable,
    TriseekError,
)
from triseek.model.search import Route

if TYPE_CHECKING:
    from triseek.engine.search.query import Query
    from triseek.model.search import BackendName, EngineChoice

Reason: TypeAlias = Literal[
    "explicit_engine_override",
    "filter_scan",
    "reads_everything",
    "no_index",
    "index_syncing",
    "index_corrupt",
    "index_too_new",
    "state_unreadable",
    "kernels_cold",
    "kernels_unkept",
    "small_repo",
    "short_pattern",
    "weak_regex",
    "low_selectivity",
    "indexed_default",
]

Problem: TypeAlias = Literal[
    "", "no_index", "index_syncing", "index_corrupt", "index_too_new", "state_unreadable"
]
"""Why no index can be used; empty when nothing is wrong."""

PROBLEMS: dict[type[TriseekError], Problem] = {
    IndexCorrupt: "index_corrupt",
    FormatTooNew: "index_too_new",
    IndexUnavailable: "state_unreadable",
}
INDEX_UNUSABLE: tuple[type[TriseekError], ...] = tuple(PROBLEMS)
"""Errors of an index that cannot be used."""
BACKEND_FAILED: tuple[type[TriseekError], ...] = (BackendFailure, *INDEX_UNUSABLE)
"""Errors after which another backend is tried."""

REASONS: dict[Reason, str] = {
    "explicit_engine_override": "The caller named the backend (`--engine`); no other is tried.",
    "filter_scan": "Only single files were named, or the scope asks for files an index does not "
    "hold (hidden, ignored, binary, linked).",
    "reads_everything": "What does not match was asked for (`-v`, `--passthru`, "
    "`--files-without-match`), so every file must be read.",
    "no_index": "This root has no index yet; ripgrep answers, or a scan where there is no rg.",
    "index_syncing": "The index is being built; the answer does not wait for it.",
    "index_corrupt": "A byte of the index is not what was written; `triseek reindex` mends it.",
    "index_too_new": "A later triseek wrote the index; this one does not read it.",
    "state_unreadable": "The state folder cannot be read, so it is not known if there is an index.",
    "kernels_cold": "The kernels are not compiled yet; `triseek warmup` compiles them.",
    "kernels_unkept": "The kernels are not compiled, and their folder cannot be written or belongs "
    "to another user; set TRISEEK_HOME to a folder of your own.",
    "small_repo": "A process that lives for one search would load the kernels first; ripgrep reads "
    "a tree of this size sooner.",
    "short_pattern": "A literal of under three bytes has no trigrams, so everything must be read.",
    "weak_regex": "No trigram is common to all matches of this regex, so everything must be read.",
    "low_selectivity": "The index leaves most of the tree to be read, and the kernels cannot tell "
    "which lines match.",
    "indexed_default": "The index says where to look.",
}
"""One sentence for each reason of a route; the documentation is generated from this table."""

SMALL_BYTES = 2 << 30
"""Bytes of text that ripgrep reads in the second that loading numba and the kernels takes."""
MOST = 0.5
"""Share of an index's blocks above which reading every file in one go is better."""

_CHOICES: dict[EngineChoice, BackendName] = {
    "index": "indexed",
    "scan": "direct_scan",
    "rg": "ripgrep",
    "zoekt": "zoekt",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RepoState:
    """State of a repository before a search."""

    problem: Problem = "no_index"
    kernels_ready: bool = False
    """Whether the index can be searched without waiting for a compiler."""
    kernels_keepable: bool = True
    """Whether the kernels are ready, or could be stored if they were compiled now."""
    rg_available: bool = False
    bytes: int | None = None
    """Bytes of text that the index covers; None if unknown."""
    index_covers: bool = True
    """Whether the index holds all files in the request's scope."""
    only_files_named: bool = False
    """Whether the request's paths name single files and nothing else."""
    one_shot: bool = False
    """Whether the kernels are not loaded and waiting for them does not pay: the process ends with
    this search, or is loading them in the background."""
    kernels_decide: bool = True
    """Whether kernels decide which lines match, without checking each line in Python."""
    candidate_share: float | None = None
    """Share of the index's blocks that the formula leaves as candidates; None if not evaluated."""


def choose(query: Query, state: RepoState) -> Route:
    """Return the route of a request. The first reason that applies decides."""
    engine = query.request.engine
    if engine != "auto":
        return Route(backend=_CHOICES[engine], reason="explicit_engine_override")
    if state.only_files_named:
        return Route(backend="direct_scan", reason="filter_scan")
    unindexed: BackendName = "ripgrep" if state.rg_available else "direct_scan"
    reason = _why_not_indexed(query, state)
    if reason is not None:
        return Route(backend=unindexed, reason=reason)
    return _among_all(query, state)


def _why_not_indexed(query: Query, state: RepoState) -> Reason | None:
    if state.problem:
        return state.problem
    if not state.kernels_ready:
        return "kernels_cold" if state.kernels_keepable else "kernels_unkept"
    if not state.index_covers:
        return "filter_scan"
    return "reads_everything" if query.lists_misses else None


def _among_all(query: Query, state: RepoState) -> Route:
    """Choose when index and kernels are ready: the index, unless ripgrep reads everything sooner.

    Context lines are extracted in Python; ripgrep does that faster if there are many matches.
    """
    if state.one_shot and state.rg_available and (state.bytes or 0) <= SMALL_BYTES:
        return Route(backend="ripgrep", reason="small_repo")
    reads_all: dict[str, Reason] = {"short_literal": "short_pattern", "regex_weak": "weak_regex"}
    quick = state.kernels_decide and not (query.request.before or query.request.after)
    if (shape := query.plan.shape) in reads_all:
        backend: BackendName = "indexed" if quick or not state.rg_available else "ripgrep"
        return Route(backend=backend, reason=reads_all[shape])
    share = state.candidate_share
    if not quick and share is not None and share > MOST and state.rg_available:
        return Route(backend="ripgrep", reason="low_selectivity")
    return Route(backend="indexed", reason="indexed_default")
