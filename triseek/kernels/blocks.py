"""Cut text into line-aligned blocks and list each block's distinct trigrams.

A block begins at a line start and ends after the first newline past `BLOCK_BYTES` (or at the end
of the file), so no line is ever in two blocks. The distinct trigrams of a block are emitted when
first seen, against a bitmap of all 2**24, which is then cleared by walking the emitted list:
nothing is sorted and nothing the size of the bitmap is touched per block.

Trigrams holding a newline are left out: a match inside one line never needs them, and matches
across lines do without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba

from triseek.kernels.jit import (
    BYTES,
    BYTES_OUT,
    I64,
    I64S,
    I64S_OUT,
    U32S_OUT,
    U64S_OUT,
    kernel,
)
from triseek.kernels.libc import memchr_index

if TYPE_CHECKING:
    import numpy as np

BLOCK_BYTES = 16 * 1024
"""Where the first newline ends a block: engine.md §2 measured 16 KiB against 32, 64 and files."""

BUFFER_BYTES = 1 << 16
FIRST_READ = 3
"""What ripgrep reads of a file at a time, and first: a NUL in there leaves nothing to be shown
(`files.text`, which this must not import; a test compares them)."""

SEEN_WORDS = 1 << 18
"""Length of the bitmap of all trigrams, in uint64 words."""

# Slots of the state that goes through a file, chunk by chunk.
BLOCK_BEGIN = 0  # offset in the file of the block under way
FIRST_LINE = 1  # 1-based number of that block's first line
LINES = 2  # newlines seen in the file so far
ROLLING = 3  # the last bytes, for trigrams across chunks
RUN = 4  # bytes at the line's start taken into ROLLING before trigrams begin; at most 2
PAIRS = 5  # trigrams emitted so far, in all files
BLOCKS = 6  # blocks closed so far, in all files
NON_ASCII = 7  # 1 when the block under way holds a byte >= 0x80
NUL = 8  # 1 when the file holds a NUL byte
STATE_SLOTS = 9


# Kernels are compiled as they are defined, so what is called stands before its callers.


@kernel(
    I64, I64, I64,
    I64S_OUT, U64S_OUT, U32S_OUT, U32S_OUT, U64S_OUT, U64S_OUT, U32S_OUT, BYTES_OUT, U64S_OUT,
)  # fmt: skip
def _close(
    end_offset: int,
    file: int,
    state: np.ndarray,
    seen: np.ndarray,
    pairs: np.ndarray,
    block_file: np.ndarray,
    block_offset: np.ndarray,
    block_length: np.ndarray,
    block_line: np.ndarray,
    block_flags: np.ndarray,
    block_pairs: np.ndarray,
) -> int:
    """End the block under way at `end_offset` of the file and begin the next there."""
    block = state[BLOCKS]
    first = 0
    if block > 0:
        first = block_pairs[block - 1]
    for i in range(first, state[PAIRS]):
        seen[pairs[i] >> 6] = 0
    block_file[block] = file
    block_offset[block] = state[BLOCK_BEGIN]
    block_length[block] = end_offset - state[BLOCK_BEGIN]
    block_line[block] = state[FIRST_LINE]
    block_flags[block] = state[NON_ASCII]
    block_pairs[block] = state[PAIRS]
    state[BLOCKS] = block + 1
    state[BLOCK_BEGIN] = end_offset
    state[FIRST_LINE] = state[LINES] + 1
    state[NON_ASCII] = 0
    return 0


@kernel(I64, I64S_OUT)
def _reset(state: np.ndarray) -> int:
    state[BLOCK_BEGIN] = 0
    state[FIRST_LINE] = 1
    state[LINES] = 0
    state[ROLLING] = 0
    state[RUN] = 0
    state[NON_ASCII] = 0
    state[NUL] = 0
    return 0


@kernel(
    I64, BYTES, I64, I64, I64, I64,
    I64S_OUT, U64S_OUT, U32S_OUT, U32S_OUT, U64S_OUT, U64S_OUT, U32S_OUT, BYTES_OUT, U64S_OUT,
)  # fmt: skip
def extract(
    text: np.ndarray,
    begin: int,
    end: int,
    offset: int,
    file: int,
    state: np.ndarray,
    seen: np.ndarray,
    pairs: np.ndarray,
    block_file: np.ndarray,
    block_offset: np.ndarray,
    block_length: np.ndarray,
    block_line: np.ndarray,
    block_flags: np.ndarray,
    block_pairs: np.ndarray,
) -> int:
    """Take in text[begin:end], which stands at byte `offset` of file number `file`.

    text: uint8. state: int64[STATE_SLOTS], carried from chunk to chunk. seen: uint64[SEEN_WORDS],
    all zero between blocks. pairs: uint32, the trigrams of block b are
    pairs[block_pairs[b - 1] : block_pairs[b]]. block_*: one element per closed block.

    Returns 0, or 1 at a NUL byte: the file is binary, and `abandon` takes its blocks back. The
    caller makes sure that `pairs` has room for end - begin + 1 more and the block columns for
    (end - begin) // BLOCK_BYTES + 2 more.
    """
    if memchr_index(text, numba.uint8(0), begin, end) != end:
        state[NUL] = 1
        return 1
    # Unsigned indices spare the wrap-around check, and appending without a branch (the slot is
    # written, the count moves on only for a new trigram) was worth half again the speed.
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
            _close(
                offset + numba.int64(i) - begin, file, state, seen, pairs,
                block_file, block_offset, block_length, block_line, block_flags, block_pairs,
            )  # fmt: skip
            high = numba.uint8(0)
            limit = numba.int64(i) + BLOCK_BYTES
    state[ROLLING] = numba.int64(rolling)
    state[RUN] = numba.int64(run)
    state[PAIRS] = numba.int64(count)
    state[LINES] = lines
    state[NON_ASCII] = 255 if high >= 128 else 0
    return 0


@kernel(
    I64, I64, I64,
    I64S_OUT, U64S_OUT, U32S_OUT, U32S_OUT, U64S_OUT, U64S_OUT, U32S_OUT, BYTES_OUT, U64S_OUT,
)  # fmt: skip
def finish(
    end_offset: int,
    file: int,
    state: np.ndarray,
    seen: np.ndarray,
    pairs: np.ndarray,
    block_file: np.ndarray,
    block_offset: np.ndarray,
    block_length: np.ndarray,
    block_line: np.ndarray,
    block_flags: np.ndarray,
    block_pairs: np.ndarray,
) -> int:
    """Close the last block of a file of `end_offset` bytes; returns the file's line count.

    A last line without a newline counts as a line. The state is made ready for the next file.
    """
    lines = state[LINES]
    if end_offset > state[BLOCK_BEGIN]:
        if state[RUN] > 0:
            lines += 1
        state[NON_ASCII] = 1 if state[NON_ASCII] != 0 else 0
        _close(
            end_offset, file, state, seen, pairs,
            block_file, block_offset, block_length, block_line, block_flags, block_pairs,
        )  # fmt: skip
    _reset(state)
    return lines


@kernel(I64, I64, I64, I64S_OUT, U64S_OUT, U32S_OUT)
def abandon(
    blocks_before: int, pairs_before: int, state: np.ndarray, seen: np.ndarray, pairs: np.ndarray
) -> int:
    """Take back everything of the file under way, whose first block was `blocks_before`.

    pairs_before: trigrams that had been emitted before the file. Returns 0.
    """
    # Blocks already closed have cleared their bits; clearing them twice does no harm.
    for i in range(pairs_before, state[PAIRS]):
        seen[pairs[i] >> 6] = 0
    state[PAIRS] = pairs_before
    state[BLOCKS] = blocks_before
    _reset(state)
    return 0


# What became of a file, in `outcome`.
TAKEN = 0
BINARY = 1  # holds a NUL byte, and no line before it is ever shown (`text.shown_of_binary`)
LEFT = 2  # no bytes in the arena, a byte order mark, or a late NUL: the caller's business


@kernel(
    I64, BYTES, I64S, I64S, I64, I64,
    I64S_OUT, U64S_OUT, U32S_OUT, U32S_OUT, U64S_OUT, U64S_OUT, U32S_OUT, BYTES_OUT, U64S_OUT,
    I64S_OUT, BYTES_OUT,
)  # fmt: skip
def extract_files(
    arena: np.ndarray,
    begins: np.ndarray,
    lengths: np.ndarray,
    at: int,
    first: int,
    state: np.ndarray,
    seen: np.ndarray,
    pairs: np.ndarray,
    block_file: np.ndarray,
    block_offset: np.ndarray,
    block_length: np.ndarray,
    block_line: np.ndarray,
    block_flags: np.ndarray,
    block_pairs: np.ndarray,
    lines: np.ndarray,
    outcome: np.ndarray,
) -> int:
    """Take in whole files standing in the arena, from file `at`; file k gets the number first + k.

    begins, lengths: int64, as `fetch.read_files` fills them. lines: int64, lines of each file.
    outcome: uint8, what became of it. The rest as for `extract`. Returns the first file that is
    LEFT, for blocks must come in file order, or the number of files.
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
        blocks_before = state[BLOCKS]
        pairs_before = state[PAIRS]
        binary = extract(
            arena, begin, begin + length, 0, first + k, state, seen, pairs,
            block_file, block_offset, block_length, block_line, block_flags, block_pairs,
        )  # fmt: skip
        if binary != 0:
            abandon(blocks_before, pairs_before, state, seen, pairs)
            nul = memchr_index(arena, numba.uint8(0), begin, begin + length) - begin
            if nul >= BUFFER_BYTES or (
                nul >= FIRST_READ
                and (arena[begin] == 10 or arena[begin + 1] == 10 or arena[begin + 2] == 10)
            ):
                outcome[k] = LEFT
                return k
            outcome[k] = BINARY
            continue
        lines[k] = finish(
            length, first + k, state, seen, pairs,
            block_file, block_offset, block_length, block_line, block_flags, block_pairs,
        )  # fmt: skip
        outcome[k] = TAKEN
    return lengths.size
