"""Verify candidate blocks: prepare a pattern for the kernels, run them and collect matching lines.

The kernel decides almost every line. Lines it reports as uncertain (Unicode next to a word
boundary, patterns without an automaton) are decided here by the pattern itself, line by line.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek.engine.search.backends import lines
from triseek.engine.search.backends.base import Batch
from triseek.kernels import fetch, verify
from triseek.kernels.formats import ROW, Dfa, LineHits, Needles, read_only
from triseek.query import stray
from triseek.query.pattern import with_pattern
from triseek.query.trigrams import literals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.engine.search.query import Query
    from triseek.index.reader import View
    from triseek.model.search import Skipped
    from triseek.query.pattern import Pattern

Array: TypeAlias = np.ndarray[Any, Any]

ROWS = 1 << 15
TEXT_BYTES = 4 << 20
HITS = 4096
"""Lines the automaton finds before they are checked."""
ARENA_BYTES = 256 << 10
"""Small enough to stay in a core's cache while its lines are searched."""


@dataclass(frozen=True, slots=True)
class KernelProgram:
    """A pattern and request in the form that the kernel needs."""

    options: Array
    needles: Needles
    dfa: Dfa

    @classmethod
    def of(cls, query: Query) -> KernelProgram | None:
        """Prepare a query; return None if the kernel cannot find the lines of its pattern."""
        program = None if query.spans_lines else _program(query.pattern)
        if program is None:
            return None
        options, request = program.options.copy(), query.request
        # Counts need rows, too, if a match may depend on whether the line before matches.
        rows = request.mode in ("lines", "count_matches") or stray.sees_line_before(query.pattern)
        options[verify.WANT_ROWS] = rows
        options[verify.WANT_NUMBERS] = request.mode == "lines" and request.line_numbers
        options[verify.MOST] = 1 if request.mode == "files" else request.max_count or 0
        return replace(program, options=options)


@with_pattern
def _program(pattern: Pattern) -> KernelProgram | None:
    """Prepare a pattern for any request; None if neither needles nor an automaton find its lines.

    The router calls this before the search does.
    """
    needles, confirm = _needles(pattern)
    dfa = _NO_DFA
    if confirm == verify.CONFIRM_AUTOMATON:
        # With --crlf a line ends before its CR, which the automaton does not handle.
        built = None if pattern.spec.crlf else pattern.dfa
        if built is not None:
            dfa = built
        elif needles:
            confirm = verify.CONFIRM_LATER
        else:
            return None
    starts = np.zeros(len(needles) + 1, np.int64)
    np.cumsum([len(needle) for needle in needles], out=starts[1:])
    blob = np.frombuffer(b"".join(needles) or b"\0", np.uint8)
    rare = np.array([literals.rarest_pair(needle) for needle in needles], np.int64).reshape(-1)
    options = np.zeros(verify.OPTION_SLOTS, np.int64)
    options[verify.CONFIRM] = confirm
    return KernelProgram(options, Needles(blob, read_only(starts), read_only(rare)), dfa)


def _needles(pattern: Pattern) -> tuple[tuple[bytes, ...], int]:
    """Return strings to jump to, and how to confirm that a line with one of them matches."""
    for strings, confirm in (
        (pattern.literals, verify.CONFIRM_NONE),
        (pattern.word_literals, verify.CONFIRM_WORD),
    ):
        if strings and all(strings) and len(strings) <= literals.ALTERNATIVES_MAX:
            return strings, confirm
    needles = literals.required(pattern.tree)
    if needles and literals.cost(needles) > AUTOMATON_NS:
        needles = ()
    return needles, verify.CONFIRM_AUTOMATON


AUTOMATON_NS = 2.0
"""Time of the automaton per byte. Needles that cost more are not used."""

_NO_DFA = Dfa(
    offsets=read_only(np.zeros(256, np.uint32)),
    table=read_only(np.zeros(1, np.uint16)),
    start=0,
    eol_accept=read_only(np.zeros(1, np.uint8)),
)


class Buffers(threading.local):
    """Output buffers and arena of one thread, kept between calls so their pages stay warm."""

    def __init__(self) -> None:
        self.arena = np.empty(ARENA_BYTES, np.uint8)
        self.scratch = np.zeros(fetch.SCRATCH_BYTES, np.uint8)
        self.stats = np.zeros(fetch.STAT_SLOTS, np.int64)
        self.room = np.zeros(verify.ROOM_SLOTS, np.int64)
        self.hits = LineHits(
            np.empty(HITS, np.uint64), np.empty(HITS, np.uint64), np.empty(HITS, np.uint8)
        )
        self.cursor = np.zeros(1, np.uint64)
        self.make_rows(ROWS, TEXT_BYTES)

    def make_rows(self, rows: int, text_bytes: int) -> None:
        """Replace the output buffers."""
        self.rows = np.empty(rows, ROW)
        self.row_flag = np.empty(rows, np.uint8)
        self.text = np.empty(text_bytes, np.uint8)

    def hold(self, block_bytes: int) -> None:
        """Make the arena large enough for the largest block."""
        if len(self.arena) < block_bytes:
            self.arena = np.empty(block_bytes, np.uint8)


