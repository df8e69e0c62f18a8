"""Data as text that a terminal, and any reader of UTF-8, can take.

Goals, branches, paths and prompts come from elsewhere. Some characters would move a terminal's
cursor, name its window, or show a text in another order than it has (CVE-2021-42574, "Trojan
Source"); a lone surrogate cannot be encoded at all. They are escaped wherever data is shown, but
in matched lines and their paths, which are printed as they are, as ripgrep prints them.
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
"""Not the joiners U+200C and U+200D, which scripts and emoji need."""


def visible(text: str) -> str:
    r"""The text with hostile characters as `\x1b`, `\u202e`; line ends and tabs stay."""
    return _HOSTILE.sub(lambda found: ascii(found[0])[1:-1], text)


def visible_line(text: str) -> str:
    """As `visible`, on one line: ends of lines and tabs are escaped as well."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def json_text(document: str) -> str:
    r"""JSON with hostile characters as `\uXXXX`: another spelling of the same values."""
    return _HOSTILE.sub(lambda found: _json_escape(found[0]), document)


def is_encodable(text: str) -> bool:
    """Whether UTF-8 can say it: it holds no lone surrogate."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def encodable(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The value with each lone surrogate of its texts replaced by U+FFFD."""
    if isinstance(value, str):
        if is_encodable(value):
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {encodable(name): encodable(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [encodable(each) for each in value]
    return value


def _json_escape(character: str) -> str:
    pairs = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{pairs[at : at + 4]}" for at in range(0, len(pairs), 4))
