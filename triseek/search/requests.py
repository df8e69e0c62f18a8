"""What agents ask of the search tools.

The docstring of a class is its tool's description, the one under a field that argument's: agents
read the sentences developers do. They are bought with an agent's context, so they are short, and
each tool says what it is for, when it beats grep, and gives one example.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from triseek.model.search import Case  # noqa: TC001 - read at run time, for the schemas
from triseek.model.tool import STRICT

OutputMode: TypeAlias = Literal["content", "files", "count"]
LIMIT = 20
LIMIT_MAX = 100
CONTEXT_MAX = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class FindFilesRequest:
    """Find files by words of their path, in any order and case, or by a glob.

    Use instead of `find`, `ls -R`, `rg --files` or a Glob tool: answers from the index in
    milliseconds, best match first (file name before folder, source before tests and vendored).
    Example: {"query": "router auth"} finds src/auth/router.rs.
    """

    __pydantic_config__: ClassVar = STRICT

    query: str
    """Words that all occur in the path, or a glob such as `src/**/*.rs`."""
    limit: int = LIMIT
    """Most files listed."""
    offset: int = 0
    """Files to skip: the `next_offset` of the page before."""
    hidden: bool = False
    """List all hidden files; without it, those that git tracks."""
    ignored: bool = False
    """List ignored files too."""
    force_refresh: bool = False
    """Search again where the answer would be that you have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentOptions:
    """How contents are searched and shown; grep's options under their usual names."""

    __pydantic_config__: ClassVar = STRICT

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
    hidden: bool = False
    """Search all hidden files; without it, those that git tracks."""
    ignored: bool = False
    """Search ignored files too."""
    backend: Literal["", "zoekt"] = ""
    """zoekt: the configured cluster says where to look."""
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

    __pydantic_config__: ClassVar = STRICT

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

    __pydantic_config__: ClassVar = STRICT

    path_query: str
    """The glob; several separated by spaces, `!` excludes."""
    content_query: str
    """What to find."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatusRequest:
    """Say whether this repository is indexed and the index fresh. Searches work without one."""

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexRequest:
    """Update (or with mode full: rebuild) the index. Rarely needed: edits are seen without it."""

    __pydantic_config__: ClassVar = STRICT

    mode: Literal["incremental", "full"] = "incremental"
    """What changed, or everything."""
