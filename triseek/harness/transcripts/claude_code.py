"""Claude Code's transcripts (as of 2.1.330).

One file a session, `<session>.jsonl`, and `<session>/subagents/agent-<id>.jsonl` for each of its
sub-agents. Rows are appended only; each names the one it follows by `parentUuid`, so that going
back (`/rewind`) makes a branch, and what is in view is the way from the last row to the root.
A row of the conversation has a `promptId`, which hooks are told as `prompt_id`: a way without it is
not the one that the agent is on, because its first row is still being written.

Compaction adds a row without a parent. What the agent clears in memory only is in no row, but it
also notes each request: `base` is the request before, of which `keep` messages were sent again.
If that is not all of them, something was taken away.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from triseek.harness.transcripts.entries import Entry, entries

if TYPE_CHECKING:
    from triseek.model.hook_event import HookEvent

_BULKY = (b'{"type":"api-request-shape"', b'{"type":"api-request-blob"', b'{"type":"file-history')
_AGENT = re.compile(r"[A-Za-z0-9_-]{1,200}")
_CUTS = ("compact_boundary", "microcompact_boundary")
_STUBS = ("<persisted-output>", "[Old tool result content cleared]", "<truncated-output>")


def in_view(event: HookEvent) -> frozenset[str] | None:
    """Ids of the uses whose outputs are in the context now; None where that cannot be told."""
    path = transcript(event)
    rows = entries(path, without=_BULKY) if path else None
    if not rows:
        return None
    way = _way(rows, sub_agent=bool(event.context.agent))
    if not _is_current(way, event):
        return None
    replaced = _replaced(rows)
    after = _last_cut(rows)
    held = [row for at, row in [*way, *_beside(rows, way)] if at > after]
    return frozenset(call for row in held for call in _results(row) if call not in replaced)


def transcript(event: HookEvent) -> str:
    """The file of the session, or of its sub-agent; "" if it is not known."""
    agent = event.context.agent
    if not agent or not event.transcript:
        return event.transcript
    if not _AGENT.fullmatch(agent) or not event.transcript.endswith(".jsonl"):
        return ""
    return f"{event.transcript.removesuffix('.jsonl')}/subagents/agent-{agent}.jsonl"


def _way(rows: list[Entry], *, sub_agent: bool) -> list[tuple[int, Entry]]:
    """The rows from the last to the first of the conversation, each with its place in the file."""
    known = {
        row["uuid"]: at
        for at, row in enumerate(rows)
        if isinstance(row.get("uuid"), str) and (sub_agent or row.get("isSidechain") is not True)
    }
    found: list[tuple[int, Entry]] = []
    at = max(known.values(), default=None)
    while at is not None:
        row = rows[at]
        found.append((at, row))
        if _ends(row):
            break
        above = known.get(_parent(row))
        at = above if above is not None and above < at else None  # parents are written first
    return found


def _beside(rows: list[Entry], way: list[tuple[int, Entry]]) -> list[tuple[int, Entry]]:
    """Outputs of uses that were asked for at once: each follows its own use, one is on the way."""
    on_way = {at for at, _ in way}
    messages = {name for _, row in way if (name := _message(row))}
    asked = {str(row.get("uuid")) for row in rows if _message(row) in messages}
    found = [
        (at, row)
        for at, row in enumerate(rows)
        if at not in on_way and row.get("type") == "user" and _parent(row) in asked
    ]
    times = Counter(call for row in rows for call in _calls(row, "tool_result", "tool_use_id"))
    return [(at, row) for at, row in found if all(times[call] == 1 for call in _results(row))]


def _parent(row: Entry) -> str:
    parent = row.get("parentUuid")
    return parent if isinstance(parent, str) else ""


def _message(row: Entry) -> str | None:
    """The message of the model that a row is a part of."""
    message = row.get("message")
    name = message.get("id") if isinstance(message, dict) else None
    return name if isinstance(name, str) and row.get("type") == "assistant" else None


def _ends(row: Entry) -> bool:
    """Whether what is above a row was made into it."""
    summary = row.get("isCompactSummary") is True or row.get("replacesSpan") is True
    return summary or row.get("subtype") in _CUTS


def _is_current(way: list[tuple[int, Entry]], event: HookEvent) -> bool:
    """Whether the agent is on this way now."""
    if event.context.agent:
        return bool(way)  # nobody goes back in a sub-agent
    call = event.use.call if event.use is not None else ""
    return any(
        (event.prompt_id and row.get("promptId") == event.prompt_id)
        or (call and call in _calls(row, "tool_use", "id"))
        for _, row in way
    )


def _last_cut(rows: list[Entry]) -> int:
    """The place of the last row above which nothing is sure to be in view."""
    lengths: dict[object, int] = {}
    cut = -1
    for at, row in enumerate(rows):
        if row.get("type") == "api-request":
            keep, tail = row.get("keep"), row.get("tail")
            if not isinstance(keep, int) or not isinstance(tail, list):
                cut = at
                continue
            if keep < lengths.get(str(row.get("base")), keep + 1):
                cut = at
            lengths[str(row.get("id"))] = keep + len(tail)
        elif _ends(row):
            cut = at
    return cut


def _results(row: Entry) -> list[str]:
    """The uses whose output a row holds, as it was."""
    return [call for call in _calls(row, "tool_result", "tool_use_id") if call]


def _calls(row: Entry, kind: str, name: str) -> list[str]:
    message = row.get("message")
    blocks = message.get("content") if isinstance(message, dict) else None
    if not isinstance(blocks, list):
        return []
    return [
        block[name]
        for block in blocks
        if isinstance(block, dict)
        and block.get("type") == kind
        and isinstance(block.get(name), str)
        and not _is_stub(block.get("content"))
    ]


def _is_stub(content: object) -> bool:
    """Whether the agent was left with less than the output."""
    if isinstance(content, str):
        return content.lstrip().startswith(_STUBS)
    if isinstance(content, list):
        return any(isinstance(each, dict) and _is_stub(each.get("text")) for each in content)
    return False


def _replaced(rows: list[Entry]) -> set[str]:
    """The uses whose outputs were taken out again."""
    return {
        str(each.get("toolUseId"))
        for row in rows
        if row.get("type") == "content-replacement" and isinstance(row.get("replacements"), list)
        for each in row["replacements"]
        if isinstance(each, dict)
    }
