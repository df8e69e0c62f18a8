"""The page of the MCP tools, made from the table of tools, their schemas and their docstrings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from triseek.engine.ranked import REACH_MAX
from triseek.mcp import arguments, instructions, schemas, server, stdio
from triseek.model import tools
from triseek.service import desk, envelopes, noting, pages, searching, session_pages
from triseek.service.verbs import TOOLSETS, VERBS
from triseek.sessions import snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.service.verbs import Verb

ADDED = "*added*"
"""Fields and arguments that the contract does not have."""
CONTRACT_ARGUMENTS = frozenset(
    (
        "query", "mode", "limit", "force_refresh", "path_query", "content_query", "goal", "intent",
        "budget_tokens", "max_files", "changed_files", "files", "path",
        "session_id", "status", "source_harness", "source_model", "pinned_snippet_paths",
        "snapshot_id", "snapshot_a", "snapshot_b",
    )
)  # fmt: skip

SEARCH_FIELDS: Mapping[str, tuple[str, bool]] = {
    "version": ("`1`, the version of this shape", False),
    "repo_root": ("the folder that was searched, canonical and absolute", False),
    "strategy": ("`triseek_indexed`, `triseek_direct_scan` or `ripgrep_fallback`", False),
    "fallback_used": ("whether another road than the index answered", False),
    "routing_reason": ("why: one of the [reasons](../concepts/routing.md)", False),
    "cache": ("`miss`; `bypass` where the index did not answer; `hit` in a reuse envelope", False),
    "search_id": ("`search-0001` and so on: this answer's name in this server", False),
    "files_with_matches": ("files that match, exactly, whatever is shown", False),
    "total_line_matches": (
        "lines that match, exactly; 0 for `find_files`; not with `output_mode` files", False
    ),
    "results": ("best first; see below", False),
    "truncated": ("whether results lie behind this page", False),
    "next_offset": ("if so, the `offset` of the next page", True),
    "freshness": (
        (
            "`synced` or `swept`: [how it is known](../concepts/freshness.md) that the answer is of"
            " the tree as it is now"
        ),
        True,
    ),
    "generation": ("of the daemon's journal when the search began; `null` without a watcher", True),
    "context_epoch": ("likewise; it rises when a context begins anew", True),
    "force_refreshed": ("true, if that was asked for", True),
    "fell_back": ("why a road failed before this one", True),
    "notes": ("how the pattern was read, where that may surprise; binary files that match", True),
    "incomplete": ("why totals cover a part only: time was up", True),
    "searched": ("with no results: `files`, `skipped` and `freshness` of what was searched", True),
    "would_match": (
        ("with no results: changes of arguments that would match, each counted: `change`, `files`,"
        " `lines`; `tool` in a change means that tool instead"), True
    ),
    "next_step": ("with no results: what to try", True),
}  # fmt: skip
RESULT_FIELDS: Mapping[str, tuple[str, bool]] = {
    "path": ("below the root; bytes that are no UTF-8 are shown as U+FFFD", False),
    "reason": ("`content_match`, `path_match`, or `path_only` with `output_mode` files", False),
    "matches": ("rising lines, each once: `line`, `column` (bytes, from 1), `preview`", False),
    "matches[].definition": ("true: the line defines what was found", True),
    "matches[].context": ("true: a line around a match; it has no `column`", True),
    "line_matches": ("all matching lines of the file, where not all are shown", True),
    "count": ("with `output_mode` count: matching lines of the file", True),
}
REUSE_FIELDS: Mapping[str, tuple[str, bool]] = {
    "prior_search_id": ("the answer that still holds; `search_id` says the same", False),
    "reuse_status": ("`fresh_duplicate`", False),
    "reuse_reason": ("`unchanged`", False),
    "results_omitted": ("true; `results` is empty and `cache` is `hit`", False),
}
HYDRATED_FIELDS: Mapping[str, tuple[str, bool]] = {
    "reuse_status": ("`hydrated`", True),
    "prior_search_id": ("what the answer was called there", True),
    "prior_snapshot_id": ("the snapshot that was resumed", True),
    "prior_result_paths": ("the first 20 paths it listed, as far as they have room", True),
    "prior_paths_differ": (
        (
            "whether the first 20 listed now are others, whatever their order; files of the same"
            " path may have changed"
        ),
        True,
    ),
}
STATUS_FIELDS: Mapping[str, tuple[str, bool]] = {
    "index_present": ("whether there is an index that can be read", False),
    "index_fresh": (("whether answers know all of the tree: nothing differs from the index, or a"
                    " daemon follows what does"), False),
    "indexed_files": ("files in the index", False),
    "index_bytes": ("its size on disk", False),
    "last_updated": ("UTC, whole seconds", False),
    "repo_category": ("`small`, `medium`, `large` or `very_large`; `null` without an index", False),
    "routing_hint": (("`indexed_default`, `ripgrep_fallback` (no index), or `index_syncing` (it is"
                     " being made)"), False),
    "generation": ("of the index; another count than a search's", True),
    "dirty_files": ("files that differ from the index and are searched directly", True),
    "not_watched": (
        "why answers take a sweep although a daemon runs, and what to do; absent if they do not",
        True,
    ),
    "problem": ("why an index cannot be read", True),
}  # fmt: skip
REINDEX_FIELDS: Mapping[str, tuple[str, bool]] = {
    "completed": ("true", False),
    "mode": ("as it was asked for", False),
    "rebuilt_full": ("whether everything was indexed anew; also where there was no index", False),
    "elapsed_ms": ("how long it took", False),
    "indexed_files": ("files in the index now", False),
}
MEMO_STATUS_FIELDS: Mapping[str, tuple[str, bool]] = {
    "session_id": ("whose reads are told of; `default` where there is none", False),
    "results": ("one for each file, in the order in which they were asked for", False),
    "path": ("as it was asked for", False),
    "status": (
        (
            "`fresh`: all of it was shown in this context and is unchanged; `stale`: it was shown"
            " and has changed since; `unknown`: neither can be said"
        ),
        False,
    ),
    "tokens": ("of the file when it was shown, its bytes divided by 3.5", False),
    "read_count": ("how often", False),
    "message": ("the same in a sentence", False),
    "current_tokens": ("of a stale file, as it is now", False),
    "primed": (
        (
            "true of a file that only the session that was [resumed](../concepts/memo.md) had read:"
            " `fresh` says that it is unchanged since, and not that it is in this context"
        ),
        True,
    ),
    "snapshot_id": ("what was resumed", True),
    "recommendation": ("of a primed file, as in `memo_check`", True),
}
MEMO_CHECK_FIELDS: Mapping[str, tuple[str, bool]] = {
    "path": ("as it was asked for", False),
    "status": ("as above", False),
    "recommendation": ("`skip_reread`, `reread_with_diff` or `reread`", False),
    "tokens_at_last_read": ("of the file when it was shown", False),
    "current_tokens": ("of a stale file, as it is now", False),
    "last_read_ago_seconds": ("since it was shown", False),
    "diff": ("with `reread_with_diff`: what has changed since, as a unified diff", True),
    "lines": ("which lines were shown and are unchanged, where it is not all of them", True),
    "message": ("which that is, in a sentence", True),
    "primed": (
        "as above; `skip_reread` if the payload in this context quotes all of the file",
        True,
    ),
    "snapshot_id": ("as above", True),
}
MEMO_SESSION_FIELDS: Mapping[str, tuple[str, bool]] = {
    "session_id": ("as above", False),
    "tracked_files": ("files this context was shown", False),
    "total_reads": ("reads of it", False),
    "redundant_reads_prevented": (
        ("reads that were refused because the context had the lines, and were not asked for again"),
        False,
    ),
    "tokens_saved": ("of those reads; a read that happened saves nothing", False),
    "redundant_reads": ("reads that happened, though the context had every line", True),
    "compaction_count": ("how often the context was compacted; the totals outlive that", False),
    "files": ("each `path` (absolute), `status`, `reads` and `tokens`", False),
    "primed_files": (
        (
            "after a resume: `path`, `status` and `tokens` of those that only the resumed session"
            " had read"
        ),
        True,
    ),
    "snapshot_id": ("as above", True),
}
SESSION_FIELDS: Mapping[str, tuple[str, bool]] = {
    "session": ("of `session_open`, `session_status` and `session_close`: the record", False),
    "sessions": ("of `session_list`: records, last used first", False),
    "action_log_size": ("of `session_status`: entries of its log", False),
    "schema_version": ("1", False),
    "session_id": ("1 to 128 of `A-Za-z0-9._-`; `session_<milliseconds>` if nobody named it",
                   False),
    "goal": ("what the work is to achieve", False),
    "repo_root": ("the repository it belongs to", False),
    "status": ("`open`, `resolved` or `abandoned`", False),
    "created_at": ("Unix seconds", False),
    "updated_at": ("likewise; the last entry counts too", False),
    "omitted": ("how much of which list had no room; only if something had not", True),
}  # fmt: skip
SNAPSHOT_FIELDS: Mapping[str, tuple[str, bool]] = {
    "snapshot_id": ("`snap_<seconds>_<session>`, with a number where that is taken", False),
    "snapshot_dir": ("the folder with its files", False),
    "manifest": (
        (
            "which session, repository, commit, uncommitted files, agent and model, and where the"
            " index's journal was"
        ),
        False,
    ),
    "briefing": ("of `session_handoff`: the briefing that was written", True),
    "pack": (
        "of `session_handoff` with `output`: the pack's path, in the state folder's `exports`",
        True,
    ),
    "session": ("of `session_handoff`: the record, resolved", True),
    "snapshots": ("of `session_snapshot_list`: manifests of all repositories, newest first", False),
    "snapshot": (
        (
            "of `session_snapshot_get`: `manifest`, `working_set`, `action_log` (its newest"
            " entries), `pinned_snippets`; *added*: `git_state`, and `briefing` if there is one"
        ),
        False,
    ),
    "diff": (
        (
            "of `session_snapshot_diff`: `added_files`, `removed_files`, `changed_files` (another"
            " content when they were read), `added_searches`, `removed_searches`"
        ),
        False,
    ),
    "omitted": ("as above", True),
}
RESUME_FIELDS: Mapping[str, tuple[str, bool]] = {
    "session_id": ("the session that is open again, and current", False),
    "payload_markdown": (
        "what to read: goal, briefing, what has changed since, pinned lines",
        False,
    ),
    "payload_token_estimate": ("its bytes divided by 4", False),
    "hydration_report": (
        (
            "`files_primed`: read then and unchanged; `searches_warmed`;"
            " `frecency_entries_restored`; `stale_files`: each `path` and `reason` (`changed`,"
            " `missing`, `unreadable`, `unverified`); *added*: `repo_root`, where the repository is"
            " now, and `differs`, sentences on what is not as it was"
        ),
        False,
    ),
    "searches": ("those of the working set, last asked first", False),
    "omitted": ("as above", True),
}
FIELDS = (
    SEARCH_FIELDS, RESULT_FIELDS, REUSE_FIELDS, HYDRATED_FIELDS, STATUS_FIELDS, REINDEX_FIELDS,
)  # fmt: skip
MEMO_FIELDS = (MEMO_STATUS_FIELDS, MEMO_CHECK_FIELDS, MEMO_SESSION_FIELDS)
SESSIONS_FIELDS = (SESSION_FIELDS, SNAPSHOT_FIELDS, RESUME_FIELDS)

RAISED: Mapping[str, str] = {
    "INDEX_UNAVAILABLE": "`reindex` and `index_status` cannot use an index that is damaged or of a"
    " later version. Searches take another road instead",
    "INDEX_STALE": "never by a search: what changed since the index is searched directly",
    "INVALID_QUERY": "an argument is missing, unknown, contradicts another or cannot be understood:"
    " a pattern, a glob, a type, a path outside of the root or of nothing, an id of no session or"
    " snapshot; or no session is open and none is named",
    "REPO_NOT_DETECTED": "the root is not there (any more)",
    "BACKEND_FAILURE": "something failed that may work later: another process is writing the"
    " index, the state folder cannot be written, no daemon runs for a tool of the memo or of"
    " sessions, a bug (its traceback is on standard error)",
    "FALLBACK_FAILURE": "every road failed",
    "CONFIG_WRITE_FAILED": "not by these tools",
    "CLIENT_NOT_INSTALLED": "not by these tools",
}


def page() -> str:
    return "\n\n".join(
        (
            "# MCP tools",
            ("What `triseek mcp serve` offers to agents; [how to add it](../guides/"
            "search-from-an-agent.md) to one. A tool's answer is a document"
            " (`structuredContent`) and the same in a few lines of text. What the table calls"
            f" {ADDED} is beyond the contract of the reference implementation."),
            *map(_tool, VERBS),
            "## The envelope of a search",
            _table(SEARCH_FIELDS),
            "**A result** of `results`:",
            _table(RESULT_FIELDS),
            (
                "**Reuse.** Where it is certain which context an answer goes to (the"
                " request's `_meta` names it by `triseek/context`, or by `session_id` and"
                " `agent_id`; or the client is no agent, and has one connection), it is told"
                " so when it asks again what it has been told and nothing has changed that"
                " matters: an edit, a new file, a rename or changed ignore rules that bear on"
                " the answer make it be searched again, and so does whatever is not known (no"
                " daemon, lost events, a restart), and any question with globs or types that"
                " may ask for ignored or hidden files. Instead of"
                " `routing_reason` and `freshness` the envelope has:"
            ),
            _table(REUSE_FIELDS),
            (
                "**After a resume.** A context that goes on with somebody's work has seen none of"
                " their answers. So after a resume of a snapshot under this root, by"
                " `session_resume` or by `triseek resume`, nothing that was answered before it is"
                " reused, and a question the snapshot's session had asked, by the same tool with"
                " the same arguments, is answered in full; beside that the envelope has the"
                " following, until another snapshot is resumed, or for a week:"
            ),
            _table(HYDRATED_FIELDS),
            "## The envelope of context_pack",
            "[What it holds and how it is chosen](../concepts/context-pack.md).",
            "## The envelope of index_status",
            _table(STATUS_FIELDS),
            "## The envelope of reindex",
            _table(REINDEX_FIELDS),
            "## The envelopes of the memo",
            (
                "[What the memo knows, and when it forgets](../concepts/memo.md). They have no"
                " `version`. The context is that of the call, where the client's hooks or its"
                " `_meta` say which (a tool call's id before a session's name), else that of"
                " `TRISEEK_SESSION_ID`, else the one that was last at work under this root; where"
                " several were within ten minutes, a file is `fresh` only if it is for each of"
                " them. `memo_status`:"
            ),
            _table(MEMO_STATUS_FIELDS),
            "`memo_check`:",
            _table(MEMO_CHECK_FIELDS),
            "`memo_session`:",
            _table(MEMO_SESSION_FIELDS),
            "## The envelopes of sessions",
            (
                "[What a session and a snapshot are](../concepts/sessions.md). They have no"
                " `version`. The current session is the one that this connection opened or resumed"
                " last, until it is closed or handed off. Without one, `session_status`,"
                " `session_snapshot` and `session_handoff` take the session of the repository that"
                " was opened last and is open; `session_close` takes none but the current one."
                " Every call of a tool is an entry of the current session's log, or of that open"
                " one's."
            ),
            _table(SESSION_FIELDS),
            ("`session_snapshot`, `session_handoff`, `session_snapshot_list`,"
            " `session_snapshot_get` and `session_snapshot_diff`:"),
            _table(SNAPSHOT_FIELDS),
            "`session_resume`:",
            _table(RESUME_FIELDS),
            "## Errors",
            ("`isError` is true, and the envelope is `version` and `error`: `code`, `message`,"
            " `retryable`, `suggested_action`. A tool that does not exist is an error of the"
            " protocol (-32602)."),
            _errors(),
            "## Limits",
            _limits(),
        )
    ) + "\n"  # fmt: skip


def _tool(verb: Verb) -> str:
    schema = schemas.input_schema(verb)
    required = schema.get("required", ())
    rows = [
        f"| `{name}`{'' if name in CONTRACT_ARGUMENTS else ' ' + ADDED} | {_kind(body)} "
        f"| {'required' if name in required else _default(body)} | {_meaning(verb, name, body)} |"
        for name, body in schema.get("properties", {}).items()
    ]
    head = "| argument | type | default | meaning |\n|---|---|---|---|\n"
    table = head + "\n".join(rows) if rows else "No arguments."
    changes = "" if verb.read_only else " It writes to the state folder, never to the tree."
    return (
        f"## {verb.name}\n\n{schemas.description(verb)}\n\n"
        f"Toolset `{verb.toolset}`.{changes}\n\n{table}"
    )


def _kind(body: Mapping[str, Any]) -> str:
    if "enum" in body:
        return ", ".join(f"`{one}`" for one in body["enum"])
    if body.get("type") == "array" and "properties" in body["items"]:
        return "list of objects: " + ", ".join(f"`{name}`" for name in body["items"]["properties"])
    if body.get("type") == "array":
        return f"list of {body['items'].get('type', 'any')}s"
    bounds = [f"{body[name]}" for name in ("minimum", "maximum") if name in body]
    return body.get("type", "any") + (f", {' to '.join(bounds)}" if len(bounds) == 2 else "")


def _default(body: Mapping[str, Any]) -> str:
    return f"`{json.dumps(body['default'])}`" if "default" in body else "–"


_OF_A_SNAPSHOT = dict.fromkeys(
    tools.SessionSnapshotRequest.__dataclass_fields__, "As in `session_snapshot`."
)


def _meaning(verb: Verb, name: str, body: Mapping[str, Any]) -> str:
    said = body.get("description") or (
        "As in `search_content`." if name in tools.ContentOptions.__dataclass_fields__
        and issubclass(verb.request, tools.ContentOptions) else _OF_A_SNAPSHOT.get(name, "")
    )  # fmt: skip
    return said.replace("\n", " ").replace("|", "\\|")


def _table(fields: Mapping[str, tuple[str, bool]]) -> str:
    rows = [
        f"| `{name}`{' ' + ADDED if added else ''} | {meaning} |"
        for name, (meaning, added) in fields.items()
    ]
    return "| field | what it is |\n|---|---|\n" + "\n".join(rows)


def _errors() -> str:
    rows = [
        f"| `{code}` | {when} | {envelopes.STEPS.get(code, '–')} |" for code, when in RAISED.items()
    ]
    return "| code | when | suggested |\n|---|---|---|\n" + "\n".join(rows)


def _limits() -> str:
    rows = {
        "results on a page": f"{tools.LIMIT}, at most {tools.LIMIT_MAX}",
        "`offset` and `limit` together": f"{REACH_MAX:,}",
        "characters of a preview": f"{envelopes.PREVIEW_MAX}, around what was found",
        "lines of context": f"{tools.CONTEXT_MAX} on each side",
        "tokens of an envelope, a quarter of its characters": f"{pages.BUDGET:,}; `token_budget`"
        f" {pages.BUDGET_MIN} to {pages.BUDGET_MAX:,}; what does not fit is the next page",
        "characters of an argument": f"{arguments.TEXT_MAX:,}",
        "characters of `query` and `patterns` together": f"{searching.QUERY_MAX:,}",
        "items of a list": f"{arguments.ITEMS_MAX:,}",
        "bytes of a message by standard input": f"{stdio.LINE_MAX:,}",
        "seconds of a search": f"{desk.DEADLINE_S:g}, then it says what it has found so far",
        "seconds until a tool that searches has answered": f"{server.LIMIT_S:g}, whatever holds it"
        " up",
        "tokens of a list among others in an answer about sessions": f"{session_pages.SOME:,} to"
        f" {session_pages.MANY:,}; the rest is counted in `omitted`",
        "snippets pinned at once": f"{snapshot.PINS_MAX}",
        "actions that wait for a daemon that is busy": f"{noting.QUEUE_MAX:,}",
        "characters of the instructions": f"{instructions.MOST:,}",
    }
    toolsets = ", ".join(f"`{name}`" for name in TOOLSETS)
    return (
        "| what | how much |\n|---|---|\n"
        + "\n".join(f"| {what} | {much} |" for what, much in rows.items())
        + f"\n\nToolsets: {toolsets}."
    )
