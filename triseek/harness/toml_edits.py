"""A table in a TOML file, put in and taken out as text; what it means is checked both times."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triseek.harness.base import Refused, Traces
from triseek.harness.entries import runs_triseek

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_IDLE = re.compile(r"[ \t]*(#[^\r\n]*)?\r?\n?")


@dataclass(frozen=True, slots=True)
class TomlTable:
    """`[keys]` with `value`, of strings, lists, numbers and truths, at the file's end."""

    path: str
    keys: tuple[str, ...]
    value: Mapping[str, Any]

    def stands(self, text: str | None) -> bool:
        """Whether the table has this value."""
        try:
            return bool(_at(_read(text or ""), self.keys) == self.value)
        except Refused:
            return False

    def apply(self, text: str | None, traces: Traces) -> str:
        """The text with the table."""
        text = text or ""
        told = _read(text)
        there = _at(told, self.keys)
        if there == self.value:
            return text
        if there is not None:
            if not runs_triseek(there):
                name = ".".join(self.keys)
                raise Refused(f"[{name}] is there and does not run triseek; rename or remove it")
            begin, end = self._block(text, told)
            traces.replaced[self._mark] = text[begin:end]
            return self._checked(text[:begin] + self._text(text) + text[end:], told)
        line = "\r\n" if "\r\n" in text else "\n"
        lead = "" if not text.strip("\ufeff") else line if text.endswith("\n") else line * 2
        traces.hollow[self._mark] = lead
        return self._checked(text + lead + self._text(text), told)

    def remove(self, text: str | None, traces: Traces) -> str | None:
        """The text without the table, if it still runs triseek."""
        if text is None:
            return None
        told = _read(text)
        there = _at(told, self.keys)
        if there is None or not runs_triseek(there):
            return text
        begin, end = self._block(text, told)
        replaced = traces.replaced.get(self._mark)
        if replaced is not None:
            return text[:begin] + replaced + text[end:]
        lead = traces.hollow.get(self._mark, "")
        head = text[:begin].removesuffix(lead)
        if text[end:].strip() and head and not head.endswith("\n"):
            head += lead[: len(lead) // 2]  # the end of a line that others now follow
        return head + text[end:]

    def record(self) -> dict[str, Any]:
        """The edit as JSON."""
        value = dict(self.value)
        return {"kind": "toml", "path": self.path, "keys": [*self.keys], "value": value}

    @property
    def _mark(self) -> str:
        return json.dumps([*self.keys])

    def _text(self, text: str) -> str:
        lines = [f"[{'.'.join(self.keys)}]"]
        lines += [f"{name} = {_literal(value)}" for name, value in self.value.items()]
        line = "\r\n" if "\r\n" in text else "\n"
        return line.join([*lines, ""])

    def _checked(self, text: str, told: dict[str, Any]) -> str:
        """The text, if it says what it said before and our table.

        Raises:
            Refused: it does not, as where a parent is written as an inline table.
        """
        wanted = _without(told, self.keys)
        try:
            new = _read(text)
        except Refused:
            new = {}
        if _at(new, self.keys) != self.value or _without(new, self.keys) != wanted:
            raise Refused(
                f"[{'.'.join(self.keys)}] cannot be added to what is there, an inline table or "
                "dotted keys; write it as a table of its own"
            )
        return text

    def _block(self, text: str, told: dict[str, Any]) -> tuple[int, int]:
        """From the table's header to where it ends, its own subtables included.

        Raises:
            Refused: it is not written as a block of its own.
        """
        wanted = _without(told, self.keys)
        for begin in _headers(text):
            for end in [*(at for at in _headers(text) if at > begin), len(text)]:
                try:
                    rest = _read(text[:begin] + text[end:])
                except Refused:
                    continue
                if _without(rest, self.keys) == wanted and _at(rest, self.keys) is None:
                    return begin, _idle_cut(text, begin, end)
        raise Refused(
            f"[{'.'.join(self.keys)}] is not written as a table of its own; remove it by hand"
        )


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise Refused(f"it is not valid TOML: {error}") from None


def _at(told: Any, keys: tuple[str, ...]) -> Any:  # noqa: ANN401 - any TOML
    for key in keys:
        told = told.get(key) if isinstance(told, dict) else None
    return told


def _without(told: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """The document without the value at `keys` and without what then is empty on the way."""
    kept = dict(told)
    if len(keys) == 1:
        kept.pop(keys[0], None)
    elif isinstance(kept.get(keys[0]), dict):
        inner = _without(kept.pop(keys[0]), keys[1:])
        kept.update({keys[0]: inner} if inner else {})
    return kept


def _headers(text: str) -> Iterator[int]:
    """Where lines begin that may be a table's header; within long strings they are none."""
    return (found.start() for found in _HEADER.finditer(text))


def _idle_cut(text: str, begin: int, end: int) -> int:
    """The end of a block without the comments and blank lines before the next."""
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
