"""The page of the MCP tools, made from the table of tools, their schemas and their docstrings."""

from __future__ import annotations

import ast
import inspect
import itertools
import json
from typing import TYPE_CHECKING, Any, get_type_hints

from triseek.agents.registry import AGENTS
from triseek.app import arguments
from triseek.app.registry import TOOLS
from triseek.app.wings import TOOLSETS
from triseek.engine.ranking.ranked import REACH_MAX
from triseek.errors import TriseekError
from triseek.mcp import instructions, schemas, tool_handlers, wire_lines
from triseek.memo import results as memo_results
from triseek.search import envelopes, requests, results, searching
from triseek.sessions import results as session_results
from triseek.sessions import session_pages, snapshot
from triseek.sessions.requests import SessionSnapshotRequest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from triseek.model.tool import Tool

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
MEMORY_ARGUMENTS: Mapping[str, str] = {
    "memory_remember": "palace text room tags",
    "memory_recall": "palace query top_k",
    "memory_recall_deep": "palace query top_k",
    "palace_create": "name description",
    "kg_assert": "palace subject predicate object confidence provenance",
    "kg_query": "palace subject",
    "memory_list": "palace room tag limit",
    "memory_forget": "palace drawer_id",
    "palace_info": "palace",
}
"""Those of the memory's contract, by tool."""


DESCRIBED: set[type] = set()
"""Results with a table of their own in a section of the page."""


def _fields(*types: type) -> Mapping[str, tuple[str, bool]]:
    """The fields that results declare themselves: what each is, and whether it was added."""
    DESCRIBED.update(types)
    return {name: field for one in types for name, field in _declared(one).items()}


def _declared(one: type) -> Mapping[str, tuple[str, bool]]:
    body = ast.parse(inspect.getsource(one)).body[0].body
    hints = get_type_hints(one, include_extras=True)
    found = {}
    for field, said in itertools.pairwise(body):
        match field, said:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=text)):
                metadata = getattr(hints[name], "__metadata__", ())
                found[name] = (" ".join(text.split()), results.ADDED in metadata)
    return found


SEARCH_FIELDS = _fields(
    results.AnswerHead,
    results.Routed,
    results.Executed,
    results.MatchCounts,
    results.SearchAnswer,
    results.Remarks,
    results.Nothing,
)
RESULT_FIELDS = _fields(results.SearchResult) | {
    f"matches[].{name}": field for name, field in _fields(results.MatchLine).items()
}
REUSE_FIELDS = _fields(results.ReusedAnswer)
HYDRATED_FIELDS = _fields(results.HydratedAnswer)
STATUS_FIELDS = _fields(results.IndexStatusAnswer)
REINDEX_FIELDS = _fields(results.ReindexAnswer)
MEMO_STATUS_FIELDS = _fields(
    memo_results.MemoStatusAnswer, memo_results.MemoFile, memo_results.MemoCounts
)
MEMO_CHECK_FIELDS = _fields(memo_results.MemoCheckAnswer)
MEMO_SESSION_FIELDS = _fields(memo_results.MemoSessionAnswer)
SESSION_FIELDS = _fields(
    session_results.SessionAnswer,
    session_results.SessionListAnswer,
    session_results.SessionStatusAnswer,
    session_results.SessionRecord,
)
SNAPSHOT_FIELDS = _fields(
    session_results.SnapshotAnswer,
    session_results.HandoffAnswer,
    session_results.SnapshotListAnswer,
    session_results.SnapshotGetAnswer,
    session_results.SnapshotDiffAnswer,
)
RESUME_FIELDS = _fields(session_results.ResumeAnswer)
FIELDS = (
    SEARCH_FIELDS, RESULT_FIELDS, REUSE_FIELDS, HYDRATED_FIELDS, STATUS_FIELDS, REINDEX_FIELDS,
)  # fmt: skip
MEMO_FIELDS = (MEMO_STATUS_FIELDS, MEMO_CHECK_FIELDS, MEMO_SESSION_FIELDS)
SESSIONS_FIELDS = (SESSION_FIELDS, SNAPSHOT_FIELDS, RESUME_FIELDS)

RAISED: Mapping[str, str] = {
    "INDEX_UNAVAILABLE": "`reindex` and `index_status` cannot use an index that is damaged or of a"
    " later version. Searches use another backend instead",
    "INDEX_STALE": "never by a search: what changed since the index is searched directly",
    "INVALID_QUERY": "an argument is missing, unknown, contradicts another or cannot be understood:"
    " a pattern, a glob, a type, a path outside of the root or of nothing, an id of no session or"
    " snapshot; or no session is open and none is named",
    "REPO_NOT_DETECTED": "the root is not there (any more)",
    "BACKEND_FAILURE": "something failed that may work later: another process is writing the"
    " index, the state folder cannot be written, no daemon runs for a tool of the memo or of"
    " sessions, a bug (its traceback is on standard error)",
    "FALLBACK_FAILURE": "every backend failed",
    "CONFIG_WRITE_FAILED": "not by these tools",
    "CLIENT_NOT_INSTALLED": "not by these tools",
}


def _shown_forms() -> str:
    """The table of what each agent shows its model of an answer that has both forms."""
    rows = [
        f"| {agent.title} | {agent.shown_form} | {agent.shown_form_evidence} |"
        for agent in AGENTS
        if agent.shown_form
    ]
    return "\n".join(["| agent | of both its model sees | seen in |", "|---|---|---|", *rows])


