"""Which lines of their input `cat`, `head`, `tail`, `sed -n` and `nl` print.

Each is read according to GNU's and BSD's manuals, and only in the forms that both have. An option
that is not listed here makes the filter unknown.
"""

from __future__ import annotations

import getopt
import re
from typing import NamedTuple

_RANGE = re.compile(r"(?:(\d{1,10})(?:,(\d{1,10}|\$|\+\d{1,10}))?|(\$))p")
_QUIT = re.compile(r"(\d{1,10})q")
_NL_OPTION = re.compile(r"-w \d{1,3}|(?:-b|--body-numbering) [at]")


class Lines(NamedTuple):
    """Part of a file, as in `model.hook_event.FileRead`."""

    first: int = 1
    last: int | None = None
    tail: int | None = None


class Filter(NamedTuple):
    """A command that prints lines of its input."""

    parts: tuple[Lines, ...]
    """The lines of its input that it prints, in order and without overlap."""
    files: tuple[str, ...]
    """The files that it reads; empty for its standard input."""
    numbers: bool = False
    """Whether it prints line numbers before the lines."""


def line_filter(words: tuple[str, ...]) -> Filter | None:
    """Return the filter that a command is; None if it is none of these, or does anything else."""
    parse = {"cat": _cat, "head": _head, "tail": _tail, "sed": _sed, "nl": _nl}.get(words[0])
    try:
        parsed = parse(words[1:]) if parse is not None else None
    except getopt.GetoptError:
        return None
    return None if parsed is None or "-" in parsed.files else parsed


def then(parts: tuple[Lines, ...], after: tuple[Lines, ...]) -> tuple[Lines, ...] | None:
    """Return the lines that two filters in a row print; None if line numbers cannot express it."""
    if after == (Lines(),):
        return parts
    if len(parts) != 1:
        return None
    ranges = [_within(parts[0], part) for part in after]
    valid = tuple(part for part in ranges if part is not None)
    return valid if len(valid) == len(ranges) else None


def _within(outer: Lines, inner: Lines) -> Lines | None:
    if outer == Lines():
        return inner
    if outer.tail is not None or inner.tail is not None:
        return None
    first = outer.first + inner.first - 1
    ends = [end for end in (outer.last, inner.last and outer.first + inner.last - 1) if end]
    last = min(ends) if ends else None
    return None if last is not None and last < first else Lines(first, last)


def _cat(words: tuple[str, ...]) -> Filter:
    options, files = getopt.gnu_getopt(words, "n", ["number"])
    return Filter((Lines(),), tuple(files), bool(options))


def _head(words: tuple[str, ...]) -> Filter | None:
    count, files = _count(words)
    return Filter((Lines(1, int(count)),), files) if count.isdigit() and int(count) else None


def _tail(words: tuple[str, ...]) -> Filter | None:
    count, files = _count(words)
    number = int(count or 0)
    if not number:
        return None
    return Filter((Lines(number) if count.startswith("+") else Lines(tail=number),), files)


def _count(words: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the line count of `head` or `tail`, 10 by default, and the files; "" if unknown."""
    if words and re.fullmatch(r"-\d{1,10}", words[0], re.ASCII):
        words = ("-n", words[0][1:], *words[1:])
    options, files = getopt.gnu_getopt(words, "n:qv", ["lines=", "quiet", "silent", "verbose"])
    counts = [value for option, value in options if option in ("-n", "--lines")] or ["10"]
    # Not every implementation takes the last of two counts.
    is_plain = len(counts) == 1 and re.fullmatch(r"\+?\d{1,10}", counts[0], re.ASCII)
    return counts[0] if is_plain else "", tuple(files)


def _sed(words: tuple[str, ...]) -> Filter | None:
    options, operands = getopt.gnu_getopt(
        words, "ne:Eru", ["quiet", "silent", "expression=", "regexp-extended", "unbuffered"]
    )
    scripts = [value for option, value in options if option in ("-e", "--expression")]
    if not scripts:
        scripts, operands = operands[:1], operands[1:]
    is_quiet = any(option in ("-n", "--quiet", "--silent") for option, _ in options)
    parts = _ranges(";".join(scripts)) if is_quiet else _until(scripts)
    # `sed` reads several files as one stream.
    return Filter(parts, tuple(operands)) if parts and len(operands) <= 1 else None


def _ranges(script: str) -> tuple[Lines, ...] | None:
    """Parse `10,20p;30p`; None if it is out of order, overlaps, or does anything else."""
    ranges: list[Lines] = []
    quits = None
    for command in re.split(r"[;\n]", script):
        condensed = "".join(command.split())
        shows, stops = _RANGE.fullmatch(condensed), _QUIT.fullmatch(condensed)
        if quits is not None or not (shows or stops):
            return None
        if stops:
            quits = int(stops[1])
        elif shows and not (ranges and _reaches(ranges[-1], shows)):
            ranges.append(_range(shows))
        else:
            return None
    if quits is not None and (not ranges or (ranges[-1].last or quits + 1) > quits):
        return None
    return None if any(part.first < 1 for part in ranges) else tuple(ranges)


def _range(shows: re.Match[str]) -> Lines:
    start, end, last_line = shows.groups()
    if last_line:
        return Lines(tail=1)
    first = int(start)
    if end == "$":
        return Lines(first)
    if end is None:
        return Lines(first, first)
    last = first + int(end) if end.startswith("+") else int(end)
    return Lines(first, max(first, last))


def _reaches(before: Lines, shows: re.Match[str]) -> bool:
    """Whether the previous range may show lines that this one shows."""
    start = shows[1]
    return before.last is None or start is None or int(start) <= before.last


def _until(scripts: list[str]) -> tuple[Lines, ...] | None:
    """Parse the script of `sed 20q`."""
    stops = _QUIT.fullmatch("".join(scripts[0].split())) if len(scripts) == 1 else None
    return (Lines(1, int(stops[1])),) if stops and int(stops[1]) else None


def _nl(words: tuple[str, ...]) -> Filter | None:
    options, files = getopt.gnu_getopt(words, "b:w:", ["body-numbering="])
    if not all(_NL_OPTION.fullmatch(f"{option} {value}") for option, value in options):
        return None
    return Filter((Lines(),), tuple(files), numbers=True)
