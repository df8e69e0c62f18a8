"""Search requests, and what a search reports: its route, skipped files and totals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

Case: TypeAlias = Literal["sensitive", "insensitive", "smart"]
Mode: TypeAlias = Literal["lines", "count", "count_matches", "files", "files_without_match"]
EngineChoice: TypeAlias = Literal["auto", "index", "scan", "rg", "zoekt"]
BackendName: TypeAlias = Literal["indexed", "direct_scan", "ripgrep", "zoekt"]
Freshness: TypeAlias = Literal["synced", "swept", "unverified"]
TypeChange: TypeAlias = tuple[Literal["add", "clear"], str]
TypeChoice: TypeAlias = tuple[Literal["select", "negate"], str]
Opening: TypeAlias = Literal["any", "regular", "inside"]
PastNul: TypeAlias = Literal["none", "first", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternSpec:
    """The patterns to find, as requested."""

    patterns: tuple[str, ...]
    """At least one of these must match."""
    fixed: bool = False
    """Read the patterns as plain text (-F)."""
    case: Case = "sensitive"
    """Case mode (-s, -i, -S)."""
    word: bool = False
    """Only matches with no word character on either side (-w)."""
    line: bool = False
    """Only matches that are a whole line (-x)."""
    multiline: bool = False
    """Matches may span lines (-U)."""
    dotall: bool = False
    """`.` matches a line end too (--multiline-dotall); only with `multiline`."""
    unicode: bool = True
    """Classes, case and boundaries are Unicode's (--no-unicode turns it off)."""
    crlf: bool = False
    """`$` also matches before CR LF (--crlf)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeSpec:
    """The files to search, as requested."""

    globs: tuple[str, ...] = ()
    """-g, in order; a leading `!` excludes; the last that matches wins."""
    iglobs: tuple[str, ...] = ()
    """--iglob: the same, ignoring case; they come after `globs`."""
    glob_case_insensitive: bool = False
    """--glob-case-insensitive: all globs ignore case."""
    types: tuple[str, ...] = ()
    """-t: ripgrep's names of file types."""
    types_not: tuple[str, ...] = ()
    """-T."""
    type_order: tuple[TypeChoice, ...] = ()
    """-t and -T in command-line order, if known: the last one that applies to a file decides.
    Unless empty, it replaces `types` and `types_not`, which are otherwise read as if every -T came
    last."""
    type_changes: tuple[TypeChange, ...] = ()
    """--type-add and --type-clear, in order."""
    hidden: bool = False
    """Search hidden files and folders (-.)."""
    allowlist: bool = False
    """Also search the well-known hidden paths (.github, .gitignore …) that ripgrep leaves out."""
    also: frozenset[bytes] = frozenset()
    """Hidden files to search besides, relative to the root; globs and types apply to them."""
    no_ignore: bool = False
    """Respect no ignore file at all (--no-ignore)."""
    no_ignore_vcs: bool = False
    no_ignore_parent: bool = False
    no_ignore_dot: bool = False
    no_ignore_exclude: bool = False
    no_ignore_global: bool = False
    no_ignore_files: bool = False
    no_require_git: bool = False
    ignore_files: tuple[str, ...] = ()
    """--ignore-file: more ignore files, lowest precedence."""
    follow: bool = False
    """Follow symbolic links (-L)."""
    one_file_system: bool = False
    max_depth: int | None = None
    max_filesize: int | None = None
    """Bytes; larger files are not searched."""
    text: bool = False
    """Search binary files as if they were text (-a)."""
    binary: bool = False
    """Search binary files to their end, but show no line after a NUL byte (--binary). Files that
    are named are always searched this way."""
    operand: str = ""
    """The folder that was named, relative to the root; empty or ends in `/`."""
    typed: str = ""
    """The same folder as typed, from the working folder, without a leading `./`; empty or ends in
    `/`. Globs, `--ignore-file` and git's global excludes use it instead of `operand`."""
    here: str = ""
    """The working folder, absolute; empty to search as if started in the root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """Search file contents below one root."""

    pattern: PatternSpec
    scope: ScopeSpec = field(default_factory=ScopeSpec)
    paths: tuple[str, ...] = ()
    """Folders or files to search, relative to the root; empty for the whole root."""
    mode: Mode = "lines"
    invert: bool = False
    """Find the lines that do not match (-v)."""
    before: int = 0
    """Lines of context before each match (-B)."""
    after: int = 0
    """Lines of context after each match (-A)."""
    passthru: bool = False
    """Show every line, matching or not (--passthru)."""
    max_count: int | None = None
    """At most this many matching lines per file (-m)."""
    limit: int | None = None
    """At most this many matching lines in all, in path order; totals stay exact."""
    count_all: bool = True
    """Continue after `limit`, so that totals are exact. If False, stop there: the totals then cover
    only what was searched, and `incomplete` says so."""
    line_numbers: bool = True
    """Whether rows need line numbers. If False, they may be 0, which is cheaper."""
    engine: EngineChoice = "auto"
    repository: str = ""
    """For the engine `zoekt`: the name of the root's repository on the cluster; "" to find it by
    git's remotes and the folder's name."""
    opening: Opening = "any"
    """Which of the named files may be opened. any: devices and FIFOs too, as ripgrep does; only for
    a user's own process, since it may block for ever. regular: regular files only. inside: only
    regular files that are inside the root when they are opened; for agents."""
    stdin: int = -1
    """The descriptor of an open file, such as standard input, that is read from its current
    position instead of the named file; -1 for none."""
    mapped: bool = False
    """Detect NUL bytes where ripgrep does if it maps a file (--mmap), not where it reads it."""
    past_nul: PastNul = "none"
    """Which rows after a NUL byte are returned, if a binary file is searched to its end. first: one
    matching row after the last row shown (--stats counts it); all: every row (--json)."""
    sweep: bool = True
    """Compare the tree with the index before answering from it. If False, the answer may miss
    changes since the index was written, and its freshness is `unverified`."""

    @property
    def ends_after(self) -> int | None:
        """The number of results after which the search ends; None if it searches everything."""
        return None if self.count_all else self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Which backend answered, and why."""

    backend: BackendName
    reason: str
    """Short and machine-readable; the values are listed in docs/concepts/routing.md."""
    fell_back: str = ""
    """Why an earlier backend failed, in one line; empty if none did."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that could not be searched, and why."""

    path: bytes
    reason: Literal["binary", "unreadable", "too_large", "loop", "not_found", "encoding", "other"]
    detail: str = ""


