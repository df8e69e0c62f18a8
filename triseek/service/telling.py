"""What is noted of a tool's call: enough to go on with the work, and no contents of files."""

from __future__ import annotations

import json
import os
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

PATHS_MAX = 20
"""Paths of an answer that are noted with the action."""
ARGUMENT_MAX = 500
"""Characters of an argument that are."""
PATH_MAX = 4_096
_ALSO = ("search_id", "cache", "files_with_matches", "total_line_matches", "recommendation")
_BY_THE_DAEMON = frozenset(("session_open", "session_close", "session_resume"))


def payload(
    root: str,
    tool: str,
    given: Mapping[str, Any],
    envelope: Mapping[str, Any],
    who: Mapping[str, str],
) -> dict[str, Any]:
    """What a call is noted as: its arguments, and of its answer the paths and counts."""
    results = envelope.get("results") or envelope.get("items") or ()
    noted: dict[str, Any] = {
        "tool": tool,
        "arguments": arguments(given),
        "result_paths": [result["path"] for result in results[:PATHS_MAX]],
    }
    if tool == "memo_check" and isinstance(given.get("path"), str):
        noted["path"] = os.path.join(root, given["path"])[:PATH_MAX]  # noqa: PTH118
    noted.update((name, envelope[name]) for name in _ALSO if name in envelope)
    if tool == "find_files":
        noted.pop("total_line_matches", None)  # 0 always: it would say that nothing was found
    if "error" in envelope:
        noted["error"] = envelope["error"]["code"]
    if who.get("harness"):
        noted["harness"] = who["harness"]
    return noted


def arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as they are noted: texts not too long, lists as JSON and not too long either."""
    return {name: _clipped(value) for name, value in given.items()}


def chosen(request: Any) -> dict[str, Any]:  # noqa: ANN401 - any verb's request
    """The arguments of a request that are not what they would be without anybody's choice."""
    from dataclasses import asdict

    meant = asdict(request)
    return {
        one.name: meant[one.name]
        for one in fields(request)
        if one.default is MISSING or meant[one.name] != one.default
    }


def session_of(envelope: Mapping[str, Any]) -> str:
    """The work session that an answer is about, where it is about one."""
    for part in (envelope.get("session"), envelope.get("manifest")):
        if isinstance(part, dict) and part.get("session_id"):
            return str(part["session_id"])
    return ""


def is_noted_elsewhere(tool: str, envelope: Mapping[str, Any]) -> bool:
    """Whether the daemon itself has noted a call."""
    return tool in _BY_THE_DAEMON and "error" not in envelope


def _clipped(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return value[:ARGUMENT_MAX]
    if isinstance(value, (bool, int, float)) or value is None:
        return value
    return json.dumps(value)[:ARGUMENT_MAX]
