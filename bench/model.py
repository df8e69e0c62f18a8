"""What is asked of every engine, and what one asking cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypedDict

if TYPE_CHECKING:
    from pathlib import Path

Mode: TypeAlias = Literal["lines", "count", "paths"]


class Faulty(Exception):
    """Something that makes a figure worthless; its text says what, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question, put to all engines in the same words."""

    name: str
    """Unique in a run: `families/literal_selective`."""
    about: str = ""
    patterns: tuple[str, ...] = ()
    """Any of these matches; none for mode `paths`."""
    fixed: bool = False
    """Plain text, not a regular expression."""
    ignore_case: bool = False
    word: bool = False
    globs: tuple[str, ...] = ()
    mode: Mode = "lines"
    """`lines`: path, number and text of each; `count`: matching lines per file; `paths`: files."""
    limit: int | None = None
    """Stop after this many lines; None for all."""
    expect: int | None = None
    """Lines (mode `paths`: files) the pinned corpus is known to give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A tree to search."""

    name: str
    version: str
    root: Path
    files: int
    """Files that `rg --files` lists."""
    size_bytes: int
    """Bytes in them."""
    pinned: bool
    """Whether it is, by file count, the tree whose expected counts we wrote down."""


class Reply(NamedTuple):
    """What one asking gave."""

    seconds: tuple[float, ...]
    """One per repetition; processes are asked once per call."""
    output: bytes = b""
    """`path:number:text` lines (or `path:count`, or `path`), when it was to be kept."""


class Memory(TypedDict):
    """What a process holds; bytes."""

    rss: int
    anonymous: int
    """Its own."""
    file: int
    """Of mapped files, which the page cache holds in any case."""
    peak: int
    """The most `rss` has been."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What making an index cost."""

    seconds: float
    peak_rss_bytes: int
    """Of the process that built; 0 when unknown."""
    index_bytes: int
    note: str = ""