@dataclass(slots=True)
class Candidates:
    """Candidate blocks of some files of one view, in file order."""

    files: Array
    """int64: file numbers in the view."""
    edges: Array
    """int64[files + 1] into the block columns below."""
    blocks: Array
    """int64 or uint32: block numbers in the view."""

    def __len__(self) -> int:
        return len(self.files)

    def part(self, first: int, last: int) -> Candidates:
        """Return only files first..last-1."""
        begin, end = int(self.edges[first]), int(self.edges[last])
        return Candidates(
            self.files[first:last], self.edges[first : last + 1] - begin, self.blocks[begin:end]
        )

    def take(self, which: Array) -> Candidates:
        """Return only these files; `which` is ascending."""
        begins, ends = self.edges[which], self.edges[which + 1]
        blocks = [self.blocks[b:e] for b, e in zip(begins.tolist(), ends.tolist(), strict=True)]
        edges = np.concatenate(([0], np.cumsum(ends - begins)))
        return Candidates(
            self.files[which], edges, np.concatenate(blocks) if blocks else self.blocks[:0]
        )


@dataclass(slots=True)
class Verified:
    """Result of searching some files."""

    batches: list[Batch]
    bytes_read: int
    skipped: list[Skipped] = field(default_factory=list)
    changed: list[bytes] = field(default_factory=list)
    """Files whose bytes differ from those indexed; the batches hold nothing of them."""


