"""The memo tools, as agents are offered them, and their answers as text for an agent."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from triseek.memo import handlers, requests, results
from triseek.model.plain_text import clipped
from triseek.model.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TEXT_MAX = 80
"""Most characters of a field that are shown in the first line."""


def digest(tool: str, _arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the plain fields in one line, then the state of each file, then the diff."""
    diff = answer.get("diff")
    plain = {
        name: value for name, value in sorted(answer.items())
        if isinstance(value, (str, int, float)) and name != "diff"
    }  # fmt: skip
    fields = " · ".join(
        f"{name}={_json(clipped(value, TEXT_MAX) if isinstance(value, str) else value)}"
        for name, value in plain.items()
    )
    yield f"{tool}: {fields or _json(answer)}"
    for result in answer.get("results", ()):
        yield f"  {result['path']}: {result['status']} — {result['message']}"
    for file in answer.get("files", ()):
        yield f"  {file['path']}: {file['status']}, {file['reads']}x, {file['tokens']:,} tokens"
    if diff:
        yield ""
        yield diff.rstrip("\n")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


_tool = partial(Tool, toolset="memo", digest=digest)

TOOLS: tuple[Tool, ...] = (
    _tool(
        name="memo_status",
        title="What you have of files",
        request=requests.MemoStatusRequest,
        results=(results.MemoStatusAnswer,),
        listed="session_id results.path results.status results.tokens results.read_count "
        "results.message results.current_tokens",
        answer=handlers.status,
        kind="memo_status",
    ),
    _tool(
        name="memo_session",
        title="What you have read",
        request=requests.MemoSessionRequest,
        results=(results.MemoSessionAnswer,),
        listed="session_id tracked_files total_reads redundant_reads_prevented tokens_saved "
        "compaction_count files.path files.status files.reads files.tokens",
        answer=handlers.session,
        kind="memo_session",
    ),
    _tool(
        name="memo_check",
        title="Whether to read a file again",
        request=requests.MemoCheckRequest,
        results=(results.MemoCheckAnswer,),
        listed="path status recommendation tokens_at_last_read current_tokens "
        "last_read_ago_seconds diff",
        answer=handlers.check,
        kind="memo_check",
    ),
)
"""In the order in which they are listed."""
