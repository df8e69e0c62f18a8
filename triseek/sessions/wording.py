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


def _record(entry: LogEntry) -> Mapping[str, Any]:
    record = entry.payload.get("session")
    return record if isinstance(record, dict) else {}


def _opened(entry: LogEntry) -> str:
    record = _record(entry)
    goal = text_of(record.get("goal"))
    begun = "begun by a prompt" if record.get("by_itself") is True else "opened"
    return f"{begun}: {goal}" if goal else f"{begun} (no goal)"


def _resumed(entry: LogEntry) -> str:
    return f"resumed from snapshot {text_of(entry.payload.get('snapshot_id')) or '?'}"


def _handed_off(entry: LogEntry) -> str:
    target = text_of(entry.payload.get("to"))
    to = f" to {target}" if target else ""
    return f"handed off{to} as snapshot {text_of(entry.payload.get('snapshot_id')) or '?'}"


def _command(entry: LogEntry) -> str:
    folder = text_of(entry.payload.get("folder"))
    where = f" in {folder}" if folder else ""
    return f"{text_of(entry.payload.get('command'))}{where}: {_outcome(entry.payload)}"


def _outcome(payload: Mapping[str, Any]) -> str:
    status, failed = payload.get("exit_status"), payload.get("failed")
    if type(status) is int:
        return f"exit status {status}"
    if isinstance(failed, bool):
        return "failed" if failed else "succeeded"
    return "how it ended is not known"


def _of_tool(entry: LogEntry) -> str:
    """Describe a call of another tool, with its arguments."""
    payload = entry.payload
    arguments = payload.get("arguments")
    values = arguments if isinstance(arguments, dict) else {}
    shown = ", ".join(f"{name} {_value(value)}" for name, value in values.items())
    name = text_of(payload.get("tool"))
    words = [name if name != entry.kind else "", shown or text_of(payload.get("omitted"))]
    error = text_of(payload.get("error"))
    return " ".join(filter(None, [*words, f"({error})" if error else ""]))


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_TOLD: Mapping[str, Callable[[LogEntry], str]] = {
    "read": _file,
    "edit": _file,
    "memo_check": _file,
    "read_denied": _denied,
    "search": _search,
    "command": _command,
    "command_status": lambda entry: f"the command ended: {_outcome(entry.payload)}",
    "prompt": lambda entry: text_of(entry.payload.get("prompt")),
    "compact": lambda entry: text_of(entry.payload.get("source")),
    "session_open": _opened,
    "session_close": lambda entry: f"closed as {text_of(_record(entry).get('status')) or '?'}",
    "session_resume": _resumed,
    "session_handoff": _handed_off,
}