class Verifier:
    """Verifies candidates of any view for one query; safe to use from any thread."""

    def __init__(self, query: Query, program: KernelProgram) -> None:
        self._query = query
        self._pattern = query.pattern
        self._mode = query.request.mode
        self._program = program
        self._buffers = Buffers()

    def verify(self, directory: int, view: View, candidates: Candidates) -> Verified:
        """Read and search the candidates; batches are in file order.

        directory: descriptor of the root.
        """
        n, result = len(candidates), Verified([], 0)
        offsets, sizes, numbers = (
            view.segment.blocks.numbers(name)[candidates.blocks]
            for name in ("offset", "length", "first_line")
        )
        expected = view.stats[candidates.files].reshape(-1)
        counts, outcome = np.zeros(n, np.int64), np.zeros(n, np.uint8)
        buffers, p = self._buffers, self._program
        buffers.hold(int(sizes.max()) if len(sizes) else 0)
        found = np.empty(2 + len(p.needles.rare) // 2, np.int64)
        most = 64 if p.options[verify.MOST] else HITS
        hits = LineHits(*(column[:most] for column in buffers.hits))
        first = 0
        while first < n:
            buffers.room[:] = 0
            done = verify.verify_files(
                directory, view.names.blob, view.names.starts, candidates.files,
                candidates.edges, offsets, sizes, numbers, expected, first, n,
                p.options, p.needles, p.dfa,
                buffers.scratch, buffers.arena, buffers.stats, found, hits, buffers.cursor,
                buffers.rows, buffers.row_flag, buffers.text,
                counts, outcome, buffers.room,
            )  # fmt: skip
            result.bytes_read += int(buffers.room[verify.BYTES_READ])
            if done == first:
                buffers.make_rows(2 * len(buffers.rows), 2 * len(buffers.text))
                continue
            self._collect(view, candidates.files, first, done, counts, result)
            changed = first + np.flatnonzero(outcome[first:done] == verify.CHANGED)
            result.changed += view.names.take(candidates.files[changed])
            first = done
        return result

    def _collect(
        self, view: View, files: Array, first: int, last: int, counts: Array, result: Verified
    ) -> None:
        """Turn the kernel's outputs for files first..last-1 into a batch."""
        buffers = self._buffers
        used = int(buffers.room[verify.ROWS_USED])
        rows, flags = buffers.rows[:used], buffers.row_flag[:used]
        text = buffers.text[: int(buffers.room[verify.TEXT_USED])].tobytes()
        uncertain = np.flatnonzero(flags == 2)
        if len(uncertain):
            rows = rows[self._decide(uncertain, rows, text, counts)]
        if self._mode == "count_matches":
            self._count_matches(rows, text, counts)
        matching = counts[first:last] > 0
        listed = np.flatnonzero(matching)
        if not len(listed):
            return
        paths, kept = view.names.take(files[first + listed]), counts[first:last][listed]
        if self._mode != "lines":
            result.batches.append(Batch(paths, kept))
            return
        rows = rows.copy()  # the buffer is the next call's
        if len(listed) < last - first or first > 0:
            rows["file"] = (np.cumsum(matching) - 1)[rows["file"] - np.uint32(first)]
        result.batches.append(Batch(paths, kept, rows, text))

    def _decide(self, uncertain: Array, rows: Array, text: bytes, counts: Array) -> Array:
        """Decide uncertain rows exactly; return the rows to keep and add them to `counts`."""
        keep, matches = np.ones(len(rows), np.bool_), lines.line_matcher(self._pattern)
        file = rows["file"]
        keep[uncertain] = [matches(line, False) for line in _lines_of(rows[uncertain], text)]
        if stray.sees_line_before(self._pattern):
            _look_back(uncertain, rows, text, keep, self._pattern)
        won = uncertain[keep[uncertain]]
        np.add.at(counts, file[won], 1)
        kept = np.flatnonzero(keep)
        most = int(self._program.options[verify.MOST])
        if not most:
            return kept
        # The kernel counted only certain rows towards the limit.
        np.minimum(counts, most, out=counts)
        _, firsts = np.unique(file[kept], return_index=True)
        rank = np.arange(len(kept)) - np.repeat(firsts, np.diff([*firsts, len(kept)]))
        return kept[rank < most]

    def _count_matches(self, rows: Array, text: bytes, counts: Array) -> None:
        """Replace line counts by match counts."""
        counts[np.unique(rows["file"])] = 0
        match_counts = [
            lines.matches_in(line, self._pattern, offset)
            for line, offset in zip(_lines_of(rows, text), rows["offset"].tolist(), strict=True)
        ]
        np.add.at(counts, rows["file"], match_counts)


def _look_back(uncertain: Array, rows: Array, text: bytes, keep: Array, pattern: Pattern) -> None:
    """Also keep lines that match due to the line before, unless that line matches itself."""
    ends = rows["offset"] + (rows["end"] - rows["begin"])
    for row in uncertain[~keep[uncertain]].tolist():
        begin, end, offset = (int(rows[name][row]) for name in ("begin", "end", "offset"))
        line = text[begin:end]
        if not stray.is_stray(line) or not stray.sees_back(line, offset):
            continue
        last = row - 1
        touches = row > 0 and rows["file"][last] == rows["file"][row] and ends[last] == offset
        if not (touches and keep[last]):
            keep[row] = pattern.matches(lines.body(line, crlf=False), behind_line=True)


def _lines_of(rows: Array, text: bytes) -> list[bytes]:
    """Return the text of each row."""
    edges = zip(rows["begin"].tolist(), rows["end"].tolist(), strict=True)
    return [text[begin:end] for begin, end in edges]


def group(view: View, blocks: Array, chosen: Array) -> Candidates:
    """Group candidate blocks by file, for the files in `chosen` (bool[files])."""
    kept = blocks[chosen[view.block_file[blocks]]].astype(np.int64)
    owner = view.block_file[kept].astype(np.int64)
    starts = np.flatnonzero(np.concatenate(([True], owner[1:] != owner[:-1]))[: len(owner)])
    return Candidates(owner[starts], np.concatenate((starts, [len(kept)])), kept)


def whole_files(view: View, files: Array) -> Candidates:
    """Return all blocks of some files as candidates."""
    return Candidates(np.arange(len(view.names)), view.edges, np.arange(view.blocks)).take(files)


def groups(view: View, blocks: Array, chosen: Array) -> Iterator[Candidates]:
    """Yield the groups of `group` a stretch of files at a time, each longer than the last."""
    first, size = 0, FIRST_STRETCH
    while first < len(blocks):
        last = min(first + size, len(blocks))
        # All blocks of a file are in one stretch.
        owner = view.block_file[blocks[last - 1]]
        last = int(np.searchsorted(blocks, view.edges[owner + 1]))
        yield group(view, blocks[first:last], chosen)
        first, size = last, 8 * size


FIRST_STRETCH = 512
"""Blocks that are grouped before the first file is read."""


def split(view: View, candidates: Candidates, sizes: Iterator[int]) -> Iterator[Candidates]:
    """Cut candidates into parts of about the byte sizes in `sizes`, an endless iterator."""
    lengths = view.segment.blocks.numbers("length")[candidates.blocks].astype(np.int64)
    total = np.concatenate(([0], np.cumsum(lengths)))[candidates.edges]
    first, n = 0, len(candidates)
    while first < n:
        target = total[first] + next(sizes)
        last = min(max(first + 1, int(np.searchsorted(total, target, "right")) - 1), n)
        yield candidates.part(first, last)
        first = last
