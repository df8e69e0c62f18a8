"""Cut text into line-aligned blocks and list each block's distinct trigrams.

A block begins at a line start and ends after the first newline past `BLOCK_BYTES` (or at the end
of the file), so no line is ever in two blocks. A trigram is emitted when it is first seen in a
block, by a bitmap of all 2**24, which is then cleared by a pass over the emitted trigrams: nothing
is sorted, and no block costs a pass over the whole bitmap.

Trigrams with a newline are left out: a match inside one line never needs them, and matches across
lines do without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba

from triseek.kernels.jit import BLOCKS_OUT, BYTES, BYTES_OUT, I64, I64S, I64S_OUT, kernel
from triseek.kernels.libc import memchr_index

if TYPE_CHECKING:
    import numpy as np

    from triseek.kernels.formats import BlockBuffers

BLOCK_BYTES = 16 * 1024
"""The first newline after this many bytes ends a block: engine.md §2 compares 16 KiB with 32, 64
and whole files."""

BUFFER_BYTES = 1 << 16
FIRST_READ = 3
"""Bytes that ripgrep reads of a file at a time, and first: after a NUL in them it shows no line
(copied from `files.tree.text`, which this must not import; a test compares them)."""

SEEN_WORDS = 1 << 18
"""Length of the bitmap of all trigrams, in uint64 words."""

# Slots of the state that is carried through a file, chunk by chunk.
BLOCK_BEGIN = 0  # offset in the file of the open block
LINES = 1  # newlines seen in the file so far
ROLLING = 2  # the last bytes, for trigrams across chunks
RUN = 3  # bytes of the line in ROLLING before its first trigram is complete; at most 2
NON_ASCII = 4  # nonzero if the open block holds a byte >= 0x80
NUL = 5  # 1 if the file holds a NUL byte
FIRST_LINE = 6  # 1-based number of the open block's first line
PAIRS = 7  # trigrams emitted so far, in all files
BLOCKS = 8  # blocks closed so far, in all files
STATE_SLOTS = 9


# Kernels are compiled as they are defined, so callees must be defined before their callers.


@kernel(I64, I64, I64, BLOCKS_OUT)
def _close(end_offset: int, file: int, buffers: BlockBuffers) -> int:
    """Close the open block at `end_offset` of the file and open the next one there; return 0."""
    state = buffers.state
    block = state[BLOCKS]
    first = 0
    if block > 0:
        first = buffers.ends[block - 1]
    for i in range(first, state[PAIRS]):
        buffers.seen[buffers.pairs[i] >> 6] = 0
    buffers.file[block] = file
    buffers.offset[block] = state[BLOCK_BEGIN]
    buffers.length[block] = end_offset - state[BLOCK_BEGIN]
    buffers.line[block] = state[FIRST_LINE]
    buffers.flags[block] = state[NON_ASCII]
    buffers.ends[block] = state[PAIRS]
    state[BLOCKS] = block + 1
    state[BLOCK_BEGIN] = end_offset
    state[FIRST_LINE] = state[LINES] + 1
    state[NON_ASCII] = 0
    return 0


@kernel(I64, I64S_OUT)
def _reset(state: np.ndarray) -> int:
    """Set the slots that are about one file to those of a file that has not begun; return 0."""
    for slot in range(FIRST_LINE):
        state[slot] = 0
    state[FIRST_LINE] = 1
    return 0


@kernel(I64, BYTES, I64, I64, I64, I64, BLOCKS_OUT)
def extract(
    text: np.ndarray, begin: int, end: int, offset: int, file: int, buffers: BlockBuffers
) -> int:
    """Process text[begin:end], which is at byte `offset` of file number `file`.

    text: uint8. The buffers are carried from chunk to chunk.

    Returns 0, or 1 if there is a NUL byte: then the file is binary, and `abandon` removes its
    blocks. The caller must ensure that `pairs` has room for end - begin + 1 more and the block
    columns for (end - begin) // BLOCK_BYTES + 2 more.
    """
    state, seen, pairs = buffers.state, buffers.seen, buffers.pairs
    if memchr_index(text, numba.uint8(0), begin, end) != end:
        state[NUL] = 1
        return 1
    # Unsigned indices avoid the wrap-around check. Appending without a branch (the slot is always
    # written, the count advances only for a new trigram) made this half again as fast.
    one = numba.uint64(1)
    two = numba.uint64(2)
    rolling = numba.uint64(state[ROLLING])
    run = numba.uint64(state[RUN])
    count = numba.uint64(state[PAIRS])
    lines = state[LINES]
    until = numba.uint64(end)
    i = numba.uint64(begin)
    limit = state[BLOCK_BEGIN] + BLOCK_BYTES - offset + begin
    high = numba.uint8(state[NON_ASCII])
    while i < until:
        while run < two and i < until and text[i] != 10:
            rolling = (rolling << numba.uint64(8)) | numba.uint64(text[i])
            high |= text[i]
            run += one
            i += one
        while i < until:
            byte = text[i]
            if byte == 10:
                break
            high |= byte
            rolling = ((rolling << numba.uint64(8)) | numba.uint64(byte)) & numba.uint64(0xFFFFFF)
            slot = rolling >> numba.uint64(6)
            bit = rolling & numba.uint64(63)
            word = seen[slot]
            pairs[count] = rolling
            count += one - ((word >> bit) & one)
            seen[slot] = word | (one << bit)
            i += one
        if i >= until:
            break
        i += one
        lines += 1
        run = numba.uint64(0)
        rolling = numba.uint64(0)
        if numba.int64(i) >= limit:
            state[PAIRS] = numba.int64(count)
            state[LINES] = lines
            state[NON_ASCII] = 1 if high >= 128 else 0
            _close(offset + numba.int64(i) - begin, file, buffers)
            high = numba.uint8(0)
            limit = numba.int64(i) + BLOCK_BYTES
    state[ROLLING] = numba.int64(rolling)
    state[RUN] = numba.int64(run)
    state[PAIRS] = numba.int64(count)
    state[LINES] = lines
    state[NON_ASCII] = 255 if high >= 128 else 0
    return 0


@kernel(I64, I64, I64, BLOCKS_OUT)
def finish(end_offset: int, file: int, buffers: BlockBuffers) -> int:
    """Close the last block of a file of `end_offset` bytes; return the file's line count.

    A last line without a newline counts as a line. The state is reset for the next file.
    """
    state = buffers.state
    lines = state[LINES]
    if end_offset > state[BLOCK_BEGIN]:
        if state[RUN] > 0:
            lines += 1
        state[NON_ASCII] = 1 if state[NON_ASCII] != 0 else 0
        _close(end_offset, file, buffers)
    _reset(state)
    return lines


@kernel(I64, I64, I64, BLOCKS_OUT)
def abandon(blocks_before: int, pairs_before: int, buffers: BlockBuffers) -> int:
    """Remove the blocks and trigrams of the current file, whose first block is `blocks_before`.

    pairs_before: the number of trigrams emitted before the file. Returns 0.
    """
    # Closed blocks have cleared their bits already; clearing them twice does no harm.
    state = buffers.state
    for i in range(pairs_before, state[PAIRS]):
        buffers.seen[buffers.pairs[i] >> 6] = 0
    state[PAIRS] = pairs_before
    state[BLOCKS] = blocks_before
    _reset(state)
    return 0


# The result for a file, in `outcome`.
TAKEN = 0
BINARY = 1  # holds a NUL byte, and no line before it is ever shown (`text.shown_of_binary`)
LEFT = 2  # no bytes in the arena, a byte order mark, or a late NUL: the caller must handle it


@kernel(I64, BYTES, I64S, I64S, I64, I64, BLOCKS_OUT, I64S_OUT, BYTES_OUT)
def extract_files(
    arena: np.ndarray,
    begins: np.ndarray,
    lengths: np.ndarray,
    at: int,
    first: int,
    buffers: BlockBuffers,
    lines: np.ndarray,
    outcome: np.ndarray,
) -> int:
    """Process whole files in the arena, from file `at` on; file k gets the number first + k.

    begins, lengths: int64, as `fetch.read_files` fills them. lines: int64, out, the lines of each
    file. outcome: uint8, out, the result for each file. The rest as for `extract`. Stops at the
    first file that is LEFT, because blocks must be in file order, and returns its index; otherwise
    returns the number of files.
    """
    for k in range(at, lengths.size):
        lines[k] = 0
        length = lengths[k]
        begin = begins[k]
        if length < 0:
            outcome[k] = LEFT
            return k
        if length >= 2 and arena[begin] >= 0xEF and (
            (arena[begin] == 0xEF and arena[begin + 1] == 0xBB)
            or (arena[begin] == 0xFE and arena[begin + 1] == 0xFF)
            or (arena[begin] == 0xFF and arena[begin + 1] == 0xFE)
        ):  # fmt: skip
            outcome[k] = LEFT
            return k
        blocks_before = buffers.state[BLOCKS]
        pairs_before = buffers.state[PAIRS]
        binary = extract(arena, begin, begin + length, 0, first + k, buffers)
        if binary != 0:
            abandon(blocks_before, pairs_before, buffers)
            nul = memchr_index(arena, numba.uint8(0), begin, begin + length) - begin
            if nul >= BUFFER_BYTES or (
                nul >= FIRST_READ
                and (arena[begin] == 10 or arena[begin + 1] == 10 or arena[begin + 2] == 10)
            ):
                outcome[k] = LEFT
                return k
            outcome[k] = BINARY
            continue
        lines[k] = finish(length, first + k, buffers)
        outcome[k] = TAKEN
    return lengths.size
