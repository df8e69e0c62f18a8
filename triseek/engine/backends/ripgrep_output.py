r"""What rg printed, as rows.

With `--heading --null --byte-offset` a file's lines are one group. That is a tenth of what
`--json` prints (181,826 lines of the Linux tree: 5 MB, not 49) and leaves no doubt about its parts:

    ./path NUL 12:345:a matching line
    13-360-a context line
    ./path: WARNING: stopped searching binary file after match (found "\0" byte around offset 9)
    (an empty line before the next group)

Every row begins with a digit and its text ends at its newline, so the first two newlines side
by side after the NUL end the group, whatever paths and lines hold. `--stats` comes last, in words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from triseek.engine.backends.base import FileRows
from triseek.engine.backends.lines import NEWLINE, NO_ROWS
from triseek.kernels.rows import ROW

if TYPE_CHECKING:
    from collections.abc import Iterator

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
"""More than a warning takes."""
_COUNT = re.compile(rb"([^\0]+)\0(\d+)\r?\n")
_PROBLEM = re.compile(
    r"rg: (?:File system loop found: (?P<loop>.*) points to an ancestor .*"
    r"|(?P<path>\.?/.*?): .*\(os error (?P<errno>\d+)\))",
    re.DOTALL,
)
_INVALID_RULE = re.compile(r"(?:rg: )?/.*: line \d+: error parsing glob .*", re.DOTALL)
_NEXT_MESSAGE = re.compile(r"\n(?=rg: |/.*: line \d+: error parsing glob )")


class Stream(Protocol):
    """Where rg's output is read from."""

    def read(self, size: int, /) -> bytes:
        """Return so many bytes; fewer at the end, and then none."""
        ...


class Answer(NamedTuple):
    """What rg printed for one file."""

    path: bytes
    """As rg prints it: with the folder that it was given in front."""
    rows: np.ndarray
    """`ROW`, one per line; empty in the modes without."""
    text: bytes
    """What the rows index: shared between files."""
    matched: int
    """Matching rows, or what the count modes say."""
    stopped_at: int | None = None
    """Offset of the NUL byte at which rg stopped searching the file; None if it did not."""


class Stats(NamedTuple):
    """What rg says at the end (`--stats`)."""

    files: int
    """Files searched, those among them it gave up as binary included."""
    size: int
    """Bytes searched."""


class Problem(NamedTuple):
    """A file or folder rg complained about."""

    path: bytes
    """As rg prints it."""
    loop: bool
    errno: int


def groups(stream: Stream, *, numbered: bool) -> Iterator[Answer | Stats]:
    """Yield the groups of `--heading --stats` output as they arrive.

    Takes memory for what was read at once, or for one group if that is larger.
    """
    held = b""
    searched = 0
    while chunk := stream.read(READ_BYTES):
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
        searched = max(0, len(held) - 2)  # a gap may be under way
    yield from _stats(held)


def _answers(printed: bytes, bounds: np.ndarray, *, numbered: bool) -> Iterator[Answer]:
    """Yield the groups of a piece of output; `bounds` are their begins, NULs and last newlines."""
    heads, ends = bounds[:, 1], bounds[:, 2]
    data = np.frombuffer(printed, np.uint8)
    newlines = np.flatnonzero(data[: ends[-1] + 1] == NEWLINE)
    group = np.searchsorted(heads, newlines) - 1
    in_rows = (group >= 0) & (newlines <= ends[group])  # paths may hold newlines, too
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
    # A warning of a binary file is the only line of a group that begins with no digit.
    warned = (~_is_digit(data[starts[edges[1:] - 1]])).tolist()
    edge = edges.tolist()
    for number, (begin, head, end) in enumerate(bounds.tolist()):
        first, last = edge[number], edge[number + 1]
        path = printed[begin:head]
        if not (warned[number] or b"\n" in path):
            yield Answer(path, rows[first:last], printed, counts[number])
            continue
        kept, stopped_at = _before_warning(printed, path, end, starts[first:last])
        mine = rows[first : first + kept]
        yield Answer(path, mine, printed, int((~mine["context"]).sum()), stopped_at)


def _before_warning(
    printed: bytes, path: bytes, end: int, starts: np.ndarray
) -> tuple[int, int | None]:
    """Return how many rows of a group stand before the warning that ends it, and its offset."""
    warning = _WARNING.search(printed, max(0, end - _WARNING_BYTES), end + 1)
    if warning is None:
        return len(starts), None
    first = warning.start() - len(path)
    return int(np.searchsorted(starts, first)), int(warning[1])


def _is_digit(data: np.ndarray) -> np.ndarray:
    return (data >= ord("0")) & (data <= ord("9"))


def _number(data: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Read the decimal numbers that begin at these places; return them and what follows the mark.

    One digit of all numbers at a time: as many steps as the longest has digits.
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


def counts(stream: Stream) -> Iterator[Answer | Stats]:
    """Yield path and count of `--count --null --stats` output."""
    held = b""
    while chunk := stream.read(READ_BYTES):
        held += chunk
        end = 0
        for found in _COUNT.finditer(held):
            end = found.end()
            yield Answer(found[1], NO_ROWS, b"", int(found[2]))
        held = held[end:]
    yield from _stats(held)


def names(stream: Stream) -> Iterator[Answer | Stats]:
    """Yield the paths of `--files-with-matches --null` output."""
    held = b""
    while chunk := stream.read(READ_BYTES):
        *whole, held = (held + chunk).split(b"\0")
        yield from (Answer(path, NO_ROWS, b"", 1) for path in whole)


def _stats(printed: bytes) -> Iterator[Stats]:
    found = _STATS.fullmatch(printed)
    if found:
        yield Stats(int(found[1]), int(found[2]))


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


def messages(printed: str) -> list[str]:
    """Return the messages of rg's stderr; a glob or a path in one may hold ends of lines."""
    return [each for each in _NEXT_MESSAGE.split(printed.removesuffix("\n")) if each]


def is_about_rules(line: str) -> bool:
    """Return whether a line of rg's stderr complains of a glob in an ignore file."""
    return _INVALID_RULE.fullmatch(line) is not None


def problem(line: str) -> Problem | None:
    """Return the file a line of rg's stderr complains about, or None when it is another matter."""
    found = _PROBLEM.fullmatch(line)
    if found is None:
        return None
    path = found["loop"] or found["path"] or ""
    raw = path.encode("utf-8", "surrogateescape")
    return Problem(raw, bool(found["loop"]), int(found["errno"] or 0))
