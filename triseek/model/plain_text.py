"""Escaping of text from outside, so that terminals and readers of UTF-8 can take it.

Goals, branches, paths and prompts come from outside. Some characters would move a terminal's
cursor, set its window's title, or show text in another order than stored (CVE-2021-42574, "Trojan
Source"). A lone surrogate cannot be encoded at all. Such characters are escaped wherever data is
shown, except in matched lines and their paths, which are printed unchanged, as by ripgrep.
"""

from __future__ import annotations

import re
from typing import Any

_HOSTILE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and line feed
    "\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # format
    "\U000e0000-\U000e007f"  # tags
    "\ud800-\udfff]"  # surrogates
)
"""Without the joiners U+200C and U+200D, which some scripts and emoji need."""


def visible(text: str) -> str:
    r"""Escape hostile characters as `\x1b`, `\u202e`; keep line ends and tabs."""
    return _HOSTILE.sub(lambda found: ascii(found[0])[1:-1], text)


def visible_line(text: str) -> str:
    """Escape as `visible` does, and line ends and tabs as well, so that the text is one line."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def json_text(document: str) -> str:
    r"""Escape hostile characters in JSON as `\uXXXX`; the values stay the same."""
    return _HOSTILE.sub(lambda found: _json_escape(found[0]), document)


def is_encodable(text: str) -> bool:
    """Whether UTF-8 can encode the text: it has no lone surrogate."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def encodable(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value with each lone surrogate in its texts replaced by U+FFFD."""
    if isinstance(value, str):
        if is_encodable(value):
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {encodable(name): encodable(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encodable(item) for item in value]
    return value


def _json_escape(character: str) -> str:
    pairs = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{pairs[at : at + 4]}" for at in range(0, len(pairs), 4))


def plural(count: int, one: str, many: str = "") -> str:
    """Return the noun that follows a count; `many` is by default `one` with an s."""
    return one if count == 1 else many or f"{one}s"


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with the noun that follows it, as `plural`."""
    return f"{number:,} {plural(number, one, many)}"


def excerpt_line(text: str, start: int, end: int) -> str:
    """Return a part of a text on one line, with a mark at each end where it was cut."""
    line = " ".join(text[start:end].split())
    return ("… " if start else "") + line + (" …" if end < len(text) else "")


def clipped(text: str, most: int) -> str:
    """Cut a text to at most `most` characters; a cut text ends in an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"
