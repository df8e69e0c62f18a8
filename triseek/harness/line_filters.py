"""Which lines of its input `cat`, `head`, `tail`, `sed -n` and `nl` let through.

Each is read as GNU's and BSD's manuals have it, and only in the forms that both have. An option
that is not listed here makes the filter unknown.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_NUMBER_MAX = 10
"""Digits."""
_RANGE = re.compile(r"(?:(\d{1,10})(?:,(\d{1,10}|\$|\+\d{1,10}))?|(\$))p")
_QUIT = re.compile(r"(\d{1,10})q")


class Lines(NamedTuple):
    """Part of a file, as in `model.hook_event.FileRead`."""

    first: int = 1
    last: int | None = None
    tail: int | None = None


class Filter(NamedTuple):
    """A command that lets lines through."""

    parts: tuple[Lines, ...]
    """What it shows of its input, in order and without overlap."""
    files: tuple[str, ...]
    """Where it reads; none: its standard input."""
    numbers: bool = False
    """Whether it writes their numbers before the lines."""


def line_filter(words: tuple[str, ...]) -> Filter | None:
    """What a command lets through; None if it is none of these, or does anything else."""
    known = {"cat": _cat, "head": _head, "tail": _tail, "sed": _sed, "nl": _nl}.get(words[0])
    found = known(words[1:]) if known is not None else None
    return None if found is None or "-" in found.files else found


def then(parts: tuple[Lines, ...], after: tuple[Lines, ...]) -> tuple[Lines, ...] | None:
    """What two filters in a row let through; None if that cannot be said in line numbers."""
    if after == (Lines(),):
        return parts
    if len(parts) != 1:
        return None
    found = [_within(parts[0], each) for each in after]
    known = tuple(each for each in found if each is not None)
    return known if len(known) == len(found) else None


def _within(outer: Lines, inner: Lines) -> Lines | None:
    if outer == Lines():
        return inner
    if outer.tail is not None or inner.tail is not None:
        return None
    first = outer.first + inner.first - 1
    ends = [end for end in (outer.last, inner.last and outer.first + inner.last - 1) if end]
    last = min(ends) if ends else None
    return None if last is not None and last < first else Lines(first, last)


def _cat(words: tuple[str, ...]) -> Filter | None:
    options, files = _operands(words)
    if any(each not in ("-n", "--number") for each in options):
        return None
    return Filter((Lines(),), files, bool(options))


def _head(words: tuple[str, ...]) -> Filter | None:
    count, files = _count(words)
    if count is None:
        return None
    number = _number(count)
    return Filter((Lines(1, number),), files) if number else None


def _tail(words: tuple[str, ...]) -> Filter | None:
    count, files = _count(words)
    if count is None:
        return None
    number = _number(count.removeprefix("+"))
    if not number:
        return None
    return Filter((Lines(number) if count.startswith("+") else Lines(tail=number),), files)


def _count(words: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The number of lines that `head` and `tail` are told, 10 if none is; None: not understood."""
    options, files = _operands(words, takes_value=("-n", "--lines"))
    counts: list[str] = []
    for option in options:
        value = re.fullmatch(r"(?:-n|--lines=|-)(\+?\d{1,10})", option)
        if value is not None and not option.startswith("-+"):
            counts.append(value[1])
        elif option not in ("-q", "-v", "--quiet", "--silent", "--verbose"):
            return None, ()
    # Two counts do not mean the last of them everywhere.
    return (counts[0] if counts else "10") if len(counts) < 2 else None, files


def _sed(words: tuple[str, ...]) -> Filter | None:
    options, operands = _operands(words, takes_value=("-e", "--expression", "-ne"))
    scripts = [re.sub(r"^(?:-n?e|--expression=)", "", each) for each in options if _is_script(each)]
    quiet = any(each in ("-n", "--quiet", "--silent") or each.startswith("-ne") for each in options)
    plain = ("-n", "--quiet", "--silent", "-E", "-r", "--regexp-extended", "-u", "--unbuffered")
    if any(not _is_script(each) and each not in plain for each in options):
        return None
    if not scripts:
        scripts, operands = list(operands[:1]), operands[1:]
    parts = _ranges(";".join(scripts)) if quiet else _until(scripts)
    # Several files are one stream to it.
    return Filter(parts, operands) if parts and len(operands) <= 1 else None


def _is_script(option: str) -> bool:
    return option.startswith(("-e", "-ne", "--expression="))


def _ranges(script: str) -> tuple[Lines, ...] | None:
    """`10,20p;30p`; None for what is not in order, or overlaps, or does anything else."""
    found: list[Lines] = []
    quits = None
    for command in re.split(r"[;\n]", script):
        told = "".join(command.split())
        shows, stops = _RANGE.fullmatch(told), _QUIT.fullmatch(told)
        if quits is not None or not (shows or stops):
            return None
        if stops:
            quits = int(stops[1])
        elif shows and not (found and _reaches(found[-1], shows)):
            found.append(_range(shows))
        else:
            return None
    if quits is not None and (not found or (found[-1].last or quits + 1) > quits):
        return None
    return None if any(each.first < 1 for each in found) else tuple(found)


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
    """Whether the range before may show what this one shows."""
    start = shows[1]
    return before.last is None or start is None or int(start) <= before.last


def _until(scripts: list[str]) -> tuple[Lines, ...] | None:
    """`sed 20q`."""
    stops = _QUIT.fullmatch("".join(scripts[0].split())) if len(scripts) == 1 else None
    return (Lines(1, int(stops[1])),) if stops and int(stops[1]) else None


def _nl(words: tuple[str, ...]) -> Filter | None:
    options, files = _operands(words, takes_value=("-b", "-w"))
    if any(not re.fullmatch(r"-b[at]|-w\d{1,3}|--body-numbering=[at]", each) for each in options):
        return None
    return Filter((Lines(),), files, numbers=True)


def _operands(
    words: tuple[str, ...], takes_value: tuple[str, ...] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Options, each with its value in one word, and what is left; `-` alone is an operand."""
    options: list[str] = []
    rest = list(words)
    operands: list[str] = []
    while rest:
        word = rest.pop(0)
        if word == "--":
            operands += rest
            break
        if not word.startswith("-") or word == "-":
            operands.append(word)
        elif word in takes_value and rest:
            options.append(word + ("=" if word.startswith("--") else "") + rest.pop(0))
        else:
            options.append(word)
    return tuple(options), tuple(operands)


def _number(digits: str) -> int:
    return (
        int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _NUMBER_MAX else 0
    )
