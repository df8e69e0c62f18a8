"""What rg printed, as rows.

With `--heading --null --byte-offset` a file's lines are one group. That is a tenth of what
`--json` prints (181,826 lines of the Linux tree: 5 MB, not 49) and leaves no doubt about its parts:

    ./path NUL 12:345:a matching line
    13-360-a context line
    (an empty line before the next group)

Every row begins with a digit and its text ends at its newline, so the first two newlines side
by side after the NUL end the group, whatever paths and lines hold. `--stats` comes last, in words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from triseek.engine.backends.base import ROW, FileRows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

READ_BYTES = 1 << 18

_NUMBERED = re.compile(rb"(\d+)([:-])(\d+)[:-]([^\n]*\n?)")
_UNNUMBERED = re.compile(rb"()(?=\d+([:-]))(\d+)[:-]([^\n]*\n?)")
_STOPPED = re.compile(
    rb"^\./[^\0]*: (?:WARNING: stopped searching binary file after match"
    rb'|binary file matches) \(found "\\0" byte around offset (\d+)\)\n\Z',
    re.MULTILINE,
)
_STATS = re.compile(
    rb"\n\d+ match(?:es)?\n\d+ matched lines?\n\d+ files? contained match(?:es)?\n"
    rb"(\d+) files? searched\n\d+ bytes? printed\n(\d+) bytes? searched\n.*",
    re.DOTALL,
)
_COUNT = re.compile(rb"\./([^\0]*)\0(\d+)\n")
_PROBLEM = re.compile(
    r"rg: (?:File system loop found: \./(?P<loop>.*) points to an ancestor .*"
    r"|\./(?P<path>.*?): .*\(os error (?P<errno>\d+)\))"
)


class Group(NamedTuple):
    """What rg printed for one file."""

    path: bytes
    """Without the leading `./`."""
    body: bytes
    """Its rows, or its count in the count modes; empty in the file modes."""


class Stats(NamedTuple):
    """What rg says at the end (`--stats`)."""

    files: int
    """Files searched, those among them it gave up as binary included."""
    bytes: int


class Problem(NamedTuple):
    """A file or folder rg complained about."""

    path: bytes
    loop: bool
    errno: int


def groups(stream: IO[bytes]) -> Iterator[Group | Stats]:
    """Yield the groups of `--heading --stats` output as they arrive. Takes memory for one group."""
    held = b""
    searched = 0
    while chunk := stream.read(READ_BYTES):
        held += chunk
        begin = 0
        while (stop := _group_end(held, begin, searched)) >= 0:
            path, _, body = held[begin : stop + 1].partition(b"\0")
            yield Group(path[2:], body)
            begin = searched = stop + 2
        held = held[begin:]
        searched = max(0, len(held) - 1)
    yield from _stats(held)


def _group_end(held: bytes, begin: int, searched: int) -> int:
    """Return where the group's last newline is, once the empty line after it has arrived."""
    head = held.find(b"\0", begin)
    return -1 if head < 0 else held.find(b"\n\n", max(head, searched))


def counts(stream: IO[bytes]) -> Iterator[Group | Stats]:
    """Yield path and count of `--count --null --stats` output."""
    held = b""
    while chunk := stream.read(READ_BYTES):
        held += chunk
        end = 0
        for found in _COUNT.finditer(held):
            end = found.end()
            yield Group(found[1], found[2])
        held = held[end:]
    yield from _stats(held)


def names(stream: IO[bytes]) -> Iterator[Group | Stats]:
    """Yield the paths of `--files-with-matches --null` output."""
    held = b""
    while chunk := stream.read(READ_BYTES):
        *whole, held = (held + chunk).split(b"\0")
        yield from (Group(path[2:], b"") for path in whole)


def _stats(printed: bytes) -> Iterator[Stats]:
    found = _STATS.fullmatch(printed)
    if found:
        yield Stats(int(found[1]), int(found[2]))


def stopped_at_nul(group: Group) -> int | None:
    """Return where rg met a NUL byte after it had shown lines of a binary file, if it did."""
    found = _STOPPED.search(group.body[-5000 - len(group.path) :])
    return int(found[1]) if found else None


def rows_of(group: Group, *, numbered: bool) -> FileRows:
    """Return a group's rows, one per line."""
    begins: list[int] = []
    ends: list[int] = []
    numbers: list[bytes] = []
    offsets: list[bytes] = []
    context: list[bool] = []
    for found in (_NUMBERED if numbered else _UNNUMBERED).finditer(group.body):
        number, mark, offset = found.group(1, 2, 3)
        numbers.append(number)
        offsets.append(offset)
        context.append(mark == b"-")
        begins.append(found.start(4))
        ends.append(found.end(4))
    rows = np.zeros(len(begins), ROW)
    rows["begin"], rows["end"], rows["context"] = begins, ends, context
    rows["offset"] = list(map(int, offsets))
    if numbered:
        rows["number"] = list(map(int, numbers))
    return FileRows(group.path, rows, group.body, len(begins) - sum(context))


def runs_of(lines: FileRows) -> FileRows:
    """Join touching matching lines into one row each, as a pattern that spans lines has them."""
    rows = lines.rows
    sizes = rows["end"] - rows["begin"]
    ends = rows["offset"] + sizes
    # rg 14.1.0 prints a context line twice where `-m` has been reached: the second time is dropped.
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


def problem(line: str) -> Problem | None:
    """Return the file a line of rg's stderr complains about, or None when it is another matter."""
    found = _PROBLEM.fullmatch(line)
    if found is None:
        return None
    path = found["loop"] or found["path"] or ""
    raw = path.encode("utf-8", "surrogateescape")
    return Problem(raw, bool(found["loop"]), int(found["errno"] or 0))
