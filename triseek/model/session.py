"""A work session, and one entry of its log, as they are stored and sent."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Self, TypeAlias, TypeGuard, get_args

from triseek.errors import InvalidRequest

SCHEMA_VERSION = 1
"""The version of every session and snapshot document; readers refuse others."""
Status: TypeAlias = Literal["open", "resolved", "abandoned"]
GOAL_MAX = 2_000
"""Characters of a goal; a longer one is cut."""

OF_CONVERSATIONS = ("awaits", "conversations")
"""Fields of a session that answers do not have."""
ALL = "*"

DEPTH_MAX = 32
"""Maximum nesting of lists and objects in a tool's arguments."""
NUMBER_MAX = (1 << 63) - 1

_ID = re.compile(r"(?!\.|sessions\.json)[a-z0-9._-]{1,128}(?<!\.partial)", re.ASCII | re.IGNORECASE)
"""Excludes hidden files, the index beside the sessions, and unfinished builds."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record that is stored and sent as a JSON document."""

    def document(self) -> dict[str, Any]:
        """Return the JSON document."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session(StoredRecord):
    """A piece of work in one repository, with a goal and a status."""

    schema_version: int = SCHEMA_VERSION
    session_id: str
    goal: str
    repo_root: str
    status: Status = "open"
    created_at: int
    """Unix seconds, like `updated_at`."""
    updated_at: int
    by_itself: bool = False
    """Whether a prompt began it, and nobody has opened it explicitly since."""
    awaits: str = ""
    """Agents, separated by commas, whose next conversation without a session belongs to it; * for
    any agent."""
    conversations: tuple[str, ...] = ()
    """Conversations that belong to it, `agent/id`, the one that joined last at the end; `ALL` for
    all of the repository."""

    @property
    def is_shared(self) -> bool:
        """Whether every conversation of the repository belongs to it: a person has opened it."""
        is_nobodys = not (self.by_itself or self.awaits or self.conversations)
        return is_nobodys or ALL in self.conversations

    def document(self) -> dict[str, Any]:
        """Return the JSON document, without fields that have their default."""
        plain = _fields(self)
        for name in ("by_itself", *OF_CONVERSATIONS):
            if not plain[name]:
                del plain[name]
        if self.conversations:
            plain["conversations"] = list(self.conversations)
        return plain

    @classmethod
    def read(cls, body: object) -> Self:
        """Read a session from a document; unknown fields are ignored.

        Raises:
            ValueError: the document is not a session.
        """
        if not isinstance(body, dict) or not is_ours(body.get("schema_version")):
            raise ValueError("no session of this schema")
        texts = [body.get(name) for name in ("session_id", "goal", "repo_root", "status")]
        times = [body.get(name) for name in ("created_at", "updated_at")]
        if not all(isinstance(text, str) for text in texts) or texts[3] not in get_args(Status):
            raise ValueError("a field of the session is missing or no text")
        if not all(type(at) is int and 0 <= at < 1 << 53 for at in times) or not is_id(texts[0]):
            raise ValueError("a field of the session makes no sense")
        names = ("session_id", "goal", "repo_root", "status", "created_at", "updated_at")
        awaits, listed = body.get("awaits"), body.get("conversations")
        named = listed if isinstance(listed, list) else []
        return cls(
            **{name: body[name] for name in names},
            by_itself=body.get("by_itself") is True,
            awaits=awaits if isinstance(awaits, str) else "",
            conversations=tuple(name for name in named if isinstance(name, str)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry(StoredRecord):
    """One thing that was done in a session."""

    schema_version: int = SCHEMA_VERSION
    entry_id: int
    """Increases from entry to entry, across all sessions of a machine."""
    session_id: str
    ts: int
    """Unix seconds."""
    kind: str
    """search, read, edit, prompt, compact, context_pack, or the tool's name."""
    payload: dict[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the JSON document; its payload is that of the entry, not a copy."""
        return _fields(self)

    @classmethod
    def read(cls, body: object) -> Self:
        """Read an entry from a document.

        Raises:
            ValueError: the document is not an entry.
        """
        if not isinstance(body, dict) or not is_ours(body.get("schema_version")):
            raise ValueError("no entry of this schema")
        match body:
            case {
                "entry_id": int(number),
                "session_id": str(session),
                "ts": int(at),
                "kind": str(kind),
                "payload": dict(payload),
            } if is_count(number) and is_count(at) and is_id(session) and is_tellable(payload):
                return cls(entry_id=number, session_id=session, ts=at, kind=kind, payload=payload)
            case _:
                raise ValueError("a field of the entry is missing, or of another kind")


def _fields(record: Session | LogEntry) -> dict[str, Any]:
    """Return a record's fields by name; `asdict` copies them, thousands of entries at a time."""
    return {each.name: getattr(record, each.name) for each in fields(record)}


def is_ours(version: object) -> bool:
    """Whether readers accept a document of this schema version."""
    return type(version) is int and version == SCHEMA_VERSION


def is_count(number: object) -> TypeGuard[int]:
    """Whether it is an integer from 0 to `NUMBER_MAX`, which every reader can hold."""
    return type(number) is int and 0 <= number <= NUMBER_MAX


def is_tellable(value: object, depth: int = DEPTH_MAX) -> bool:
    """Whether every JSON reader can take the value: finite numbers, nesting not too deep."""
    kind = type(value)
    if kind is dict or kind is list or kind is tuple:
        inner = value.values() if isinstance(value, dict) else value
        # Written for speed: most items are texts, and there are thousands of entries.
        return depth > 0 and all(
            type(item) is str or is_tellable(item, depth - 1)
            for item in inner  # type: ignore[attr-defined]
        )
    if kind is float:
        return math.isfinite(value)  # type: ignore[arg-type]
    if kind is int:
        return -NUMBER_MAX <= value <= NUMBER_MAX  # type: ignore[operator]
    return kind is str or kind is bool or value is None


def is_id(text: object) -> bool:
    """Whether a text can name a session or snapshot: safe as the name of a folder."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def checked_id(text: str, what: str = "session_id") -> str:
    """Return the id if it is valid.

    Raises:
        InvalidRequest: it is not.
    """
    if not is_id(text):
        raise InvalidRequest(
            f"{what} {text[:80]!r} is no id",
            next_step="Use 1 to 128 letters, digits, `.`, `_` and `-`, not beginning with a `.`.",
        )
    return text
