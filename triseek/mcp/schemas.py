"""The tools as clients list them: schemas of arguments and answers, small enough to carry along."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from triseek.model import tools
from triseek.model.context_pack import BUDGET_TOKENS_MAX, FILES_MAX, INTENTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.service.verbs import Verb

_BOUNDS: Mapping[str, Mapping[str, Any]] = {
    "limit": {"minimum": 1, "maximum": tools.LIMIT_MAX},
    "offset": {"minimum": 0},
    "context": {"minimum": 0, "maximum": tools.CONTEXT_MAX},
    "budget_tokens": {"minimum": 1, "maximum": BUDGET_TOKENS_MAX},
    "max_files": {"minimum": 1, "maximum": FILES_MAX},
    "intent": {"enum": list(INTENTS)},
}
"""What agents are asked to keep to; what lies beyond is taken as the nearest within."""
_BOUNDS_OF: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("session_resume", "budget_tokens"): {
        "minimum": tools.RESUME_TOKENS_MIN, "maximum": tools.RESUME_TOKENS_MAX,
    },
}  # fmt: skip
"""Those of one tool's argument."""
_FRESHNESS = {"enum": ["fresh", "stale", "unknown"]}
_TEXT, _WHOLE, _FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}


def _object(**properties: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON schema
    return {"type": "object", "properties": properties}


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


_SEARCHED = _object(
    version=_TEXT, repo_root=_TEXT, strategy=_TEXT, fallback_used=_FLAG, routing_reason=_TEXT,
    cache={"enum": ["hit", "miss", "bypass"]}, search_id=_TEXT, freshness=_TEXT,
    files_with_matches=_WHOLE, total_line_matches=_WHOLE,
    results=_list(
        _object(
            path=_TEXT, reason=_TEXT, count=_WHOLE,
            matches=_list(_object(line=_WHOLE, column=_WHOLE, preview=_TEXT)),
        )
    ),
    results_omitted=_FLAG, truncated=_FLAG, next_offset=_WHOLE,
)  # fmt: skip
_FOUND = _object(
    version=_TEXT, results=_list(_object(path=_TEXT, reason=_TEXT)), search_id=_TEXT,
    results_omitted=_FLAG, truncated=_FLAG, next_offset=_WHOLE,
)  # fmt: skip
_ANY = {"type": "object"}
_SESSION = _object(session=_ANY)
_CAPTURED = _object(snapshot_id=_TEXT, snapshot_dir=_TEXT, manifest=_ANY)
_ANSWERS: Mapping[str, dict[str, Any]] = {
    "find_files": _FOUND,
    "search_content": _SEARCHED,
    "search_path_and_content": _SEARCHED,
    "context_pack": _object(
        version=_TEXT, estimated_tokens=_WHOLE, truncated=_FLAG,
        items=_list(_object(path=_TEXT, score={"type": "number"}, reasons=_list(_TEXT))),
        suggested_next_steps=_list(_TEXT),
    ),
    "index_status": _object(
        version=_TEXT, index_present=_FLAG, index_fresh=_FLAG, indexed_files=_WHOLE,
        routing_hint=_TEXT,
    ),
    "memo_status": _object(
        session_id=_TEXT,
        results=_list(
            _object(
                path=_TEXT, status=_FRESHNESS, tokens=_WHOLE, read_count=_WHOLE, message=_TEXT,
                current_tokens=_WHOLE,
            )
        ),
    ),
    "memo_session": _object(
        session_id=_TEXT, tracked_files=_WHOLE, total_reads=_WHOLE,
        redundant_reads_prevented=_WHOLE, tokens_saved=_WHOLE, compaction_count=_WHOLE,
        files=_list(_object(path=_TEXT, status=_FRESHNESS, reads=_WHOLE, tokens=_WHOLE)),
    ),
    "memo_check": _object(
        path=_TEXT, status=_FRESHNESS,
        recommendation={"enum": ["skip_reread", "reread_with_diff", "reread"]},
        tokens_at_last_read=_WHOLE, current_tokens=_WHOLE, last_read_ago_seconds=_WHOLE,
        diff=_TEXT,
    ),
    "session_open": _SESSION,
    "session_status": _object(session=_ANY, action_log_size=_WHOLE),
    "session_list": _object(sessions=_list(_ANY)),
    "session_close": _SESSION,
    "session_snapshot": _CAPTURED,
    "session_handoff": _CAPTURED,
    "session_snapshot_list": _object(snapshots=_list(_ANY)),
    "session_snapshot_get": _object(snapshot=_ANY),
    "session_snapshot_diff": _object(diff=_ANY),
    "session_resume": _object(
        session_id=_TEXT, payload_markdown=_TEXT, payload_token_estimate=_WHOLE,
        hydration_report=_ANY, searches=_list(_ANY),
    ),
    "reindex": _object(version=_TEXT, completed=_FLAG, rebuilt_full=_FLAG, indexed_files=_WHOLE),
}  # fmt: skip


def input_schema(verb: Verb) -> dict[str, Any]:
    """The arguments of a tool."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(verb.request).json_schema()
    told = _inherited(verb)
    properties = {
        name: {**_property(name, body, told), **_BOUNDS_OF.get((verb.name, name), {})}
        for name, body in _ordered(_spelled_out(schema), verb)
    }
    found = {"type": "object", "properties": properties, "additionalProperties": False}
    if not properties:
        del found["properties"]
    if schema.get("required"):
        found["required"] = schema["required"]
    return found


def _spelled_out(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The properties of a schema, without references: not every client follows them."""
    named = schema.get("$defs", {})
    properties = {}
    for name, body in schema["properties"].items():
        reference = body.get("items", {}).get("$ref", "").rpartition("/")[2]
        properties[name] = {**body, "items": _item(named[reference])} if reference else body
    return properties


def _item(schema: Mapping[str, Any]) -> dict[str, Any]:
    """An object in a list; the names of its fields have to say what they are."""
    fields = {name: {"type": body["type"]} for name, body in schema["properties"].items()}
    return {"type": "object", "properties": fields, "required": schema["required"]}


def output_schema(verb: Verb) -> dict[str, Any]:
    """What a tool answers. An error has `version` and `error`, so no more than that is promised."""
    answer = _ANSWERS[verb.name]
    return {**answer, "required": ["version"]} if "version" in answer["properties"] else answer


def description(verb: Verb) -> str:
    """What an agent is told a tool is for."""
    return inspect.cleandoc(verb.request.__doc__ or "")


def _ordered(properties: Mapping[str, Any], verb: Verb) -> list[tuple[str, Any]]:
    """A tool's own arguments before those it shares with others."""
    shared = _shared(verb)
    return sorted(properties.items(), key=lambda item: item[0] in shared)


def _shared(verb: Verb) -> frozenset[str]:
    is_content = issubclass(verb.request, tools.ContentOptions)
    return frozenset(tools.ContentOptions.__dataclass_fields__) if is_content else frozenset()


def _inherited(verb: Verb) -> Mapping[str, str]:
    """Descriptions of shared arguments; told once, for the tool that comes first."""
    from pydantic import TypeAdapter

    if verb.request is not tools.SearchContentRequest:
        return {}
    schema = TypeAdapter(tools.ContentOptions).json_schema()
    return {name: body["description"] for name, body in schema["properties"].items()}


def _property(name: str, body: Mapping[str, Any], told: Mapping[str, str]) -> dict[str, Any]:
    kept = {key: value for key, value in body.items() if key != "title" and value not in ("", [])}
    if name in told:
        kept["description"] = told[name]
    return {**kept, **_BOUNDS.get(name, {})}
