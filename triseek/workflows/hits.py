"""Matching files of a result as markdown. Any field may have any type."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from triseek.model.plain_text import visible_line
from triseek.workflows.markdown import code, fenced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

FILES_MAX = 10
MATCHES_MAX = 4
SHORT_MAX = 220
"""Most characters of a line."""
_URL = re.compile(r"https?://[!#$%&'+,./0-9:;=?@A-Z_a-z~*()-]{1,2000}")
"""What can be nothing but an address, even as markdown."""
LINES_MAX = 9
"""Most lines of one match, with those around it."""


def hit_lines(
    results: Sequence[object],
    files_max: int = FILES_MAX,
    matches_max: int = MATCHES_MAX,
    *,
    has_context: bool = True,
) -> Iterator[str]:
    """Yield the lines that list matching files, with the first matches of each.

    has_context: Whether to show the lines around a match, if it has any.
    """
    for number, entry in enumerate(results[:files_max], 1):
        if isinstance(entry, dict):
            yield from _file(number, entry, matches_max, has_context=has_context)
        else:
            yield f"{number}. {code(_text(entry))}"
    if len(results) > files_max:
        yield f"... and `{len(results) - files_max}` more files."


def indented(lines: Iterable[str], blanks: int) -> Iterator[str]:
    """Yield lines after some blanks; empty lines stay empty."""
    for line in lines:
        yield " " * blanks + line if line else ""


def short(text: str) -> str:
    """Return a line of at most `SHORT_MAX` characters."""
    return text if len(text) <= SHORT_MAX else f"{text[: SHORT_MAX - 3]}..."


def _file(
    number: int, entry: Mapping[str, Any], matches_max: int, *, has_context: bool
) -> Iterator[str]:
    parts = (_text(entry.get(name) or "").strip() for name in ("repository", "filename"))
    yield f"{number}. {code('/'.join(filter(None, parts)) or '(unknown location)')}"
    matches = entry.get("matches")
    matches = matches if isinstance(matches, list) else []
    for match in matches[:matches_max]:
        if isinstance(match, dict):
            yield from indented(_match(match, has_context=has_context), 3)
        else:
            yield f"   - {code(_text(match))}"
    if len(matches) > matches_max:
        yield f"   - ... `{len(matches) - matches_max}` more matches"
    if url := _text(entry.get("url") or "").strip():
        yield f"   {url if _URL.fullmatch(url) else code(url)}"


def _match(match: Mapping[str, Any], *, has_context: bool) -> Iterator[str]:
    """Yield a match on one line, or with the lines around it as a block with their numbers."""
    number = match.get("line_number")
    number = number if isinstance(number, int) else 0
    lines = _text(match.get("text", "")).strip("\n").split("\n")
    first = match.get("first_line")
    if not has_context and isinstance(first, int):
        lines = lines[number - first :][:1] if 0 <= number - first < len(lines) else lines[:1]
    if len(lines) == 1:
        kind, parent = (_text(match.get(name) or "") for name in ("kind", "parent"))
        about = f" ({visible_line(kind)}{f' of {code(parent)}' if parent else ''})" if kind else ""
        yield f"- L{number}{about}: {code(short(lines[0].strip()))}"
        return
    shown = [short(line.rstrip()) for line in lines[:LINES_MAX]]
    if isinstance(first, int):
        width = max(2, len(str(first + len(shown) - 1)))
        shown = [f"{at:>{width}} | {line}" for at, line in enumerate(shown, first)]
    yield f"- L{number}:"
    yield from indented(fenced("\n".join(shown)), 2)


def _text(value: object) -> str:
    if value is None or isinstance(value, (str, int, float, bool)):
        return str(value)
    return type(value).__name__
