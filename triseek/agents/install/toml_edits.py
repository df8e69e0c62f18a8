"""Adds and removes a TOML table as text, and checks by parsing what the result means."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.agents.base import Edit, Refused, Traces
from triseek.agents.install.entries import runs_triseek

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
        try:
            return bool(_split(text or "", self.keys).value == self.value)
        except Refused:
            return False

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
            traces.replaced[self._mark] = text[begin:end]
            return self._checked(text[:begin] + self._text(text) + text[end:], before)
        line = "\r\n" if "\r\n" in text else "\n"
        lead = "" if not text.strip("\ufeff") else line if text.endswith("\n") else line * 2
        traces.hollow[self._mark] = lead
        return self._checked(text + lead + self._text(text), before)

    def remove(self, text: str | None, traces: Traces) -> str | None:
        """Return the text without the table, if that still runs triseek."""
        if text is None:
            return None
        before = _split(text, self.keys)
        if not runs_triseek(before.value):
            return text
        begin, end = self._block(text, before)
        replaced = traces.replaced.get(self._mark)
        if replaced is not None:
            return text[:begin] + replaced + text[end:]
        lead = traces.hollow.get(self._mark, "")
        head = text[:begin].removesuffix(lead)
        if text[end:].strip() and head and not head.endswith("\n"):
            head += lead[: len(lead) // 2]  # the line end that the text after it needs
        return head + text[end:]

    @property
    def _mark(self) -> str:
        return json.dumps([*self.keys])

    def _text(self, text: str) -> str:
        lines = [f"[{'.'.join(self.keys)}]"]
        lines += [f"{name} = {_literal(value)}" for name, value in self.value.items()]
        line = "\r\n" if "\r\n" in text else "\n"
        return line.join([*lines, ""])

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
        for begin in _headers(text):
            for end in [*(at for at in _headers(text) if at > begin), len(text)]:
                try:
                    after = _split(text[:begin] + text[end:], self.keys)
                except Refused:
                    continue
                if after == (None, before.rest):
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


def _headers(text: str) -> Iterator[int]:
    """Yield where lines begin that may be a table's header; in multi-line strings they are not."""
    return (found.start() for found in _HEADER.finditer(text))


def _idle_cut(text: str, begin: int, end: int) -> int:
    """Return the end of a block, without the comments and blank lines before the next block."""
    if end == len(text) and not _IDLE.fullmatch(text[text.rfind("\n", 0, end - 1) + 1 :]):
        return end
    lines = text[begin:end].splitlines(keepends=True)
    while len(lines) > 1 and _IDLE.fullmatch(lines[-1]):
        end -= len(lines.pop())
    return end


def _literal(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_literal(item) for item in value) + "]"
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
