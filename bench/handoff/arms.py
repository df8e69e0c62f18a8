"""What whoever goes on could be given to read: the payload, parts of it, and what it must beat."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.model.token_estimate import TEXT_BYTES_PER_TOKEN
from triseek.sessions import hydration
from triseek.sessions.hydration import Drift

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.handoff.stage import Cut

BUDGETS = (1_000, 3_000, 8_000)
"""Tokens."""


def empty(cut: Cut, _: int) -> str:
    """The goal alone, as whoever asks for the work would say it."""
    return cut.snapshot.manifest.goal


def diff(cut: Cut, budget: int) -> str:
    """`git diff --stat` and `git diff`, as much of it as the budget takes."""
    room = budget * TEXT_BYTES_PER_TOKEN
    return cut.diff.encode("utf-8", "surrogateescape")[:room].decode("utf-8", "ignore")


def listing(cut: Cut, budget: int) -> str:
    """`git ls-files`, as much of it as the budget takes: what naming everything is worth."""
    return diff(replace(cut, diff="\n".join(sorted(cut.files))), budget)


def payload(cut: Cut, budget: int) -> str:
    """What we ship."""
    return hydration.payload(cut.snapshot, cut.since, cut.stale, budget).text


def without_files(cut: Cut, budget: int) -> str:
    """The payload without the working set's files."""
    return payload(_with(cut, files_read=[]), budget)


def without_searches(cut: Cut, budget: int) -> str:
    """The payload without the working set's searches."""
    return payload(_with(cut, searches_run=[]), budget)


def without_git(cut: Cut, budget: int) -> str:
    """The payload of a repository of which git says that nothing is uncommitted."""
    manifest = replace(cut.snapshot.manifest, repo_dirty_files=[])
    state = replace(cut.snapshot.git, dirty_files=[], hunk_summary={})
    snapshot = cut.snapshot._replace(manifest=manifest, git=state)
    since = Drift(cut.since.commit, cut.since.branch, [], 0)
    return hydration.payload(snapshot, since, cut.stale, budget).text


def _with(cut: Cut, **parts: list[object]) -> Cut:
    working_set = replace(cut.snapshot.working_set, **parts)  # type: ignore[arg-type]
    return replace(cut, snapshot=cut.snapshot._replace(working_set=working_set))


ARMS: dict[str, Callable[[Cut, int], str]] = {
    "empty start": empty,
    "git ls-files": listing,
    "git diff": diff,
    "payload": payload,
}
"""What is held against what."""
PARTS: dict[str, Callable[[Cut, int], str]] = {
    "no working set": without_files,
    "no searches": without_searches,
    "no git state": without_git,
}
"""The payload with one part less, whose room the others may take."""
