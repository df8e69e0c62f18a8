r"""Parse rg's output to rows.

With `--heading --null --byte-offset` a file's lines form one group. This is a tenth of the output
of `--json` (181,826 lines of the Linux tree: 5 MB, not 49) and can be parsed without ambiguity:

    ./path NUL 12:345:a matching line
    13-360-a context line
    ./path: WARNING: stopped searching binary file after match (found "\0" byte around offset 9)
    (an empty line before the next group)

Every row begins with a digit and its text ends at its newline, so the first two adjacent newlines
after the NUL end the group, whatever paths and lines hold. `--stats` comes last, as text.
"""

from __future__ import annotations

import errno
import os
import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from triseek.engine.search.backends.base import FileRows, Nul
from triseek.engine.search.backends.lines import NO_ROWS
from triseek.engine.search.backends.spanning import NEWLINE
from triseek.kernels.formats import ROW
from triseek.model.search import Skipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Read: TypeAlias = "Callable[[int], bytes]"
"""Returns that many bytes of rg's output; fewer at the end, then none."""
READ_BYTES = 1 << 20
HYPHEN = 45

_GAP = re.compile(rb"\n\r?\n")
"""The empty line between groups; with `--crlf --sort` it ends in CR LF."""
_STATS = re.compile(
    rb"\n?\d+ match(?:es)?\n\d+ matched lines?\n\d+ files? contained match(?:es)?\n"
    rb"(\d+) files? searched\n\d+ bytes? printed\n(\d+) bytes? searched\n.*",
    re.DOTALL,
)
_WARNING = re.compile(
    rb": WARNING: stopped searching binary file after match "
    rb'\(found "\\0" byte around offset (\d+)\)\r?\n\Z'
)
_WARNING_BYTES = 120
"""More bytes than a warning has."""
_NAME = re.compile(rb"([^\0]+)\0()")
_COUNT = re.compile(rb"([^\0]+)\0(\d+)\r?\n")
_PROBLEM = re.compile(
    r"rg: (?:File system loop found: (?P<loop>.*) points to an ancestor .*"
    r"|(?P<path>\.?/.*?): .*\(os error (?P<errno>\d+)\))",
    re.DOTALL,
)
_INVALID_RULE = re.compile(r"(?:rg: )?/.*: line \d+: error parsing glob .*", re.DOTALL)
_NEXT_MESSAGE = re.compile(r"\n(?=rg: |/.*: line \d+: error parsing glob )")


class Stats(NamedTuple):
    """rg's final statistics (`--stats`)."""

    files: int
    """Files searched, including those abandoned as binary."""
    size: int
    """Bytes searched."""


def groups(read: Read, *, numbered: bool) -> Iterator[FileRows | Stats]:
    """Yield the groups of `--heading --stats` output as they arrive; paths are as rg prints them.

    Holds one read (`READ_BYTES`) in memory, or one group if that is larger.
    """
    held = b""
    searched = 0
    while chunk := read(READ_BYTES):
        held += chunk
        bounds: list[tuple[int, int, int]] = []
        begin = 0
        while (head := held.find(b"\0", begin)) >= 0:
            gap = _GAP.search(held, max(head, searched))
            if gap is None:
                break
            bounds.append((begin, head, gap.start()))
            begin = searched = gap.end()
        if bounds:
            yield from _answers(held, np.array(bounds), numbered=numbered)
        held = held[begin:]
        searched = max(0, len(held) - 2)  # a gap may have begun
    yield from _stats(held)


def _answers(printed: bytes, bounds: np.ndarray, *, numbered: bool) -> Iterator[FileRows]:
    """Yield the groups of a piece of output; `bounds` are their begins, NULs and last newlines."""
    heads, ends = bounds[:, 1], bounds[:, 2]
    data = np.frombuffer(printed, np.uint8)
    newlines = np.flatnonzero(data[: ends[-1] + 1] == NEWLINE)
    group = np.searchsorted(heads, newlines) - 1
    in_rows = (group >= 0) & (newlines <= ends[group])  # paths may also hold newlines
    stops, group = newlines[in_rows] + 1, group[in_rows]
    edges = np.searchsorted(group, np.arange(len(bounds) + 1))
    starts = np.empty_like(stops)
    starts[1:] = stops[:-1]
    starts[edges[:-1]] = heads + 1
    rows = np.zeros(len(stops), ROW)
    at = starts
    if numbered:
        rows["number"], at = _number(data, at)
    rows["offset"], at = _number(data, at)
    rows["context"] = data[at - 1] == HYPHEN
    rows["begin"], rows["end"] = at, stops
    matching = np.append(0, np.cumsum(~rows["context"]))
    counts = (matching[edges[1:]] - matching[edges[:-1]]).tolist()
    # A binary-file warning is the only line of a group that does not begin with a digit.
    warned = (~_is_digit(data[starts[edges[1:] - 1]])).tolist()
    edge = edges.tolist()
    for number, (begin, head, end) in enumerate(bounds.tolist()):
        first, last = edge[number], edge[number + 1]
        path = printed[begin:head]
        if not (warned[number] or b"\n" in path):
            yield FileRows(path, rows[first:last], printed, counts[number])
            continue
        kept, nul = _before_warning(printed, path, end, starts[first:last])
        mine = rows[first : first + kept]
        yield FileRows(path, mine, printed, int((~mine["context"]).sum()), nul)


