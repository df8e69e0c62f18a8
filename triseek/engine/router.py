"""Which road answers a request, and why. Pure: what is known of the repository is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from triseek.model.search import Route

if TYPE_CHECKING:
    from triseek.model.search import BackendName, EngineChoice, SearchRequest
    from triseek.query.plan import Plan

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
    "", "index_syncing", "index_corrupt", "index_too_new", "state_unreadable"
]
"""Why an index that should be there cannot be used; empty when nothing is wrong."""

REASONS: dict[Reason, str] = {
    "explicit_engine_override": "The caller named the road (`--engine`); no other is tried.",
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
"""Every reason a route can have, in one sentence; the documentation is made from this table."""

SMALL_BYTES = 2 << 30
"""Up to so much text ripgrep reads in the second that loading numba and the kernels takes."""
MOST = 0.5
"""Share of an index's blocks above which reading everything in one go is better."""

_CHOICES: dict[EngineChoice, BackendName] = {
    "index": "indexed",
    "scan": "direct_scan",
    "rg": "ripgrep",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RepoState:
    """What is known of a repository before a search."""

    has_index: bool = False
    """Whether there is an index that can be opened."""
    problem: Problem = ""
    kernels_ready: bool = False
    """Whether the index can be searched without waiting for a compiler."""
    kernels_keepable: bool = True
    """Whether kernels that are not ready could be, were they compiled now."""
    rg_available: bool = False
    bytes: int | None = None
    """Text the index covers; None when unknown."""
    index_covers: bool = True
    """Whether the index holds the files the request's scope asks for."""
    only_files_named: bool = False
    """Whether the request's paths name single files and nothing else."""
    one_shot: bool = False
    """Whether the kernels are not loaded, and loading them is not worth the wait: the process ends
    with this search, or is loading them behind it."""
    kernels_decide: bool = True
    """Whether kernels can tell which lines match, without Python's help line by line."""
    candidate_share: float | None = None
    """Share of the index's blocks the formula leaves; None when it was not asked."""


def choose(request: SearchRequest, plan: Plan, state: RepoState) -> Route:
    """Return the road for a request. The first reason that applies decides."""
    if request.engine != "auto":
        return Route(backend=_CHOICES[request.engine], reason="explicit_engine_override")
    if state.only_files_named:
        return Route(backend="direct_scan", reason="filter_scan")
    unindexed: BackendName = "ripgrep" if state.rg_available else "direct_scan"
    reason = _why_not_indexed(request, state)
    if reason is not None:
        return Route(backend=unindexed, reason=reason)
    return _among_all(request, plan, state)


def _why_not_indexed(request: SearchRequest, state: RepoState) -> Reason | None:
    if state.problem:
        return state.problem
    if not state.has_index:
        return "no_index"
    if not state.kernels_ready:
        return "kernels_cold" if state.kernels_keepable else "kernels_unkept"
    if not state.index_covers:
        return "filter_scan"
    lists_misses = request.invert or request.passthru or request.mode == "files_without_match"
    return "reads_everything" if lists_misses else None


def _among_all(request: SearchRequest, plan: Plan, state: RepoState) -> Route:
    """Choose where index and kernels are ready: the index, unless ripgrep reads everything sooner.

    Lines around a match are cut out in Python: where matches are everywhere, rg does that better.
    """
    if state.one_shot and state.rg_available and (state.bytes or 0) <= SMALL_BYTES:
        return Route(backend="ripgrep", reason="small_repo")
    reads_all: dict[str, Reason] = {"short_literal": "short_pattern", "regex_weak": "weak_regex"}
    quick = state.kernels_decide and not (request.before or request.after)
    if plan.shape in reads_all:
        backend: BackendName = "indexed" if quick or not state.rg_available else "ripgrep"
        return Route(backend=backend, reason=reads_all[plan.shape])
    share = state.candidate_share
    if not quick and share is not None and share > MOST and state.rg_available:
        return Route(backend="ripgrep", reason="low_selectivity")
    return Route(backend="indexed", reason="indexed_default")
