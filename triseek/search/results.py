"""What the search tools answer, field by field.

The docstring under a field is what the reference page says of it. A field that may be missing is
`NotRequired`.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from triseek.model.search import Case  # noqa: TC001 - read at run time, for the schemas
from triseek.model.tool import ADDED

Cache: TypeAlias = Literal["hit", "miss", "bypass"]


class MatchLine(TypedDict):
    """A line of a result."""

    line: int
    """Its number, from 1."""
    column: NotRequired[int]
    """Byte at which the match begins, from 1; not of a line of context."""
    preview: str
    """Its text, cut around the match where it is long."""
    definition: Annotated[NotRequired[bool], ADDED]
    """true: the line defines what was found."""
    context: Annotated[NotRequired[bool], ADDED]
    """true: a line around a match; it has no `column`."""


class SearchResult(TypedDict):
    """One file of a search's answer."""

    path: str
    """Below the root; bytes that are not UTF-8 are shown as U+FFFD."""
    reason: str
    """`content_match`, `path_match`, or `path_only` with `output_mode` files."""
    matches: NotRequired[list[MatchLine]]
    """Rising lines, each once."""
    line_matches: Annotated[NotRequired[int], ADDED]
    """All matching lines of the file, where not all are shown."""
    count: Annotated[NotRequired[int], ADDED]
    """With `output_mode` count: matching lines of the file."""


class SearchedFiles(TypedDict):
    """What a search without results has searched."""

    files: int
    skipped: int
    freshness: str
    hidden: Annotated[int, ADDED]
    """Hidden files and folders that were left out."""
    ignored: Annotated[int, ADDED]
    """Ignored files and folders that were left out."""


class ChangedArguments(TypedDict):
    """Arguments to pass instead."""

    case: NotRequired[Case]
    word: NotRequired[bool]
    query: NotRequired[str]
    content_query: NotRequired[str]
    mode: NotRequired[Literal["literal", "regex"]]
    multiline: NotRequired[bool]
    hidden: NotRequired[bool]
    ignored: NotRequired[bool]
    glob: NotRequired[str]
    type: NotRequired[str]
    path: NotRequired[str]
    tool: NotRequired[str]
    """The tool to call instead."""


class WouldMatch(TypedDict):
    """Another way to ask, with what it matches."""

    change: ChangedArguments
    files: int
    lines: int


class AnswerHead(TypedDict):
    """What every answer of the search tools begins with."""

    version: str
    """`1`, the version of this shape."""
    repo_root: str
    """The folder that was searched, canonical and absolute."""


class Routed(TypedDict):
    """Which backend answered, and why."""

    strategy: str
    """`triseek_indexed`, `triseek_direct_scan`, `ripgrep_fallback`, or `zoekt` if it was named."""
    fallback_used: bool
    """Whether another backend than the index answered."""
    routing_reason: str
    """Why: one of the [reasons](../concepts/routing.md)."""
    cache: Cache
    """`miss`; `bypass` where the index did not answer; `hit` in a reuse envelope."""
    force_refreshed: Annotated[NotRequired[bool], ADDED]
    """true, if that was asked for."""
    fell_back: Annotated[NotRequired[str], ADDED]
    """Why a backend failed before this one."""


class Executed(TypedDict):
    """When an answer was true."""

    search_id: str
    """`search-0001` and so on: this answer's name in this server."""
    freshness: Annotated[str, ADDED]
    """`synced` or `swept`: [how it is known](../concepts/freshness.md) that the answer is of the
    tree as it is now."""
    generation: Annotated[int | None, ADDED]
    """Of the daemon's journal when the search began; `null` without a watcher."""
    context_epoch: Annotated[int | None, ADDED]
    """Likewise; it rises when a context begins anew."""


class MatchCounts(TypedDict):
    """How much matches."""

    files_with_matches: int
    """Files that match, exactly, whatever is shown."""
    total_line_matches: NotRequired[int]
    """Lines that match, exactly; 0 for `find_files`; not with `output_mode` files."""