def _before_warning(
    printed: bytes, path: bytes, end: int, starts: np.ndarray
) -> tuple[int, Nul | None]:
    """Return the number of rows before the warning that ends a group, and the NUL it is about."""
    warning = _WARNING.search(printed, max(0, end - _WARNING_BYTES), end + 1)
    if warning is None:
        return len(starts), None
    first = warning.start() - len(path)
    kept = int(np.searchsorted(starts, first))
    return kept, Nul(int(warning[1]), stopped=True, shown=kept, searched=0)


def _is_digit(data: np.ndarray) -> np.ndarray:
    return (data >= ord("0")) & (data <= ord("9"))


def _number(data: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Parse the decimal numbers that begin at `at`; return them and the offsets after their mark.

    It reads one digit of all numbers at a time, in as many steps as the longest has digits.
    """
    last = len(data) - 1
    value = np.zeros(len(at), np.uint64)
    at = at.copy()
    more = _is_digit(data[at])
    while more.any():
        digit = (data[at] - np.uint8(ord("0"))).astype(np.uint64)
        value = np.where(more, value * np.uint64(10) + digit, value)
        at += more
        more &= _is_digit(data[np.minimum(at, last)])
    return value, np.minimum(at + 1, last)


def listed(read: Read, *, counted: bool) -> Iterator[FileRows | Stats]:
    """Yield the paths of `--files-with-matches --null` output, or path and count of `--count`."""
    entry, held = _COUNT if counted else _NAME, b""
    while chunk := read(READ_BYTES):
        held += chunk
        end = 0
        for match in entry.finditer(held):
            end = match.end()
            yield FileRows(match[1], NO_ROWS, b"", int(match[2] or 1))
        held = held[end:]
    yield from _stats(held)


def _stats(printed: bytes) -> Iterator[Stats]:
    if match := _STATS.fullmatch(printed):
        yield Stats(int(match[1]), int(match[2]))


def runs_of(lines: FileRows) -> FileRows:
    """Join adjacent matching lines into one row, as for a pattern that spans lines."""
    rows = lines.rows
    sizes = rows["end"] - rows["begin"]
    ends = rows["offset"] + sizes
    # rg 14.1.0 prints a context line twice if `-m` was reached; the second one is dropped.
    fresh = np.ones(len(rows), bool)
    fresh[1:] = rows["offset"][1:] >= np.maximum.accumulate(ends)[:-1]
    rows, sizes, ends = rows[fresh], sizes[fresh], ends[fresh]
    text = b"".join(
        lines.text[begin:end]
        for begin, end in zip(rows["begin"].tolist(), rows["end"].tolist(), strict=True)
    )
    first = np.ones(len(rows), bool)
    first[1:] = (rows["offset"][1:] != ends[:-1]) | rows["context"][1:] | rows["context"][:-1]
    stops = np.cumsum(sizes)
    joined = rows[first].copy()
    joined["begin"] = (stops - sizes)[first]
    joined["end"] = stops[np.append(np.flatnonzero(first)[1:] - 1, len(rows) - 1)]
    return FileRows(lines.path, joined, text, int(np.count_nonzero(~joined["context"])))


def messages(printed: str) -> list[str]:
    """Return the messages in rg's stderr. A glob or path in a message may hold newlines."""
    return [message for message in _NEXT_MESSAGE.split(printed.removesuffix("\n")) if message]


def is_about_rules(line: str) -> bool:
    """Return whether a message of rg's stderr is about a glob in an ignore file."""
    return _INVALID_RULE.fullmatch(line) is not None


def problem(line: str) -> Skipped | None:
    """Return the file that a message of rg's stderr is about; None for other messages."""
    match = _PROBLEM.fullmatch(line)
    if match is None:
        return None
    path = (match["loop"] or match["path"] or "").encode("utf-8", "surrogateescape")
    if match["loop"]:
        return Skipped(path, "loop", "the link leads to a folder above it")
    number = int(match["errno"] or 0)
    gone = number == errno.ENOENT
    return Skipped(path, "not_found" if gone else "unreadable", os.strerror(number))
