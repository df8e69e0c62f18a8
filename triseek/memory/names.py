"""Checks of what callers send: names, texts and numbers.

A caller's palace is a name in a database and never a part of a path. It is nevertheless bounded to
what is legible in a list and unambiguous in a command line.
"""

from __future__ import annotations

import math
import re
import uuid
from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest
from triseek.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterable

PALACE_MAX = 100
"""Characters of a palace's name."""
NAME_MAX = 200
"""Characters of the name of a room or tag."""
TAGS_MAX = 50
TEXT_MAX = 100_000
"""Characters of a drawer's text."""
NODE_MAX = 1_000
"""Characters of a subject, predicate, object or provenance."""
GENERAL = "General"
ROOMS = (
    "Frontend", "Backend", "Testing", "Planning", "Documentation", "Research", "Configuration",
    "Meetings", GENERAL,
)  # fmt: skip
"""Rooms that have a spelling of their own."""
_SPELLINGS = {name.casefold(): name for name in ROOMS}
_PALACE = re.compile(r"\w[\w .@+-]*")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def palace(name: str) -> str:
    """Return the name of a palace. Raises InvalidRequest if it is not one."""
    if len(name) > PALACE_MAX:
        raise InvalidRequest(f"the palace's name has more than {PALACE_MAX} characters")
    if not _PALACE.fullmatch(name) or ".." in name or name != name.strip(" ."):
        raise InvalidRequest(
            f"{name!r} is not a palace's name",
            next_step="Use letters, digits, blanks and . _ - @ + and begin with a letter or digit.",
        )
    return name


def room(name: str) -> tuple[str, str]:
    """Return how a room is written, and the key by which it is compared.

    "" is the room General. Raises InvalidRequest if it is too long or has control characters.
    """
    name = _line("room", name) or GENERAL
    key = name.casefold()
    return _SPELLINGS.get(key, name), key


def tags(names: Iterable[object]) -> list[str]:
    """Return the tags, in order and each once; what is no text is left out.

    Raises:
        InvalidRequest: They are too many, or one is too long or has control characters.
    """
    kept = dict.fromkeys(tag(name) for name in names if isinstance(name, str))
    kept.pop("", None)
    if len(kept) > TAGS_MAX:
        raise InvalidRequest(f"a drawer has at most {TAGS_MAX} tags; {len(kept)} were passed")
    return list(kept)


def tag(name: str) -> str:
    """Return a tag as it is kept. Raises InvalidRequest as `tags`."""
    return _line("tag", name)


def prose(value: str) -> str:
    """Return a text without secrets, and without what a database cannot hold or show."""
    return redact(value.encode("utf-8", "replace").decode()).strip().replace("\0", "\ufffd")


def text(value: str) -> str:
    """Return the text of a drawer without secrets. Raises InvalidRequest if empty or too long."""
    if len(value) > TEXT_MAX:
        raise InvalidRequest(
            f"the text has {len(value):,} characters; a drawer holds {TEXT_MAX:,}",
            next_step="Store it in parts, or store what is to be remembered of it.",
        )
    kept = prose(value)
    if not kept:
        raise InvalidRequest("the text is empty", next_step="Pass what is to be remembered.")
    return kept


def node(what: str, value: str) -> str:
    """Return a subject, predicate, object or provenance without secrets.

    Raises:
        InvalidRequest: It is empty or too long, or has control characters.
    """
    kept = _line(what, value, NODE_MAX)
    if not kept:
        raise InvalidRequest(f"the {what} is empty")
    return kept


def share(what: str, value: float) -> float:
    """Return a number bounded to 0 to 1. Raises InvalidRequest if it is not a number."""
    if math.isnan(value):
        raise InvalidRequest(f"the {what} is not a number")
    return min(max(float(value), 0.0), 1.0)


def drawer(value: str) -> str:
    """Return a drawer's UUID in its usual form. Raises InvalidRequest if it is none."""
    try:
        return str(uuid.UUID(value))
    except ValueError:
        raise InvalidRequest(
            f"invalid drawer_id UUID: {value[:100]!r}",
            next_step="Take an id from the answer of memory_list or memory_recall.",
        ) from None


def _line(what: str, value: str, most: int = NAME_MAX) -> str:
    if len(value) > most:
        raise InvalidRequest(f"the {what} has {len(value):,} characters; at most {most:,} are kept")
    if _CONTROL.search(value):
        raise InvalidRequest(f"the {what} {value[:50]!r} has control characters")
    return redact(value.strip())
