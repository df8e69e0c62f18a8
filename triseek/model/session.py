"""A work session, and one entry of its log, as they are kept and told."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self, TypeAlias, TypeGuard, get_args

from triseek.errors import InvalidRequest

SCHEMA_VERSION = 1
"""Of every document of sessions and snapshots; a reader refuses others."""
Status: TypeAlias = Literal["open", "resolved", "abandoned"]
GOAL_MAX = 2_000
"""Characters of a goal; a longer one is cut."""

DEPTH_MAX = 32
"""Of lists and objects in each other, in what a tool was called with."""
NUMBER_MAX = (1 << 63) - 1

_ID = re.compile(r"(?!\.|sessions\.json)[a-z0-9._-]{1,128}(?<!\.partial)", re.ASCII | re.IGNORECASE)
"""Not a hidden file, not the index beside the sessions, not what is still being built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A goal in one repository, and whether it is worked on."""

    schema_version: int = SCHEMA_VERSION
    session_id: str
    goal: str
    repo_root: str
    status: Status = "open"
    created_at: int
    """Unix seconds, as `updated_at`."""
    updated_at: int
    by_itself: bool = False
    """Whether a prompt began it, and nobody has asked for it since."""

    def document(self) -> dict[str, Any]:
        """As it is written and told; `by_itself` only where it is so."""
        told = asdict(self)
        if not self.by_itself:
            del told["by_itself"]
        return told

    @classmethod
    def read(cls, body: object) -> Self:
        """The session a document holds; fields that are not ours are passed over.

        Raises:
            ValueError: it holds none.
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
        return cls(**{name: body[name] for name in names}, by_itself=body.get("by_itself") is True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that was done in a session."""

    schema_version: int = SCHEMA_VERSION
    entry_id: int
    """Rises from entry to entry, over all sessions of a machine."""
    session_id: str
    ts: int
    """Unix seconds."""
    kind: str
    """search, read, edit, prompt, compact, context_pack, or the tool's name."""
    payload: dict[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """As it is written and told."""
        return asdict(self)

    @classmethod
    def read(cls, body: object) -> Self:
        """The entry a document holds.

        Raises:
            ValueError: it holds none.
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


def is_ours(version: object) -> bool:
    """Whether a document of this schema version is read."""
    return type(version) is int and version == SCHEMA_VERSION


def is_count(number: object) -> TypeGuard[int]:
    """Whether it is a whole number from 0 that every reader can hold."""
    return type(number) is int and 0 <= number <= NUMBER_MAX


def is_tellable(value: object, depth: int = DEPTH_MAX) -> bool:
    """Whether JSON can say it to any reader: finite numbers, and not too deep."""
    kind = type(value)
    if kind is dict or kind is list or kind is tuple:
        inner = value.values() if isinstance(value, dict) else value
        # Written for speed: most are texts, of thousands of entries.
        return depth > 0 and all(
            type(each) is str or is_tellable(each, depth - 1)
            for each in inner  # type: ignore[attr-defined]
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
    """The id, if it is one.

    Raises:
        InvalidRequest: it is not.
    """
    if not is_id(text):
        raise InvalidRequest(
            f"{what} {text[:80]!r} is no id",
            next_step="Use 1 to 128 letters, digits, `.`, `_` and `-`, not beginning with a `.`.",
        )
    return text
