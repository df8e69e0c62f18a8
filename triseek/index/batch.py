"""One thread's share of a build: turn files into blocks and spilled posting lists.

A worker owns its buffers, sized once, so memory is bounded by the number of workers and not by
the tree. Files are read into a 1 MiB arena and their trigrams collected in a pair buffer. When
that is nearly full, or the worker's range of files ends, the pairs are inverted, encoded and
spilled to disk.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import xxhash

from triseek.files.access import open_below
from triseek.files.tree import text
from triseek.kernels import blocks, fetch, invert
from triseek.kernels.formats import BlockBuffers
from triseek.store import layout

if TYPE_CHECKING:
    from io import FileIO
    from pathlib import Path

    from triseek.store.table import StringColumn

Array: TypeAlias = np.ndarray[Any, Any]

ARENA_BYTES = 1 << 20
CHUNK_BYTES = 1 << 20
PAIRS = invert.TRIGRAMS
"""Pairs held before they are inverted: 67 MB, some 7,000 files of the Linux tree. One block may
hold every possible trigram, so it cannot be less."""
SMALL_PAIRS = 400_000
"""Up to this number, sorting the pairs is faster than a pass over a table of all trigrams."""
PARK_BYTES = 1 << 20
"""Arrays of a spill that are smaller than this stay in memory."""

_FETCHES = fetch.is_available()


@dataclass(slots=True)
class Spill:
    """Inverted lists of one run of blocks; block numbers are relative to the first block."""

    blocks: int
    trigrams: Array
    frequency: Array
    firsts: Array
    lasts: Array
    offsets: Array
    data: Array


@dataclass(slots=True)
class Share:
    """The results for files first..first + len(lines) - 1, in order."""

    first: int
    stats: Array
    """int64[n, fetch.STAT_SLOTS]"""
    lines: Array
    digests: Array
    flags: Array
    skip: Array
    blocks: list[dict[str, Array]] = field(default_factory=list)
    spills: list[Spill] = field(default_factory=list)
    text_bytes: int = 0

    @classmethod
    def of(cls, first: int, n: int) -> Self:
        """Return the empty results of `n` files."""
        stats = np.zeros((n, fetch.STAT_SLOTS), np.int64)
        lines, digests = np.zeros(n, np.int64), np.zeros(n, np.uint64)
        return cls(first, stats, lines, digests, np.zeros(n, np.uint8), np.zeros(n, np.uint8))


class Worker:
    """The buffers of one thread, and the loop that uses them."""

    def __init__(self, root: int, names: StringColumn, folder: Path, largest: int) -> None:
        """Allocate the buffers, small ones for small builds.

        `root` is a descriptor. Spills go to `folder`; `largest` bounds the bytes that will be read.
        """
        self._root = root
        self._names = names
        self._folder = folder
        pairs = min(PAIRS, largest) + CHUNK_BYTES + 1
        # The arena may hold a million files of one byte, each a block.
        self._block_room = pairs // blocks.BLOCK_BYTES + ARENA_BYTES + 16
        self._arena = np.empty(ARENA_BYTES, np.uint8)
        self._scratch = np.zeros(fetch.SCRATCH_BYTES, np.uint8)
        state, seen = np.zeros(blocks.STATE_SLOTS, np.int64), np.zeros(blocks.SEEN_WORDS, np.uint64)
        columns = [np.empty(self._block_room, kind) for _, kind in layout.BLOCKS]
        ends = np.empty(self._block_room, np.uint64)
        self._buffers = BlockBuffers._make(
            (state, seen, np.empty(pairs, np.uint32), *columns, ends)
        )
        self._buffers.state[blocks.FIRST_LINE] = 1
        self._before = 0, 0
        """The number of blocks and pairs when the current file began."""
        self._counts: Array | None = None
        """uint32[TRIGRAMS]: zeros, made for the first large inversion."""

    def run(self, first: int, last: int) -> Share:
        """Process files first..last-1."""
        share = Share.of(first, last - first)
        at = first
        while at < last:
            at = self._fill(share, at, last)
        self._spill(share)
        return share

    def _fill(self, share: Share, at: int, last: int) -> int:
        """Read one arena of files and process them; return the number of the next file."""
        room = last - at
        stats = np.zeros(room * fetch.STAT_SLOTS, np.int64)
        begins, lengths = np.zeros(room, np.int64), np.empty(room, np.int64)
        if _FETCHES:
            until = fetch.read_files(
                self._root, self._names.blob, self._names.starts, at, last,
                self._scratch, self._arena, stats, begins, lengths,
            )  # fmt: skip
        else:
            until, lengths[0] = at + 1, fetch.TOO_BIG
        count, row = until - at, at - share.first
        share.stats[row : row + count] = stats.reshape(room, -1)[:count]
        begins, lengths = begins[:count], lengths[:count]
        lines, outcome = np.zeros(count, np.int64), np.zeros(count, np.uint8)
        taken = 0
        while taken < count:
            self._make_room(share, ARENA_BYTES, count)
            taken = blocks.extract_files(
                self._arena, begins, lengths, taken, at, self._buffers, lines, outcome
            )
            if taken < count:
                self._take_apart(share, row + taken, int(begins[taken]), int(lengths[taken]))
                taken += 1
        simple = outcome != blocks.LEFT
        share.lines[row : row + count][simple] = lines[simple]
        share.text_bytes += int(lengths[outcome == blocks.TAKEN].sum())
        view, digest = self._arena.data, xxhash.xxh3_64_intdigest
        edges = zip(begins[simple].tolist(), lengths[simple].tolist(), strict=True)
        share.digests[row : row + count][simple] = [
            digest(view[begin : begin + length]) for begin, length in edges
        ]
        share.skip[row : row + count][outcome == blocks.BINARY] = layout.SKIP_BINARY
        return until

    def _take_apart(self, share: Share, row: int, begin: int, length: int) -> None:
        """Process a file that is not plain text in the arena: with a mark, large or unread."""
        if length >= 0:
            self._take_decoded(share, row, bytes(self._arena[begin : begin + length]))
            return
        share.skip[row] = layout.SKIP_UNREADABLE
        if length == fetch.NOT_REGULAR:
            return
        try:
            descriptor = open_below(self._root, self._names[share.first + row])
            with open(descriptor, "rb", buffering=0) as opened:  # noqa: PTH123 - a descriptor
                self._stream(share, row, opened)
        except OSError:
            share.lines[row] = 0
            # No real stat equals this one, so every search tries the file until it can be read.
            share.stats[row] = 0

    def _stream(self, share: Share, row: int, opened: FileIO) -> None:
        """Process a file chunk by chunk, so that memory is bounded whatever its size."""
        share.stats[row] = fetch.stat_row(os.fstat(opened.fileno()))
        if not share.stats[row, fetch.STAT_OK]:
            return
        chunk = opened.read(CHUNK_BYTES)
        if text.has_mark(chunk):
            share.skip[row] = layout.SKIP_NONE
            self._take_decoded(share, row, chunk + opened.read())
            return
        digest, offset = xxhash.xxh3_64(), 0
        state = self._buffers.state
        self._before = int(state[blocks.BLOCKS]), int(state[blocks.PAIRS])
        while chunk:
            before = chunk.partition(b"\0")[0]
            digest.update(before)
            self._make_room(share, CHUNK_BYTES, 1)
            if self._extract(np.frombuffer(chunk, np.uint8), share.first + row, offset):
                shown = text.shown_of_binary(text.Text(chunk, 0, "utf-8"))
                if offset > 0 or shown is not None:
                    self._extract(np.frombuffer(before, np.uint8), share.first + row, offset)
                    share.flags[row] |= layout.FLAG_BINARY
                    offset += len(before)
                    break
                self._abandon()
                share.skip[row] = layout.SKIP_BINARY
                return
            offset += len(chunk)
            try:
                chunk = opened.read(CHUNK_BYTES)
            except OSError:
                self._abandon()
                raise
        share.digests[row] = digest.intdigest()
        self._finish(share, row, offset)

    def _abandon(self) -> None:
        """Discard the streamed file that is being processed.

        Blocks of it that were spilled already remain as extra candidates, but its row says that
        the file is not searched.
        """
        blocks.abandon(*self._before, self._buffers)

    def _take_decoded(self, share: Share, row: int, data: bytes) -> None:
        """Process a file with a byte order mark, or with a late NUL byte.

        Offsets of its blocks are in the decoded text. The blocks end at the NUL.
        """
        share.digests[row] = xxhash.xxh3_64_intdigest(data)
        decoded = text.decode_all(data)
        content = decoded.data
        if decoded.encoding != "utf-8":
            share.flags[row] |= layout.FLAG_TRANSCODED
        if text.is_binary(content):
            shown = text.shown_of_binary(decoded)
            if shown is None:
                share.skip[row] = layout.SKIP_BINARY
                return
            share.flags[row] |= layout.FLAG_BINARY
            content = shown
            if decoded.encoding == "utf-8":
                share.digests[row] = xxhash.xxh3_64_intdigest(shown)
        whole = np.frombuffer(content, np.uint8)
        for at in range(0, len(whole), CHUNK_BYTES):
            self._make_room(share, CHUNK_BYTES, 1)
            self._extract(whole[at : at + CHUNK_BYTES], share.first + row, at)
        self._finish(share, row, len(whole))

    def _extract(self, part: Array, file: int, offset: int) -> int:
        return blocks.extract(part, 0, len(part), offset, file, self._buffers)

    def _finish(self, share: Share, row: int, size: int) -> None:
        self._make_room(share, 0, 1)
        share.skip[row] = layout.SKIP_NONE
        share.text_bytes += size
        share.lines[row] = blocks.finish(size, share.first + row, self._buffers)

    def _make_room(self, share: Share, size: int, files: int) -> None:
        """Spill if `size` more bytes of `files` files might not fit in the buffers."""
        state, room = self._buffers.state, len(self._buffers.pairs)
        new_blocks = size // blocks.BLOCK_BYTES + files + 2
        if (
            int(state[blocks.PAIRS]) + size + 1 > room
            or int(state[blocks.BLOCKS]) + new_blocks > self._block_room
        ):
            self._spill(share)
        needed = int(state[blocks.PAIRS]) + size + 1
        if needed > room:
            # The open block of a file that grew while it was read: a spill does not free it.
            pairs = np.concatenate((self._buffers.pairs, np.empty(needed, np.uint32)))
            self._buffers = self._buffers._replace(pairs=pairs)

    def _spill(self, share: Share) -> None:
        """Invert and spill the closed blocks; move the pairs of the open block to the front."""
        state, pairs, ends = self._buffers.state, self._buffers.pairs, self._buffers.ends
        count = int(state[blocks.BLOCKS])
        if count == 0:
            return
        used, total = int(ends[count - 1]), int(state[blocks.PAIRS])
        share.blocks.append(
            {
                name: column[:count].copy()
                for (name, _), column in zip(layout.BLOCKS, self._buffers[3:8], strict=True)
            }
        )
        name = self._folder / f"spill-{share.first:012d}-{len(share.spills):04d}"
        share.spills.append(self._invert(pairs, ends, count, used, name))
        pairs[: total - used] = pairs[used:total].copy()
        state[blocks.PAIRS] = total - used
        state[blocks.BLOCKS] = 0
        self._before = 0, 0  # what remains belongs to the current file

    def _invert(self, pairs: Array, block_pairs: Array, count: int, used: int, name: Path) -> Spill:
        """Invert pairs[:used] of `count` blocks and spill the lists to files that begin `name`."""
        if used <= SMALL_PAIRS:
            trigrams, frequency, listed = _invert_small(pairs[:used], block_pairs[:count])
        else:
            trigrams, frequency, listed = self._invert_large(pairs, block_pairs, count, used)
        n = len(trigrams)
        offsets = np.empty(n + 1, np.uint64)
        firsts, lasts = np.empty(n, np.uint32), np.empty(n, np.uint32)
        data = np.empty(5 * used, np.uint8)
        size = invert.encode_lists(frequency, n, listed, offsets, firsts, lasts, data)
        columns = (trigrams, frequency, firsts, lasts, offsets, data[:size])
        return Spill(count, *(_park(name, i, values) for i, values in enumerate(columns)))

    def _invert_large(
        self, pairs: Array, block_pairs: Array, count: int, used: int
    ) -> tuple[Array, Array, Array]:
        if self._counts is None:
            self._counts = np.zeros(invert.TRIGRAMS, np.uint32)
        room = min(used, invert.TRIGRAMS)
        trigrams, frequency = np.empty(room, np.uint32), np.empty(room, np.uint32)
        n = invert.count(pairs, used, self._counts, trigrams, frequency)
        listed = np.empty(used, np.uint32)
        invert.scatter(pairs, block_pairs, count, self._counts, listed)
        invert.clear(trigrams, n, self._counts)
        return trigrams[:n].copy(), frequency[:n].copy(), listed


def _invert_small(pairs: Array, block_pairs: Array) -> tuple[Array, Array, Array]:
    """Invert by sorting: a single edited file must not pay for a table of all trigrams."""
    edges = np.concatenate(([0], block_pairs)).astype(np.int64)
    block = np.repeat(np.arange(len(block_pairs), dtype=np.uint32), np.diff(edges))
    order = np.argsort(pairs, kind="stable")
    trigrams, frequency = np.unique(pairs, return_counts=True)
    return trigrams, frequency.astype(np.uint32), block[order]


def _park(name: Path, number: int, values: Array) -> Array:
    """Write an array to disk and map it, so that it takes page cache, which can be reclaimed."""
    if values.nbytes < PARK_BYTES:
        return values.copy()
    path = name.with_name(f"{name.name}-{number}.tmp")
    values.tofile(path)
    return np.memmap(path, values.dtype, "r").view(np.ndarray)
