"""The record of a tool's call: enough to go on with the work, without contents of files."""

from __future__ import annotations

import json
import os
from dataclasses import MISSING, asdict, fields
from typing import TYPE_CHECKING, Any

from triseek.redaction import redact_json

if TYPE_CHECKING:
    from collections.abc import Mapping

PATHS_MAX = 20
"""Most paths of an answer that are recorded."""
ARGUMENT_MAX = 500
"""Most characters of an argument that are recorded."""
PATH_MAX = 4_096
_ALSO = ("search_id", "cache", "files_with_matches", "total_line_matches", "recommendation")
_KEPT_ELSEWHERE = {
    "remember": ("text", "title"), "supersede": ("text", "title"),
    "memory_remember": ("text",), "memory_update": ("text",),
}  # fmt: skip
"""Arguments by tool that are not recorded: the history or the memory keeps them, and may be told to
forget."""
_BY_THE_DAEMON = frozenset(("session_open", "session_close", "session_resume", "session_handoff"))


def payload(
    root: str,
    tool: str,
    request_arguments: Mapping[str, Any],
    envelope: Mapping[str, Any],
    who: Mapping[str, str],
) -> dict[str, Any]:
    """Return the record of a call: its arguments, and the paths and counts of its answer."""
    results = envelope.get("results") or envelope.get("items") or ()
    left_out = _KEPT_ELSEWHERE.get(tool, ())
    recorded = {name: value for name, value in request_arguments.items() if name not in left_out}
    record: dict[str, Any] = {
        "tool": tool,
        "arguments": arguments(recorded),
        # Results of the history are records of conversations: they have no path.
        "result_paths": [result["path"] for result in results[:PATHS_MAX] if "path" in result],
    }
    if tool == "memo_check" and isinstance(request_arguments.get("path"), str):
        record["path"] = os.path.join(root, request_arguments["path"])[:PATH_MAX]  # noqa: PTH118
    record.update((name, envelope[name]) for name in _ALSO if name in envelope)
    if tool == "find_files":
        record.pop("total_line_matches", None)  # always 0: it would mean that nothing was found
    if "error" in envelope:
        record["error"] = envelope["error"]["code"]
    if who.get("harness"):
        record["harness"] = who["harness"]
    return record


def arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as they are recorded: texts cut to length, lists as JSON cut likewise.

    Secrets are removed before: half of one would not be recognized any more.
    """
    return {name: _clipped(value) for name, value in redact_json(dict(values)).items()}


def explicit_arguments(request: Any) -> dict[str, Any]:  # noqa: ANN401 - any verb's request
    """Return the arguments of a request that differ from their defaults."""
    values = asdict(request)
    return {
        field.name: values[field.name]
        for field in fields(request)
        if field.default is MISSING or values[field.name] != field.default
    }


def session_of(envelope: Mapping[str, Any]) -> str:
    """Return the id of the work session that an answer is about; "" if there is none."""
    for part in (envelope.get("session"), envelope.get("manifest")):
        if isinstance(part, dict) and part.get("session_id"):
            return str(part["session_id"])
    return ""


def is_noted_elsewhere(tool: str, envelope: Mapping[str, Any]) -> bool:
    """Whether the daemon itself has recorded a call."""
    return tool in _BY_THE_DAEMON and "error" not in envelope


def _clipped(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return value[:ARGUMENT_MAX]
    if isinstance(value, (bool, int, float)) or value is None:
        return value
    return json.dumps(value)[:ARGUMENT_MAX]
