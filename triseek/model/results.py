"""What tools answer, field by field.

The docstring under a field is what the reference page says of it. A field that may be missing is
`NotRequired`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict

from triseek.model.tool import ADDED

Cache: TypeAlias = Literal["hit", "miss", "bypass"]
FileStatus: TypeAlias = Literal["fresh", "stale", "unknown"]
Recommendation: TypeAlias = Literal["skip_reread", "reread_with_diff", "reread"]


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


class WouldMatch(TypedDict):
    """Another way to ask, with what it matches."""

    change: dict[str, Any]
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
    """`triseek_indexed`, `triseek_direct_scan` or `ripgrep_fallback`."""
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
    """Why totals cover a part only: time was up."""


class Nothing(TypedDict):
    """What is said where nothing was found."""

    searched: Annotated[NotRequired[SearchedFiles], ADDED]
    """With no results: `files`, `skipped` and `freshness` of what was searched."""
    would_match: Annotated[NotRequired[list[WouldMatch]], ADDED]
    """With no results: changes of arguments that would match, each counted: `change`, `files`,
    `lines`; `tool` in a change means that tool instead."""
    next_step: Annotated[NotRequired[str], ADDED]
    """With no results: what to try."""


class SearchAnswer(AnswerHead, Routed, Executed, MatchCounts, Remarks, Nothing):
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


class MemoCounts(TypedDict):
    """What is counted of a file that the context was shown."""

    tokens: NotRequired[int]
    """Of the file when it was shown, its bytes divided by 3.5."""
    read_count: NotRequired[int]
    """How often."""


class MemoFile(MemoCounts):
    """What `memo_status` says of one file."""

    path: str
    """As it was asked for."""
    status: FileStatus
    """`fresh`: all of it was shown in this context and is unchanged; `stale`: it was shown and has
    changed since; `unknown`: neither can be said."""
    message: str
    """The same in a sentence."""
    current_tokens: NotRequired[int]
    """Of a stale file, as it is now."""
    lines: Annotated[NotRequired[str], ADDED]
    """Which lines were shown and are unchanged, where it is not all of them."""
    primed: Annotated[NotRequired[bool], ADDED]
    """true of a file that only the session that was [resumed](../concepts/memo.md) had read:
    `fresh` says that it is unchanged since, and not that it is in this context."""
    snapshot_id: Annotated[NotRequired[str], ADDED]
    """What was resumed."""
    recommendation: Annotated[NotRequired[str], ADDED]
    """Of a primed file, as in `memo_check`."""


class MemoStatusAnswer(TypedDict):
    """What the context has of some files."""

    session_id: str
    """Whose reads are told of; `default` where there is none."""
    results: list[MemoFile]
    """One for each file, in the order in which they were asked for."""


class MemoCheckAnswer(TypedDict):
    """Whether a file has to be read again."""

    path: str
    """As it was asked for."""
    status: FileStatus
    """As above."""
    recommendation: Recommendation
    """`skip_reread`, `reread_with_diff` or `reread`."""
    tokens_at_last_read: NotRequired[int]
    """Of the file when it was shown."""
    current_tokens: NotRequired[int]
    """Of a stale file, as it is now."""
    last_read_ago_seconds: NotRequired[int]
    """Since it was shown."""
    diff: Annotated[NotRequired[str], ADDED]
    """With `reread_with_diff`: what has changed since, as a unified diff."""
    lines: Annotated[NotRequired[str], ADDED]
    """Which lines were shown and are unchanged, where it is not all of them."""
    message: Annotated[NotRequired[str], ADDED]
    """Which that is, in a sentence."""
    primed: Annotated[NotRequired[bool], ADDED]
    """As above; `skip_reread` if the payload in this context quotes all of the file."""
    snapshot_id: Annotated[NotRequired[str], ADDED]
    """As above."""


class TrackedFile(TypedDict):
    """A file that the context was shown."""

    path: str
    status: FileStatus
    reads: int
    tokens: int


class ResumedFile(TypedDict):
    """A file that only the resumed session had read."""

    path: str
    status: FileStatus
    tokens: int


class MemoSessionAnswer(TypedDict):
    """What the context was shown, and what knowing it has saved."""

    session_id: str
    """As above."""
    tracked_files: int
    """Files this context was shown."""
    total_reads: int
    """Reads of it."""
    redundant_reads_prevented: int
    """Reads that were refused because the context had the lines, and were not asked for again."""
    tokens_saved: int
    """Of those reads; a read that happened saves nothing."""
    compaction_count: int
    """How often the context was compacted; the totals outlive that."""
    files: list[TrackedFile]
    """Each `path` (absolute), `status`, `reads` and `tokens`."""
    redundant_reads: Annotated[int, ADDED]
    """Reads that happened, though the context had every line."""
    primed_files: Annotated[NotRequired[list[ResumedFile]], ADDED]
    """After a resume: `path`, `status` and `tokens` of those that only the resumed session had
    read."""
    snapshot_id: Annotated[NotRequired[str], ADDED]
    """As above."""


class SessionRecord(TypedDict):
    """A work session."""

    schema_version: int
    """1."""
    session_id: str
    """1 to 128 of `A-Za-z0-9._-`; `session_<milliseconds>` if nobody named it."""
    goal: str
    """What the work is to achieve."""
    repo_root: str
    """The repository it belongs to."""
    status: Literal["open", "resolved", "abandoned"]
    """`open`, `resolved` or `abandoned`."""
    created_at: int
    """Unix seconds."""
    updated_at: int
    """Likewise; the last entry counts too."""
    by_itself: Annotated[NotRequired[bool], ADDED]
    """true, if a prompt began it and nobody has asked for it since."""


class SessionAnswer(TypedDict):
    """One session."""

    session: SessionRecord
    """Of `session_open`, `session_status` and `session_close`: the record."""


class SessionStatusAnswer(SessionAnswer):
    """How a session stands."""

    action_log_size: int
    """Of `session_status`: entries of its log."""


class SessionListAnswer(TypedDict):
    """The sessions of a repository."""

    sessions: list[SessionRecord]
    """Of `session_list`: records, last used first."""
    omitted: Annotated[NotRequired[dict[str, int]], ADDED]
    """How much of which list had no room; only if something had not."""


class SnapshotAnswer(TypedDict):
    """A snapshot that was made."""

    snapshot_id: str
    """`snap_<seconds>_<session>`, with a number where that is taken."""
    snapshot_dir: str
    """The folder with its files."""
    manifest: dict[str, Any]
    """Which session, repository, commit, uncommitted files, agent and model, and where the index's
    journal was."""


class HandoffAnswer(SnapshotAnswer):
    """A snapshot that was made to hand the work off."""

    briefing: Annotated[str, ADDED]
    """Of `session_handoff`: the briefing that was written."""
    pack: Annotated[NotRequired[str], ADDED]
    """Of `session_handoff` with `output`: the pack's path, in the state folder's `exports`."""
    session: Annotated[SessionRecord, ADDED]
    """Of `session_handoff`: the record, resolved."""


class DamagedSnapshot(TypedDict):
    """A snapshot that cannot be read."""

    snapshot_id: str
    reason: str


class SnapshotListAnswer(TypedDict):
    """All snapshots."""

    snapshots: list[dict[str, Any]]
    """Of `session_snapshot_list`: manifests of all repositories, newest first."""
    damaged: Annotated[NotRequired[list[DamagedSnapshot]], ADDED]
    """Of `session_snapshot_list`: snapshots that cannot be read, each with the `reason`."""
    omitted: Annotated[NotRequired[dict[str, int]], ADDED]
    """As above."""


class SnapshotGetAnswer(TypedDict):
    """What one snapshot holds."""

    snapshot: dict[str, Any]
    """Of `session_snapshot_get`: `manifest`, `working_set`, `action_log` (its newest entries),
    `pinned_snippets`; *added*: `git_state`, and `briefing` if there is one."""
    omitted: Annotated[NotRequired[dict[str, int]], ADDED]
    """As above."""


class SnapshotDiffAnswer(TypedDict):
    """How two snapshots differ."""

    diff: dict[str, list[str]]
    """Of `session_snapshot_diff`: `added_files`, `removed_files`, `changed_files` (another content
    when they were read), `added_searches`, `removed_searches`."""
    omitted: Annotated[NotRequired[dict[str, int]], ADDED]
    """As above."""


class ResumeAnswer(TypedDict):
    """What is needed to go on with a session's work."""

    session_id: str
    """The session that is open again, and current."""
    payload_markdown: str
    """What to read: goal, briefing, what has changed since, pinned lines."""
    payload_token_estimate: int
    """Its bytes divided by 4."""
    hydration_report: dict[str, Any]
    """`files_primed`: read then and unchanged; `searches_warmed`; `frecency_entries_restored`;
    `stale_files`: each `path` and `reason` (`changed`, `missing`, `unreadable`, `unverified`);
    *added*: `repo_root`, where the repository is now, and `differs`, sentences on what is not as it
    was."""
    searches: list[dict[str, Any]]
    """Those of the working set, last asked first."""
    omitted: Annotated[NotRequired[dict[str, int]], ADDED]
    """As above."""
