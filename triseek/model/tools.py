"""What agents ask, tool by tool.

The docstring of a class is its tool's description, the one under a field that argument's: agents
read the sentences developers do. They are bought with an agent's context, so they are short, and
each tool says what it is for, when it beats grep, and gives one example.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from triseek.model.search import Case  # noqa: TC001 - read at run time, for the schemas

OutputMode: TypeAlias = Literal["content", "files", "count"]
LIMIT = 20
LIMIT_MAX = 100
CONTEXT_MAX = 10
RESUME_TOKENS, RESUME_TOKENS_MIN, RESUME_TOKENS_MAX = 3_000, 256, 12_000
"""Of a resume's payload, as `sessions.hydration` has them."""

_STRICT = {"use_attribute_docstrings": True, "extra": "forbid"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FindFilesRequest:
    """Find files by words of their path, in any order and case, or by a glob.

    Use instead of `find`, `ls -R`, `rg --files` or a Glob tool: answers from the index in
    milliseconds, best match first (file name before folder, source before tests and vendored).
    Example: {"query": "router auth"} finds src/auth/router.rs.
    """

    __pydantic_config__: ClassVar = _STRICT

    query: str
    """Words that all occur in the path, or a glob such as `src/**/*.rs`."""
    limit: int = LIMIT
    """Most files listed."""
    offset: int = 0
    """Files to skip: the `next_offset` of the page before."""
    force_refresh: bool = False
    """Search again where the answer would be that you have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentOptions:
    """How contents are searched and shown; grep's options under their usual names."""

    __pydantic_config__: ClassVar = _STRICT

    mode: Literal["literal", "regex"] = "literal"
    """How to read the query; regex is ripgrep's dialect."""
    limit: int = LIMIT
    """Most lines listed (files, with output_mode files or count)."""
    offset: int = 0
    """Results to skip: the `next_offset` of the page before."""
    type: str = ""
    """ripgrep's file types, e.g. `py` or `ts,js`."""
    case: Case = "sensitive"
    """smart: insensitive unless the query has capitals."""
    word: bool = False
    """Whole words only."""
    context: int = 0
    """Lines shown around each match, at most 10."""
    multiline: bool = False
    """Matches may span lines, and `.` matches a line end."""
    output_mode: OutputMode = "content"
    """Matching lines; or paths alone; or matching lines per file."""
    patterns: tuple[str, ...] = ()
    """More queries, any of which may match: several searches in one."""
    token_budget: int = 0
    """Most tokens of the answer; 0: about 8000."""
    force_refresh: bool = False
    """Search again where the answer would be that you have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchContentRequest(ContentOptions):
    r"""Search file contents for a literal (default) or a regex, definitions first.

    Use instead of grep, rg or a Grep tool: an index answers in milliseconds with ripgrep's matches,
    sees every edit at once, orders by relevance (definitions, then source, tests, vendored) and
    gives exact totals of all that matches. Zero hits say what was searched and what would match.
    Example: {"query": "fn parse_arguments"}, or {"query": "impl \w+ for", "mode": "regex"}.
    """

    __pydantic_config__: ClassVar = _STRICT

    query: str
    """What to find."""
    glob: str = ""
    """Only these files, e.g. `*.rs` or `src/** !*_test.py`; several separated by spaces."""
    path: str = ""
    """Folder or file to search in, relative to the root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPathAndContentRequest(ContentOptions):
    """Search contents of the files a glob takes, as search_content does.

    Use when you know where to look: the glob narrows first, so it is quickest and least noisy.
    Example: {"path_query": "src/**/*.rs", "content_query": "Result<"}.
    """

    __pydantic_config__: ClassVar = _STRICT

    path_query: str
    """The glob; several separated by spaces, `!` excludes."""
    content_query: str
    """What to find."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatusRequest:
    """Say whether this repository is indexed and the index fresh. Searches work without one."""

    __pydantic_config__: ClassVar = _STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexRequest:
    """Update (or with mode full: rebuild) the index. Rarely needed: edits are seen without it."""

    __pydantic_config__: ClassVar = _STRICT

    mode: Literal["incremental", "full"] = "incremental"
    """What changed, or everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoStatusRequest:
    """Say of files whether you have read them in this session and they are unchanged since.

    Use before reading several files again: those that are `fresh` are in your context as they are
    now, unless `primed`: those are as a resumed session knew them.
    Example: {"files": ["src/auth/router.rs"]}.
    """

    __pydantic_config__: ClassVar = _STRICT

    files: tuple[str, ...]
    """Paths, absolute or below the root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoSessionRequest:
    """List the files you have read in this session, and the tokens saved by not re-reading them."""

    __pydantic_config__: ClassVar = _STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoCheckRequest:
    """Say whether a file you have read has to be read again; call it before you do.

    `skip_reread`: it is in your context as it is now. `reread_with_diff`: `diff` says what has
    changed since. `reread`: read it. Example: {"path": "src/auth/router.rs"}.
    """

    __pydantic_config__: ClassVar = _STRICT

    path: str
    """The file, absolute or below the root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpenRequest:
    """Begin a work session at the start of a task, so that it can be handed to another agent.

    Searches, reads and edits are noted in it. Example: {"goal": "Fix the flaky auth test"}.
    """

    __pydantic_config__: ClassVar = _STRICT

    goal: str = ""
    """What the work is to achieve."""
    session_id: str = ""
    """One to go on with, or a name for a new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStatusRequest:
    """Say how a session stands, and how many entries its log has. Example: {}."""

    __pydantic_config__: ClassVar = _STRICT

    session_id: str = ""
    """Default: the current one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionListRequest:
    """List this repository's sessions, last used first. Example: {"status": "open"}."""

    __pydantic_config__: ClassVar = _STRICT

    status: Literal["all", "open", "resolved", "abandoned"] = "all"
    """Only such."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCloseRequest:
    """End a session: its work is done or given up. Example: {"status": "resolved"}."""

    __pydantic_config__: ClassVar = _STRICT

    status: Literal["resolved", "abandoned"]
    """How it ends."""
    session_id: str = ""
    """Default: the one opened or resumed here last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedLines:
    """Lines of a file that a snapshot quotes."""

    __pydantic_config__: ClassVar = _STRICT

    path: str
    """Below the root."""
    line_start: int
    """The first, from 1."""
    line_end: int
    """The last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSnapshotRequest:
    """Keep a checkpoint of a session: files read, searches, git state, lines you pin.

    Use before a risky edit or a compaction.
    Example: {"pinned_snippet_paths": [{"path": "src/a.rs", "line_start": 40, "line_end": 80}]}.
    """

    __pydantic_config__: ClassVar = _STRICT

    session_id: str = ""
    """Default: the current one."""
    source_harness: str = ""
    """Default: this client."""
    source_model: str = ""
    """Your model."""
    pinned_snippet_paths: tuple[PinnedLines, ...] = ()
    """Lines the next agent must see verbatim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHandoffRequest(SessionSnapshotRequest):
    """Hand off: session_snapshot with a briefing, then the session is resolved. Example: {}."""

    __pydantic_config__: ClassVar = _STRICT

    output: str = ""
    """File name (.tcp) of a pack to export."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSnapshotListRequest:
    """List snapshots that can be resumed, newest first. Example: {}."""

    __pydantic_config__: ClassVar = _STRICT

    session_id: str = ""
    """Only this session's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSnapshotGetRequest:
    """Inspect what a snapshot holds. Example: {"snapshot_id": "snap_1777803396_demo"}."""

    __pydantic_config__: ClassVar = _STRICT

    snapshot_id: str
    """From session_snapshot_list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSnapshotDiffRequest:
    """Compare the files and searches of two snapshots.

    Example: {"snapshot_a": "snap_1", "snapshot_b": "snap_2"}.
    """

    __pydantic_config__: ClassVar = _STRICT

    snapshot_a: str
    """The earlier one."""
    snapshot_b: str
    """The later one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResumeRequest:
    """Go on with a snapshot's work: read its goal, what is known, ruled out and changed since.

    Example: {"snapshot_id": "snap_1777803396_demo", "budget_tokens": 8000}.
    """

    __pydantic_config__: ClassVar = _STRICT

    snapshot_id: str
    """From session_snapshot_list."""
    budget_tokens: int = RESUME_TOKENS
    """Most tokens to read."""
