"""Adds and removes a TOML table as text, and checks by parsing what the result means."""

from __future__ import annotations

import contextlib
import json
import re
import tomllib
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.agents.base import Edit, Refused, Traces
from triseek.agents.install.entries import runs_triseek
from triseek.agents.install.splices import mark_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_IDLE = re.compile(r"[ \t]*(#[^\r\n]*)?\r?\n?")


@dataclass(frozen=True, slots=True)
class TomlTable(Edit):
    """`[keys]` with `value`, of strings, lists, numbers and booleans, at the file's end."""

    kind = "toml"
    keys: tuple[str, ...]
    value: Mapping[str, Any]

    def stands(self, text: str | None) -> bool:
        """Whether the table has this value."""
        return bool(_split(text or "", self.keys).value == self.value)

    def apply(self, text: str | None, traces: Traces) -> str:
        """Return the text with the table."""
        text = text or ""
        before = _split(text, self.keys)
        if before.value == self.value:
            return text
        if before.value is not None:
            if not runs_triseek(before.value):
                name = ".".join(self.keys)
                raise Refused(f"[{name}] is there and does not run triseek; rename or remove it")
            begin, end = self._block(text, before)
            traces.replaced[mark_of(self.keys)] = text[begin:end]
            return self._checked(text[:begin] + self._text(text) + text[end:], before)
        line = _line_end(text)
        lead = "" if not text.strip("\ufeff") else line if text.endswith("\n") else line * 2
        traces.hollow[mark_of(self.keys)] = lead
        return self._checked(text + lead + self._text(text), before)

    def remove(self, text: str | None, traces: Traces) -> str | None:
        """Return the text without the table, if that still runs triseek."""
        if text is None:
            return None
        before = _split(text, self.keys)
        if not runs_triseek(before.value):
            return text
        begin, end = self._block(text, before)
        replaced = traces.replaced.get(mark_of(self.keys))
        if replaced is not None:
            return text[:begin] + replaced + text[end:]
        lead = traces.hollow.get(mark_of(self.keys), "")
        head = text[:begin].removesuffix(lead)
        if text[end:].strip() and head and not head.endswith("\n"):
            head += lead[: len(lead) // 2]  # the line end that the text after it needs
        return head + text[end:]

    def _text(self, text: str) -> str:
        lines = [f"[{'.'.join(self.keys)}]"]
        lines += [f"{name} = {_literal(value)}" for name, value in self.value.items()]
        return _line_end(text).join([*lines, ""])

    def _checked(self, text: str, before: _Content) -> str:
        """Return the text if its meaning is that of before plus our table.

        Raises:
            Refused: it is not, for example because a parent is an inline table.
        """
        try:
            is_right = _split(text, self.keys) == (self.value, before.rest)
        except Refused:
            is_right = False
        if not is_right:
            raise Refused(
                f"[{'.'.join(self.keys)}] cannot be added to what is there, an inline table or "
                "dotted keys; write it as a table of its own"
            )
        return text

    def _block(self, text: str, before: _Content) -> tuple[int, int]:
        """Return the range from the table's header to its end, subtables included.

        Raises:
            Refused: the table is not written as a block of its own.
        """
        # A line in a string of several lines may look like a header.
        headers = [header.start() for header in _HEADER.finditer(text)]
        for begin, end in combinations([*headers, len(text)], 2):
            with contextlib.suppress(Refused):
                if _split(text[:begin] + text[end:], self.keys) == (None, before.rest):
                    return begin, _idle_cut(text, begin, end)
        raise Refused(
            f"[{'.'.join(self.keys)}] is not written as a table of its own; remove it by hand"
        )


class _Content(NamedTuple):
    """What a TOML file says."""

    value: Any
    """The value of our table; None if there is none."""
    rest: dict[str, Any]
    """All else, without tables that are empty then."""


def _split(text: str, keys: tuple[str, ...]) -> _Content:
    """Parse a text, and take out the value at `keys`.

    Raises:
        Refused: it is not TOML.
    """
    try:
        tables = [tomllib.loads(text.removeprefix("\ufeff"))]
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise Refused(f"it is not valid TOML: {error}") from None
    for key in keys[:-1]:
        inner = tables[-1].get(key)
        if not isinstance(inner, dict):
            return _Content(None, tables[0])
        tables.append(inner)
    value = tables[-1].pop(keys[-1], None)
    for key, table in reversed(list(zip(keys, tables[:-1], strict=False))):
        if not table[key]:
            del table[key]
    return _Content(value, tables[0])


def _idle_cut(text: str, begin: int, end: int) -> int:
    """Return the end of a block, without the comments and blank lines before the next block."""
    if end == len(text) and not _IDLE.fullmatch(text[text.rfind("\n", 0, end - 1) + 1 :]):
        return end
    lines = text[begin:end].splitlines(keepends=True)
    while len(lines) > 1 and _IDLE.fullmatch(lines[-1]):
        end -= len(lines.pop())
    return end


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _literal(value: object) -> str:
    """Return a value in TOML, which for these types is JSON, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