@dataclass(slots=True, kw_only=True)
class Totals:
    """Totals of a finished search. Counts include what `limit` cut off."""

    files_searched: int = 0
    files_matched: int = 0
    lines: int = 0
    """Matching lines."""
    bytes_searched: int = 0
    """Bytes read from files."""
    truncated: bool = False
    misses: bool = False
    """For `files_without_match` by ripgrep: whether any file has no match, listed or binary."""
    skipped: list[Skipped] = field(default_factory=list)
    incomplete: str = ""
    """Why the answer may be incomplete; empty if it is complete."""
    elapsed_ms: float = 0.0
    freshness: Freshness = "unverified"
    """How it was established that the answer reflects the current tree."""
    generation: int | None = None
    """The generation of the index that answered; None if none did."""
    dirty: int | None = None
    """Number of files that differed from that index and were read directly; None without one."""


class LeftOut(NamedTuple):
    """Files and folders that a search has left out. A folder counts once, whatever it holds."""

    hidden: int
    ignored: int

    def described(self) -> str:
        """Return a clause on what was left out, with the arguments that search it; "" if none."""
        kinds = [name for name, count in self._asdict().items() if count]
        counts = " and ".join(f"{getattr(self, name):,} {name}" for name in kinds)
        arguments = ", ".join(f"{name}: true" for name in kinds)
        return f"not searched: {counts} files or folders (pass {arguments})" if kinds else ""
