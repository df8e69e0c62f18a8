"""Descriptions of log entries in words: who did it, and what.

The words quote the log unescaped. The caller has to make them safe for the screen it shows them on.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from triseek.agents.registry import NAME_MAX
from triseek.sessions.working_set import search_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.model.session import LogEntry

WHAT_MAX = 240
"""Maximum characters of the description of what was done."""
NOBODY = "-"

_RESULTS_MAX = 3
_SHORT_MAX, _CONVERSATION_MAX = 8, 200


def harness(entry: LogEntry) -> str:
    """Return the agent that did it; `NOBODY` if not recorded."""
    name = entry.payload.get("harness")
    return name[:NAME_MAX] if isinstance(name, str) and name else NOBODY


def conversation(entry: LogEntry) -> str:
    """Return the name of the agent's conversation that did it; "" if not recorded."""
    name = entry.payload.get("conversation")
    return name[:_CONVERSATION_MAX] if isinstance(name, str) else ""


def who(entry: LogEntry) -> str:
    """Return the agent, and the beginnings of its conversation's name and its sub-agent's."""
    lead, _, name = conversation(entry).partition("/")
    parts = (name or lead).split("/")
    return "/".join([harness(entry), *(part[:_SHORT_MAX] for part in parts if part)])


def what(entry: LogEntry) -> str:
    """Describe what was done, on one line of at most `WHAT_MAX` characters."""
    words = _TOLD.get(entry.kind, _of_tool)(entry)
    line = " ".join(words[: 4 * WHAT_MAX].split())
    return line if len(line) <= WHAT_MAX else line[: WHAT_MAX - 1] + "…"


def _file(entry: LogEntry) -> str:
    payload = entry.payload
    if payload.get("outside") is True:
        return "(outside of the repository)"
    first, last = payload.get("line_start"), payload.get("line_end")
    lines = f":{first}-{last}" if type(first) is int and type(last) is int else ""
    return f"{text_of(payload.get('path')) or '?'}{lines}"


def _denied(entry: LogEntry) -> str:
    tokens = tokens_of(entry)
    return f"{_file(entry)}, which was in view" + (f" ({tokens:,} tokens)" if tokens else "")


def tokens_of(entry: LogEntry) -> int:
    """Return the number of tokens that were not read, as recorded with a refusal."""
    count = entry.payload.get("tokens")
    return count if type(count) is int and 0 <= count < 1 << 40 else 0


def _search(entry: LogEntry) -> str:
    run = search_of(entry)
    if run is None:
        return _of_tool(entry)
    some = ", ".join(run.result_paths[:_RESULTS_MAX])
    more = len(run.result_paths) - _RESULTS_MAX
    rest = f" and {more} more" if more > 0 else ""
    results = f"{some}{rest}" or ("nothing" if run.matches == 0 else "")
    return f"{run.query} ({run.kind})" + (f" → {results}" if results else "")


def _session(entry: LogEntry) -> str:
    record = entry.payload.get("session")
    session: Mapping[str, Any] = record if isinstance(record, dict) else {}
    if entry.kind == "session_close":
        return text_of(session.get("status"))
    return text_of(session.get("goal")) or "(no goal)"


def _of_tool(entry: LogEntry) -> str:
    """Describe a call of another tool, with its arguments."""
    payload = entry.payload
    arguments = payload.get("arguments")
    values = arguments if isinstance(arguments, dict) else {}
    shown = json.dumps(values, ensure_ascii=False) if values else text_of(payload.get("omitted"))
    name = text_of(payload.get("tool"))
    return " ".join(filter(None, (name if name != entry.kind else "", shown)))


_TOLD: Mapping[str, Callable[[LogEntry], str]] = {
    "read": _file,
    "edit": _file,
    "memo_check": _file,
    "read_denied": _denied,
    "search": _search,
    "prompt": lambda entry: text_of(entry.payload.get("prompt")),
    "compact": lambda entry: text_of(entry.payload.get("source")),
    "session_open": _session,
    "session_close": _session,
}
