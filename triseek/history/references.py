"""The ways in which a record is named: numbers, S and P numbers, and `claude-mem://` addresses."""

from __future__ import annotations

import re
import urllib.parse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from triseek.errors import InvalidQuery
from triseek.model.moment import moment

if TYPE_CHECKING:
    import sqlite3

URI = "claude-mem://"
"""What addresses of records begin with."""
Kind: TypeAlias = Literal["observation", "summary", "session", "prompt", "time"]
_NAMED = re.compile(
    r"#?(?:(?P<letter>[SsPp])|(?:obs|observation)[:#\s]\s*#?|#)?(?P<number>\d{1,18})", re.IGNORECASE
)
_KINDS: dict[str, Kind] = {
    "observation": "observation", "session-summary": "summary", "session": "session",
    "user-prompt": "prompt",
}  # fmt: skip
_TIMES_FROM = 100_000_000_000
"""Numbers from here on are Unix milliseconds (after 1973), and no ids."""
_NO_ANCHOR = (
    'Invalid anchor: must be observation ID (number), session ID (e.g., "S123"), or ISO timestamp'
)


@dataclass(frozen=True, slots=True)
class Reference:
    """What a text names."""

    kind: Kind
    number: int = 0
    """The id of an observation, a summary, a prompt; or Unix milliseconds."""
    text: str = ""
    """The rest of a session's address."""


def parse(value: str | int) -> Reference:
    """Return what a text or number names.

    Raises:
        InvalidQuery: It is no reference and no time.
    """
    text = str(value).strip()
    if text.startswith(URI):
        return _address(text)
    named = _NAMED.fullmatch(text)
    if named is not None:
        number = int(named["number"])
        letter = (named["letter"] or "").upper()
        kind: Kind = {"S": "summary", "P": "prompt"}.get(letter, "observation")  # type: ignore[assignment]
        return Reference("time" if not letter and number >= _TIMES_FROM else kind, number)
    if not text or (re.fullmatch(r"#?[SsPp]?[\w-]*", text) and not re.match(r"\d{4}-", text)):
        raise InvalidQuery(f"{_NO_ANCHOR}, not {text[:60]!r}", tool_step=_STEP)
    return Reference("time", moment(text, "anchor") or 0)


_STEP = "Take an id from a search's answer, such as 123, S45 or claude-mem://observation/123."


def _address(text: str) -> Reference:
    name, _, rest = text.removeprefix(URI).partition("/")
    kind = _KINDS.get(name)
    rest = urllib.parse.unquote(rest).strip("/")
    if kind is None or not rest:
        raise InvalidQuery(f"{text[:100]!r} is no address of a record", tool_step=_STEP)
    if kind == "session":
        is_summary = re.fullmatch(r"#?[Ss](\d{1,18})", rest)
        return Reference("summary", int(is_summary[1])) if is_summary else Reference(kind, 0, rest)
    if not re.fullmatch(r"\d{1,18}", rest):
        raise InvalidQuery(f"{text[:100]!r} is no address of a record", tool_step=_STEP)
    return Reference(kind, int(rest))


def session_row(connection: sqlite3.Connection, text: str) -> int | None:
    """Return the row of a session by its id at its agent, else by its number; None if unknown."""
    row = connection.execute(
        "SELECT id FROM sessions WHERE external_id = ? ORDER BY started_at_epoch DESC, id DESC",
        (text,),
    ).fetchone()
    if row is None and re.fullmatch(r"\d{1,18}", text):
        row = connection.execute("SELECT id FROM sessions WHERE id = ?", (int(text),)).fetchone()
    return int(row[0]) if row else None


def last_summary(connection: sqlite3.Connection, session: int) -> int | None:
    """Return the id of a session's last summary; None if it has none."""
    row = connection.execute(
        "SELECT id FROM session_summaries WHERE session_id = ?"
        " ORDER BY created_at_epoch DESC, id DESC LIMIT 1",
        (session,),
    ).fetchone()
    return int(row[0]) if row else None
