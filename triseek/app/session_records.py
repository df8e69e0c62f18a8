"""Reads the entries of session logs as records of conversations, for the history.

An entry that a hook has reported names its agent and conversation. A call of one of triseek's own
tools may name none: it belongs to the conversation that the log's earlier entries name, else to one
with the id of the session. The uses of a sub-agent belong to the conversation that began it.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from triseek.agents.payloads.fields import Fields
from triseek.agents.registry import AGENTS, READ_ONLY, recorded_name
from triseek.history.importing.precedence import OWN
from triseek.model.conversation import Conversation, Edit, Message, ToolEvent
from triseek.model.snapshot import inner_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from triseek.model.conversation import Record
    from triseek.model.session import LogEntry

_DEFINES = ("session_open", "session_close", "session_resume")
_OF_SESSION = (*_DEFINES, "session_handoff")
"""Kinds of entries that are about the session, and belong to no conversation."""
_LEFT_OUT = ("compact", "read_denied")
"""Kinds that are no message and no use of a tool."""
_ID_MAX, _ROOT_MAX = 512, 4_096
_SECONDS_MAX = 1 << 40
_NAMED = "session/"
"""How the conversation of an entry begins if it is an agent's own id."""


def history_name(harness: str) -> str:
    """Return the history's name of an agent, in any spelling; "" for no name."""
    recorded = recorded_name(harness) or ""
    plain = recorded.replace("_", "-").replace("/", "-")
    names = {agent.handoff_name: agent.name for agent in AGENTS if agent.handoff_name}
    known = {agent.name for agent in (*AGENTS, *READ_ONLY)}
    return names.get(recorded) or (plain if plain in known else recorded.replace("/", "-"))


class SessionRecords:
    """Turns the entries of one session's log, in their order, into records.

    The records name a conversation `agent/id`.
    """

    def __init__(self, session_id: str, state: Mapping[str, str] | None = None) -> None:
        """Go on where an earlier reader of the same log was.

        Args:
            session_id: The session.
            state: The earlier reader's `state`; None at the log's beginning.
        """
        self._session_id = session_id
        self.state = dict(state or {})
        """What the reader knows. It is replaced, not changed, so that a mark can hold it."""
        self._begun: set[str] = set()

    def conversation(self, entry: LogEntry) -> tuple[str, str] | None:
        """Return the agent and its id of the conversation that an entry belongs to.

        None for an entry that is about the session itself. Every entry has to be passed, in order.
        """
        if entry.kind in _DEFINES:
            self._define(Fields(entry.payload).inner("session"))
        if entry.kind in _OF_SESSION:
            return None
        fields = Fields(entry.payload)
        agent = history_name(fields.text("harness"))
        name = _id(fields.text("conversation"))
        if name:
            agent = agent or OWN
            self._remember(**{f"last {agent}": name, "last": f"{agent}/{name}"})
            return agent, name
        if agent:
            return agent, self.state.get(f"last {agent}", self._session_id)
        last_agent, _, last = self.state.get("last", f"{OWN}/{self._session_id}").partition("/")
        return last_agent, last

    def of(self, entry: LogEntry) -> Iterator[Record]:
        """Yield the records of the next entry."""
        key = self.conversation(entry)
        if key is None or entry.kind in _LEFT_OUT:
            return
        name = "/".join(key)
        time_ms = entry.ts * 1_000 if entry.ts < _SECONDS_MAX else 0
        record = self._record(name, entry, time_ms)
        if record is None:
            return
        if name not in self._begun:
            self._begun.add(name)
            yield Conversation(id=name, cwd=self.state.get("root", ""), started_ms=time_ms)
        yield record

    def _define(self, session: Fields) -> None:
        """Learn from an entry that opens, resumes or closes the session."""
        root = session.text("repo_root")
        if root.startswith("/") and "\0" not in root and len(root) <= _ROOT_MAX:
            self._remember(root=root)
        listed = session.get("conversations")
        for name in listed if isinstance(listed, list) else ():
            harness, _, conversation = name.partition("/") if isinstance(name, str) else ("",) * 3
            if conversation and harness != "connection" and len(conversation) <= _ID_MAX:
                self._remember(**{f"last {history_name(harness)}": conversation})

    def _remember(self, **values: str) -> None:
        if any(self.state.get(name) != value for name, value in values.items()):
            self.state = {**self.state, **values}

    def _record(self, name: str, entry: LogEntry, time_ms: int) -> Message | ToolEvent | None:
        fields = Fields(entry.payload)
        number = f"triseek:{entry.entry_id}"
        if entry.kind == "prompt":
            text = fields.text("prompt")
            return (
                Message(conversation=name, id=number, role="user", text=text, time_ms=time_ms)
                if text
                else None
            )
        call = fields.word("call")
        event = ToolEvent(
            conversation=name, id=f"triseek:use:{call}" if call else number, time_ms=time_ms
        )
        fill = _EVENTS.get(entry.kind, _tool)
        return fill(event, fields, self.state.get("root", ""))


