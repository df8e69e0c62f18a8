"""From candidate blocks to matching lines, in one pass without the GIL.

For each file its candidate blocks are read through a small arena (never mapped), its stat is
compared with what was indexed, and the lines that match are copied out. One call answers for
thousands of files, so Python's share of a search is a few calls whatever is found.

How a line comes to match:

- a needle occurs in it (one of several, see `kernels.literal`), then
- nothing more (plain literals), or no word character stands on either side of the needle, or
  the automaton accepts the line;
- without needles the automaton looks at every line.

What ASCII alone cannot decide (a byte >= 0x80 next to a word, or met by the automaton) is given
out as uncertain and not counted: the caller decides it exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba

from triseek.kernels.automaton import line_matches, match_lines
from triseek.kernels.fetch import (
    STAT_CTIME,
    STAT_INODE,
    STAT_MTIME,
    STAT_OK,
    STAT_SIZE,
    STAT_SLOTS,
    open_stat,
    read_range,
)
from triseek.kernels.jit import (
    BYTES,
    BYTES_OUT,
    I64,
    I64S,
    I64S_OUT,
    ROWS_OUT,
    U16S,
    U32S,
    U64S,
    U64S_OUT,
    kernel,
)
from triseek.kernels.libc import c_close, copy, memchr_index
from triseek.kernels.lines import count_newlines, line_begin
from triseek.kernels.literal import find

if TYPE_CHECKING:
    import numpy as np

# Slots of `options`.
CONFIRM = 0  # CONFIRM_*
WANT_ROWS = 1  # copy matching lines out
WANT_NUMBERS = 2  # and find their line numbers
MOST = 3  # stop after this many certain lines of a file; 0: no bound
OPTION_SLOTS = 4

CONFIRM_NONE = 0
CONFIRM_WORD = 1
CONFIRM_AUTOMATON = 2
CONFIRM_LATER = 3  # every line with a needle is uncertain

# Outcome of a file.
SEARCHED = 0
CHANGED = 1  # its stat is not what was indexed, or it could not be read: look at all of it
UNDONE = 2  # not reached; call again from here

# Slots of `room`: in, capacity and what is used of it; the caller sets `used` to zero.
ROWS_USED = 0
TEXT_USED = 1
BYTES_READ = 2
ROOM_SLOTS = 3


@kernel(I64, BYTES, I64, I64, I64)
def _beside_word(text: np.ndarray, at: int, begin: int, end: int) -> int:
    """0 when text[at] is no word character, 1 when it is, 2 when ASCII cannot say."""
    if at < begin or at >= end:
        return 0
    byte = text[at]
    if byte >= 128:
        return 2
    if (
        (byte >= 97 and byte <= 122)
        or (byte >= 65 and byte <= 90)
        or (byte >= 48 and byte <= 57)
        or byte == 95
    ):
        return 1
    return 0


@kernel(
    I64, BYTES, I64, I64, I64, BYTES, I64S, I64S, U32S, U16S, I64, BYTES, I64S_OUT,
)  # fmt: skip
def next_line(
    text: np.ndarray,
    at: int,
    end: int,
    confirm: int,
    needles: np.ndarray,
    needle_starts: np.ndarray,
    rare: np.ndarray,
    class_offsets: np.ndarray,
    table: np.ndarray,
    start: int,
    eol_accept: np.ndarray,
    found: np.ndarray,
) -> int:
    """The next line of text[at:end] with a needle that matches or may; `at` is a line start.

    needles: uint8; needle k is needles[needle_starts[k] : needle_starts[k + 1]], its rarest
    two bytes at rare[2 * k] and rare[2 * k + 1]. class_offsets, table, start, eol_accept: the
    automaton (`query.automaton.Dfa`). found: int64[2 + needles], found[0] and found[1] become the
    line's begin and end (its newline included); the rest keeps each needle's next occurrence and
    must be -1 when a new text begins. Returns 0 when there is no such line, 1 for a match, 2 when
    only an exact look can tell.
    """
    count = rare.size // 2
    while at < end:
        hit = end
        which = 0
        for k in range(count):
            if found[2 + k] < at:
                found[2 + k] = find(
                    text, at, end, needles, needle_starts[k],
                    needle_starts[k + 1] - needle_starts[k], rare[2 * k], rare[2 * k + 1],
                )  # fmt: skip
            if found[2 + k] < hit:
                hit = found[2 + k]
                which = k
        if hit >= end:
            return 0
        begin = line_begin(text, hit, at)
        size = needle_starts[which + 1] - needle_starts[which]
        verdict = numba.int64(1)
        if confirm == CONFIRM_WORD:
            before = _beside_word(text, hit - 1, begin, end)
            after = _beside_word(text, hit + size, begin, end)
            if before == 1 or after == 1:
                # Here it is part of a longer word; its next occurrence may not be, nor may
                # another needle that begins at the same place.
                found[2 + which] = find(
                    text,
                    hit + 1,
                    end,
                    needles,
                    needle_starts[which],
                    size,
                    rare[2 * which],
                    rare[2 * which + 1],
                )
                continue
            if before == 2 or after == 2:
                verdict = 2
        elif confirm == CONFIRM_LATER:
            verdict = 2
        until = memchr_index(text, numba.uint8(10), hit, end)
        if confirm == CONFIRM_AUTOMATON:
            verdict = numba.int64(
                line_matches(text, begin, until, class_offsets, table, start, eol_accept)
            )
            if verdict == 0:
                at = until + 1
                continue
        found[0] = begin
        found[1] = min(until + 1, end)
        return verdict
    return 0


@kernel(
    I64, I64, BYTES, I64S, I64S, I64S, U64S, U64S, U32S, I64S, I64, I64,
    I64S, BYTES, I64S, I64S, U32S, U16S, I64, BYTES,
    BYTES_OUT, BYTES_OUT, I64S_OUT, I64S_OUT, U64S_OUT, U64S_OUT, BYTES_OUT, U64S_OUT,
    ROWS_OUT, BYTES_OUT, BYTES_OUT, I64S_OUT, BYTES_OUT, I64S_OUT,
)  # fmt: skip
def verify_files(
    directory: int,
    names: np.ndarray,
    starts: np.ndarray,
    files: np.ndarray,
    edges: np.ndarray,
    offsets: np.ndarray,
    sizes: np.ndarray,
    numbers: np.ndarray,
    expected: np.ndarray,
    first: int,
    last: int,
    options: np.ndarray,
    needles: np.ndarray,
    needle_starts: np.ndarray,
    rare: np.ndarray,
    class_offsets: np.ndarray,
    table: np.ndarray,
    start: int,
    eol_accept: np.ndarray,
    scratch: np.ndarray,
    arena: np.ndarray,
    stats: np.ndarray,
    found: np.ndarray,
    hit_begin: np.ndarray,
    hit_end: np.ndarray,
    hit_verdict: np.ndarray,
    cursor: np.ndarray,
    rows: np.ndarray,
    row_flag: np.ndarray,
    text_out: np.ndarray,
    counts: np.ndarray,
    outcome: np.ndarray,
    room: np.ndarray,
) -> int:
    """Search the candidate blocks of files[first:last] and copy out what matches.

    names, starts, files: as for `fetch`. Blocks edges[k]..edges[k + 1] - 1 belong to files[k]:
    offsets, sizes (uint64, bytes), numbers (uint32, first line). expected: int64, the indexed
    stat row of each of files[k]. The arena must hold the largest block. hit_*, cursor: room
    for what the automaton finds at a time, as `automaton.match_lines` wants it. rows: `ROW`, with
    `file` the index k, `number` 0 unless wanted, `begin` and `end` into text_out; row_flag: uint8
    per row, 1 match, 2 uncertain. counts: int64 per k, certain lines. outcome: uint8 per k.
    Returns the first k not done, because rows or text would not fit: the rows of that file
    are taken back, and a caller whose buffers were empty must make them larger.
    """
    want_rows = options[WANT_ROWS] != 0
    want_numbers = options[WANT_NUMBERS] != 0
    most = options[MOST]
    confirm = options[CONFIRM]
    for k in range(first, last):
        counts[k] = 0
        outcome[k] = SEARCHED
        descriptor = open_stat(directory, names, starts, files[k], scratch, stats, 0)
        at = k * STAT_SLOTS
        if (
            descriptor < 0
            or stats[STAT_OK] != 1
            or stats[STAT_SIZE] != expected[at + STAT_SIZE]
            or stats[STAT_MTIME] != expected[at + STAT_MTIME]
            or stats[STAT_CTIME] != expected[at + STAT_CTIME]
            or stats[STAT_INODE] != expected[at + STAT_INODE]
        ):
            outcome[k] = CHANGED
            if descriptor >= 0:
                c_close(descriptor)
            continue
        rows_before = room[ROWS_USED]
        text_before = room[TEXT_USED]
        block = edges[k]
        full = False
        done = False
        while block < edges[k + 1] and not full and not done and outcome[k] == SEARCHED:
            # As many adjacent blocks as the arena holds are one read and one text.
            run = block + 1
            length = numba.int64(sizes[block])
            while (
                run < edges[k + 1]
                and offsets[run] == offsets[run - 1] + sizes[run - 1]
                and length + numba.int64(sizes[run]) <= arena.size
            ):
                length += numba.int64(sizes[run])
                run += 1
            origin = numba.int64(offsets[block])
            if read_range(descriptor, arena.ctypes.data, length, origin) != length:
                outcome[k] = CHANGED
                break
            room[BYTES_READ] += length
            line = numba.int64(numbers[block])
            counted = 0
            position = 0
            for j in range(found.size):
                found[j] = -1
            hits = 0
            hit = 0
            while True:
                if rare.size != 0:
                    verdict = next_line(
                        arena, position, length, confirm, needles, needle_starts, rare,
                        class_offsets, table, start, eol_accept, found,
                    )  # fmt: skip
                    if verdict == 0:
                        break
                    begin = found[0]
                    end = found[1]
                    position = end
                else:
                    if hit == hits:
                        if position >= length:
                            break
                        hits = match_lines(
                            arena, position, length, class_offsets, table, start, eol_accept,
                            hit_begin, hit_end, hit_verdict, cursor,
                        )  # fmt: skip
                        hit = 0
                        position = numba.int64(cursor[0])
                        if hits == 0:
                            break
                    begin = numba.int64(hit_begin[hit])
                    end = numba.int64(hit_end[hit])
                    verdict = numba.int64(hit_verdict[hit])
                    hit += 1
                if verdict == 1:
                    counts[k] += 1
                if want_rows or verdict == 2:
                    row = room[ROWS_USED]
                    target = room[TEXT_USED]
                    size = end - begin
                    if row >= rows.size or target + size > text_out.size:
                        full = True
                        break
                    if want_numbers:
                        line += count_newlines(arena, counted, begin)
                        counted = begin
                        rows[row]["number"] = line
                    else:
                        rows[row]["number"] = 0
                    rows[row]["file"] = k
                    rows[row]["offset"] = origin + begin
                    rows[row]["begin"] = target
                    rows[row]["end"] = target + size
                    rows[row]["context"] = False
                    row_flag[row] = verdict
                    copy(arena, begin, size, text_out, target)
                    room[ROWS_USED] = row + 1
                    room[TEXT_USED] = target + size
                if most > 0 and counts[k] >= most:
                    done = True
                    break
            block = run
        c_close(descriptor)
        if full or outcome[k] == CHANGED:
            room[ROWS_USED] = rows_before
            room[TEXT_USED] = text_before
            counts[k] = 0
            if full:
                outcome[k] = UNDONE
                return k
    return last