def page() -> str:
    return "\n\n".join(
        (
            "# MCP tools",
            ("What `triseek mcp serve` offers to agents; [how to add it](../guides/"
            "search-from-an-agent.md) to one. A tool's answer is a document"
            " (`structuredContent`) and the same in a few lines of text. What the table calls"
            f" {ADDED} is beyond the contract of the reference implementation."),
            *map(_tool, TOOLS),
            "## What a model sees",
            (
                "Of an answer in both forms, some agents show their model the document instead of"
                " the text, or both, and this has changed between versions. So the agents below get"
                " the text alone, and their tools are listed without output schemas: the text has"
                " what a model needs, in half of the tokens. All others get both forms; with the"
                " [setting](configuration.md) `mcp.structured = \"full\"`, everybody does."
            ),
            _shown_forms(),
            "## The envelope of a search",
            _table(SEARCH_FIELDS),
            "**A result** of `results`:",
            _table(RESULT_FIELDS),
            (
                "**Reuse.** Where it is certain which context an answer goes to, it is told"
                " so when it asks again what it has been told and nothing has changed that"
                " matters. It is certain where the request's `_meta` names the context by"
                " `triseek/context`, or by `session_id` and `agent_id`; where the client is no"
                " agent, and has one connection; and where an agent's hooks and its own record"
                " [prove](../guides/search-from-an-agent.md#what-has-been-told-is-not-told-again)"
                " that the earlier answer is still in view. An edit, a new file, a rename or"
                " changed ignore rules that bear on the answer make it be searched again, and so"
                " does whatever is not known (no daemon, lost events, a restart), and any"
                " question with globs or types that may ask for ignored or hidden files. Instead of"
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


def _tool(tool: Tool) -> str:
    schema = schemas.input_schema(tool)
    required = schema.get("required", ())
    rows = [
        f"| `{name}`{_added(tool, name)} | {_kind(body)} "
        f"| {'required' if name in required else _default(body)} | {_meaning(tool, name, body)} |"
        for name, body in schema.get("properties", {}).items()
    ]
    head = "| argument | type | default | meaning |\n|---|---|---|---|\n"
    table = head + "\n".join(rows) if rows else "No arguments."
    changes = "" if tool.read_only else " It writes to the state folder, never to the tree."
    answers = [_table(_declared(result)) for result in tool.results if result not in DESCRIBED]
    return "\n\n".join(
        (
            f"## {tool.name}",
            schemas.description(tool),
            f"Toolset `{tool.toolset}`.{changes}",
            table,
            *(f"Its answer:\n\n{answer}" for answer in answers),
        )
    )


def _added(tool: Tool, name: str) -> str:
    contract: Collection[str] = CONTRACT_ARGUMENTS
    if tool.toolset == "workflows":  # the four tools are as zoekt-mcp has them
        return ""
    if tool.toolset == "memory":
        contract = MEMORY_ARGUMENTS.get(tool.name, "").split()
    return "" if name in contract else f" {ADDED}"


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
    SessionSnapshotRequest.__dataclass_fields__, "As in `session_snapshot`."
)


def _meaning(tool: Tool, name: str, body: Mapping[str, Any]) -> str:
    said = body.get("description") or (
        "As in `search_content`." if name in requests.ContentOptions.__dataclass_fields__
        and issubclass(tool.request, requests.ContentOptions) else _OF_A_SNAPSHOT.get(name, "")
    )  # fmt: skip
    return said.replace("\n", " ").replace("|", "\\|")


def _table(fields: Mapping[str, tuple[str, bool]]) -> str:
    rows = [
        f"| `{name}`{' ' + ADDED if added else ''} | {meaning} |"
        for name, (meaning, added) in fields.items()
    ]
    return "| field | what it is |\n|---|---|\n" + "\n".join(rows)


def _errors() -> str:
    kinds = {kind.code: kind for kind in TriseekError.__subclasses__()}
    rows = [
        f"| `{code}` | {when} | {kinds[code].tool_step if 'not by' not in when else '–'} |"
        for code, when in RAISED.items()
    ]
    return "| code | when | suggested |\n|---|---|---|\n" + "\n".join(rows)


def _limits() -> str:
    rows = {
        "results on a page": f"{requests.LIMIT}, at most {requests.LIMIT_MAX}",
        "`offset` and `limit` together": f"{REACH_MAX:,}",
        "characters of a preview": f"{envelopes.PREVIEW_MAX}, around what was found",
        "lines of context": f"{requests.CONTEXT_MAX} on each side",
        "tokens of an envelope, a quarter of its bytes": f"{envelopes.BUDGET:,}; `token_budget`"
        f" {envelopes.BUDGET_MIN} to {envelopes.BUDGET_MAX:,}; what does not fit is the next page",
        "characters of an argument": f"{arguments.TEXT_MAX:,}",
        "characters of `query` and `patterns` together": f"{searching.QUERY_MAX:,}",
        "items of a list": f"{arguments.ITEMS_MAX:,}",
        "bytes of a message by standard input": f"{wire_lines.LINE_MAX:,}",
        "seconds of a search": f"{envelopes.DEADLINE_S:g}, then it says what it has found so far",
        "seconds until a tool that searches has answered": f"{tool_handlers.LIMIT_S:g}, "
        "whatever holds it up",
        "tokens of a list among others in an answer about sessions": f"{session_pages.SOME:,} to"
        f" {session_pages.MANY:,}; the rest is counted in `omitted`",
        "snippets pinned at once": f"{snapshot.PINS_MAX}",
        "characters of the instructions": f"{instructions.INSTRUCTIONS_MAX:,}",
    }
    toolsets = ", ".join(f"`{name}`" for name in TOOLSETS)
    return (
        "| what | how much |\n|---|---|\n"
        + "\n".join(f"| {what} | {much} |" for what, much in rows.items())
        + f"\n\nToolsets: {toolsets}."
    )