def _id(conversation: str) -> str:
    """Return the agent's id in an entry's name of a conversation; "" if it has none."""
    if not conversation.startswith(_NAMED):
        return ""
    name = conversation.removeprefix(_NAMED).rpartition("/")[0]
    return name if len(name) <= _ID_MAX and "\0" not in name else ""


def _command(event: ToolEvent, fields: Fields, _root: str) -> ToolEvent | None:
    text, folder = fields.text("command"), fields.text("folder")
    if not text:
        return None
    return replace(
        event, name="shell", command=text, input=_json({"folder": folder}) if folder else "",
        **_ending(fields),
    )  # fmt: skip


def _command_status(event: ToolEvent, fields: Fields, _root: str) -> ToolEvent | None:
    """Return how a command ended, whose own entry came before; nothing of it is a new use."""
    if not fields.word("call"):
        return None
    return replace(event, time_ms=0, ended_ms=event.time_ms, **_ending(fields))


def _edit(event: ToolEvent, fields: Fields, root: str) -> ToolEvent | None:
    path = _path(fields, root)
    return replace(event, name="edit", edits=(Edit(path=path),)) if path else None


def _read(event: ToolEvent, fields: Fields, root: str) -> ToolEvent | None:
    path = _path(fields, root)
    lines = [fields.line("line_start"), fields.line("line_end")]
    text = _json({"lines": lines}) if None not in lines else ""
    return replace(event, name="read", reads=(path,), input=text) if path else None


def _search(event: ToolEvent, fields: Fields, root: str) -> ToolEvent | None:
    query = fields.text("query")
    if not query:
        return _tool(event, fields, root)
    return replace(event, name=fields.text("tool") or "search", input=_json({"query": query}))


def _tool(event: ToolEvent, fields: Fields, _root: str) -> ToolEvent | None:
    """Return a use of one of triseek's tools; None if the entry is something else."""
    tool = fields.text("tool")
    if not tool:
        return None
    failed = True if fields.text("error") else None
    return replace(event, name=tool, input=_json(fields.inner("arguments")), failed=failed)


_EVENTS = {
    "command": _command,
    "command_status": _command_status,
    "edit": _edit,
    "read": _read,
    "search": _search,
}


def _ending(fields: Fields) -> dict[str, Any]:
    status, failed = fields.get("exit_status"), fields.get("failed")
    is_status = type(status) is int and abs(status) < 1 << 31
    return {
        "exit_status": status if is_status else None,
        "failed": failed if isinstance(failed, bool) else None,
    }


def _path(fields: Fields, root: str) -> str:
    """Return an entry's path, absolute; "" if it does not lie below the root."""
    try:
        path = inner_path(fields.get("path"))
    except ValueError:
        return ""
    return os.path.join(root, path) if root else ""  # noqa: PTH118 - `root` is a string


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