class Remarks(TypedDict):
    """What else is to be known of an answer."""

    notes: Annotated[NotRequired[list[str]], ADDED]
    """How the pattern was read, where that may surprise; binary files that match."""
    incomplete: Annotated[NotRequired[str], ADDED]
    """Why the answer covers a part only: time was up; and how to go on."""


class Nothing(TypedDict):
    """What is said where nothing was found."""

    searched: Annotated[NotRequired[SearchedFiles], ADDED]
    """With no results: `files`, `skipped` and `freshness` of what was searched."""
    would_match: Annotated[NotRequired[list[WouldMatch]], ADDED]
    """With no results: changes of arguments that would match, each counted: `change`, `files`,
    `lines`; `tool` in a change means that tool instead."""
    next_step: Annotated[NotRequired[str], ADDED]
    """With no results: what to try."""


class NewAnswer(AnswerHead, Routed, Executed, MatchCounts):
    """The facts of a search that was executed."""


class SearchAnswer(NewAnswer, Remarks, Nothing):
    """What a search found."""

    results: list[SearchResult]
    """Best first; see below."""
    truncated: bool
    """Whether there are results after this page."""
    next_offset: Annotated[NotRequired[int], ADDED]
    """If so, the `offset` of the next page."""


class HydratedAnswer(SearchAnswer):
    """What a search found, and what it had found in the session that was resumed."""

    reuse_status: Annotated[str, ADDED]
    """`hydrated`."""
    prior_search_id: Annotated[str, ADDED]
    """What the answer was called there."""
    prior_snapshot_id: Annotated[str, ADDED]
    """The snapshot that was resumed."""
    prior_result_paths: Annotated[list[str], ADDED]
    """The first 20 paths it listed, as far as they have room."""
    prior_paths_differ: Annotated[bool, ADDED]
    """Whether the first 20 listed now are others, whatever their order; files of the same path may
    have changed."""


class ReusedAnswer(AnswerHead):
    """That the context has the answer already."""

    strategy: str
    fallback_used: bool
    cache: Cache
    search_id: str
    prior_search_id: str
    """The answer that still holds; `search_id` says the same."""
    reuse_status: str
    """`fresh_duplicate`."""
    reuse_reason: str
    """`unchanged`."""
    generation: int | None
    context_epoch: int | None
    files_with_matches: int
    total_line_matches: int
    results: list[SearchResult]
    results_omitted: bool
    """true; `results` is empty and `cache` is `hit`."""
    truncated: bool


class IndexStatusAnswer(AnswerHead):
    """What an index holds, and whether that is what the tree holds."""

    index_present: bool
    """Whether there is an index that can be read."""
    index_fresh: bool
    """Whether answers know all of the tree: nothing differs from the index, or a daemon follows
    what does."""
    indexed_files: int
    """Files in the index."""
    index_bytes: int
    """Its size on disk."""
    last_updated: str | None
    """UTC, whole seconds."""
    repo_category: str | None
    """`small`, `medium`, `large` or `very_large`; `null` without an index."""
    routing_hint: str
    """`indexed_default`, `ripgrep_fallback` (no index), or `index_syncing` (it is being made)."""
    generation: Annotated[NotRequired[int | None], ADDED]
    """Of the index; another count than a search's."""
    dirty_files: Annotated[NotRequired[int], ADDED]
    """Files that differ from the index and are searched directly."""
    not_watched: Annotated[NotRequired[str], ADDED]
    """Why answers take a sweep although a daemon runs, and what to do; absent if they do not."""
    not_indexed: Annotated[NotRequired[str], ADDED]
    """Why this folder gets no index by itself, and what to do; absent if it may get one."""
    problem: Annotated[NotRequired[str], ADDED]
    """Why an index cannot be read."""


class ReindexAnswer(AnswerHead):
    """What bringing an index up to date has done."""

    completed: bool
    """true."""
    mode: str
    """As it was asked for."""
    rebuilt_full: bool
    """Whether everything was indexed anew; also where there was no index."""
    elapsed_ms: int
    """How long it took."""
    indexed_files: int
    """Files in the index now."""
