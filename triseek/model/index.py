"""Reports of index builds, and the status of an index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from triseek.model.search import Skipped

Stage: TypeAlias = Literal["walk", "read", "write", "compile", "check", "import", "forget", "embed"]
Progress: TypeAlias = Callable[[Stage, int, int], None]
"""progress(stage, done, total): total 0 means unknown."""
Category: TypeAlias = Literal["small", "medium", "large", "very_large"]


def no_progress(_stage: Stage, _done: int, _total: int) -> None:
    """Ignore the progress. The default `progress` callback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildReport:
    """What a build or update did."""

    generation: int
    rebuilt_full: bool
    """Whether everything was read again, not only what changed."""
    files_seen: int
    """Files the walk found."""
    files_indexed: int
    """Of these, the files whose text can be searched."""
    files_changed: int
    """Files read because they were new or changed."""
    files_removed: int
    text_bytes: int
    """Bytes of text in the live index."""
    postings: int
    """Postings that this build wrote."""
    skipped: list[Skipped] = field(default_factory=list)
    elapsed_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatus:
    """The state of one root's index."""

    root: str
    index_dir: str
    present: bool
    fresh: bool
    """Whether the index matches the tree, as checked just now."""
    generation: int | None = None
    files: int = 0
    """Live files whose text can be searched."""
    files_binary: int = 0
    files_unreadable: int = 0
    blocks: int = 0
    trigrams: int = 0
    segments: int = 0
    text_bytes: int = 0
    index_bytes: int = 0
    updated_ns: int | None = None
    """When the newest segment was written, nanoseconds since the epoch."""
    dirty: int = 0
    """Files added, changed or removed since then."""
    category: Category | None = None
    problem: str = ""
    """Why the index cannot be used, in one line; empty if it can."""


def category_of(files: int, size_bytes: int) -> Category:
    """Return the size category of a tree, by triseek-behaviour.md §2.2."""
    gib = 1 << 30
    if files > 500_000 or size_bytes > 20 * gib:
        return "very_large"
    if files >= 50_000 or size_bytes >= 2 * gib:
        return "large"
    if files >= 5_000 or size_bytes >= 200 * (1 << 20):
        return "medium"
    return "small"
