"""Read candidate blocks and find their matching lines, in one pass without the GIL.

For each file its stat is compared with the indexed one, its candidate blocks are read through a
small arena (never mapped), and the matching lines are copied out. One call processes thousands of
files, so a search makes only a few calls from Python, however much is found.

A line matches if

- a needle occurs in it (one of several, see `kernels.needles`), and then
- no further condition holds (plain literals), or no word character is on either side of the
  needle, or the automaton accepts the line;
- if there are no needles, the automaton alone decides on every line.

Lines that ASCII alone cannot decide (a byte >= 0x80 next to a word, or read by the automaton) are
reported as uncertain and not counted: the caller decides them exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba

from triseek.kernels.automaton import line_matches, match_lines
from triseek.kernels.fetch import STAT_SLOTS, is_same_stat, open_stat, read_range
from triseek.kernels.jit import (
    BYTES,
    BYTES_OUT,
    DFA,
    I64,
    I64S,
    I64S_OUT,
    LINE_HITS_OUT,
    NEEDLES,
    ROWS_OUT,
    U32S,
    U64S,
    U64S_OUT,
    inlined,
    kernel,
)
from triseek.kernels.libc import c_close, copy, memchr_index
from triseek.kernels.needles import count_newlines, find, line_begin

if TYPE_CHECKING:
    import numpy as np

    from triseek.kernels.formats import Dfa, LineHits, Needles

# Slots of `options`.
CONFIRM = 0  # CONFIRM_*
WANT_ROWS = 1  # copy matching lines out
WANT_NUMBERS = 2  # and compute their line numbers
MOST = 3  # stop after this many certain lines of a file; 0: no limit
OPTION_SLOTS = 4

CONFIRM_NONE = 0
CONFIRM_WORD = 1
CONFIRM_AUTOMATON = 2
CONFIRM_LATER = 3  # every line with a needle is uncertain

# Outcome of a file.
SEARCHED = 0
CHANGED = 1  # its stat is not the indexed one, or it could not be read: search all of it
UNDONE = 2  # the output is full; call again from here

# Slots of `room`: the used part of the output buffers, and the bytes read; initially zero.
ROWS_USED = 0
TEXT_USED = 1
BYTES_READ = 2
ROOM_SLOTS = 3


@kernel(I64, BYTES, I64, I64, I64)
def _beside_word(text: np.ndarray, at: int, begin: int, end: int) -> int:
    """Return 1 if text[at] is a word character, 0 if not, 2 if it is not ASCII."""
    if at < begin or at >= end:
        return 0
    byte = text[at]
    if byte >= 128:
        return 2
    letter = byte | 32
    return 1 if 97 <= letter <= 122 or 48 <= byte <= 57 or byte == 95 else 0


@inlined
def _find_needle(text: np.ndarray, begin: int, end: int, needles: Needles, k: int) -> int:
    """Return the index of needle k's first occurrence in text[begin:end], or `end` if none."""
    first, rare = needles.starts[k], needles.rare
    size = needles.starts[k + 1] - first
    return find(text, begin, end, needles.text, first, size, rare[2 * k], rare[2 * k + 1])


@kernel(I64, BYTES, I64, I64, I64, NEEDLES, DFA, I64S_OUT)
def next_line(
    text: np.ndarray,
    at: int,
    end: int,
    confirm: int,
    needles: Needles,
    dfa: Dfa,
    found: np.ndarray,
) -> int:
    """Find the next line of text[at:end] that has a needle and matches or may match.

    `at` is a line start. found: int64[2 + needles]; found[0] and found[1] become the line's begin
    and end (with its newline); the rest caches each needle's next occurrence and must be -1 when a
    new text begins. Returns 0 if there is no such line, 1 for a match, 2 if only an exact search
    can decide.
    """
    count = needles.rare.size // 2
    while at < end:
        hit = end
        which = 0
        for k in range(count):
            if found[2 + k] < at:
                found[2 + k] = _find_needle(text, at, end, needles, k)
            if found[2 + k] < hit:
                hit = found[2 + k]
                which = k
        if hit >= end:
            return 0
        begin = line_begin(text, hit, at)
        size = needles.starts[which + 1] - needles.starts[which]
        verdict = numba.int64(1)
        if confirm == CONFIRM_WORD:
            before = _beside_word(text, hit - 1, begin, end)
            after = _beside_word(text, hit + size, begin, end)
            if before == 1 or after == 1:
                # This occurrence is part of a longer word; its next one may not be, nor may
                # another needle that begins at the same place.
                found[2 + which] = _find_needle(text, hit + 1, end, needles, which)
                continue
            if before == 2 or after == 2:
                verdict = 2
        elif confirm == CONFIRM_LATER:
            verdict = 2
        until = memchr_index(text, numba.uint8(10), hit, end)
        if confirm == CONFIRM_AUTOMATON:
            verdict = numba.int64(line_matches(text, begin, until, dfa))
            if verdict == 0:
                at = until + 1
                continue
        found[0] = begin
        found[1] = min(until + 1, end)
        return verdict
    return 0


@kernel(
    I64, I64, BYTES, I64S, I64S, I64S, U64S, U64S, U32S, I64S, I64, I64,
    I64S, NEEDLES, DFA,
    BYTES_OUT, BYTES_OUT, I64S_OUT, I64S_OUT, LINE_HITS_OUT, U64S_OUT,
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
    needles: Needles,
    dfa: Dfa,
    scratch: np.ndarray,
    arena: np.ndarray,
    stats: np.ndarray,
    found: np.ndarray,
    hits: LineHits,
    cursor: np.ndarray,
    rows: np.ndarray,
    row_flag: np.ndarray,
    text_out: np.ndarray,
    counts: np.ndarray,
    outcome: np.ndarray,
    room: np.ndarray,
) -> int:
    """Search the candidate blocks of files[first:last] and copy out the matching lines.

    names, starts, files: as for `fetch`. Blocks edges[k]..edges[k + 1] - 1 belong to files[k]:
    offsets, sizes (uint64, bytes), numbers (uint32, first line). expected: int64, the indexed
    stat row of each of files[k]. The arena must hold the largest block. hits, cursor: output
    buffers for `automaton.match_lines`. rows: `ROW`, with `file` the index k, `number` 0 unless
    wanted, `begin` and `end` into text_out; row_flag: uint8 per row, 1 match, 2 uncertain.
    counts: int64 per k, certain lines. outcome: uint8 per k.
    Returns the first k not done, because rows or text would not fit: the rows of that file are
    removed again, and a caller whose buffers were empty must enlarge them. Returns `last` if all
    are done.
    """
    want_rows = options[WANT_ROWS] != 0
    want_numbers = options[WANT_NUMBERS] != 0
    most = options[MOST]
    confirm = options[CONFIRM]
    for k in range(first, last):
        counts[k] = 0
        outcome[k] = SEARCHED
        descriptor = open_stat(directory, names, starts, files[k], scratch, stats, 0)
        if descriptor < 0 or not is_same_stat(stats, 0, expected, k * STAT_SLOTS):
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
            # Adjacent blocks are read together, as one text, as many as fit in the arena.
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
            hit_count = 0
            hit = 0
            while True:
                if needles.rare.size != 0:
                    verdict = next_line(arena, position, length, confirm, needles, dfa, found)
                    if verdict == 0:
                        break
                    begin = found[0]
                    end = found[1]
                    position = end
                else:
                    if hit == hit_count:
                        if position >= length:
                            break
                        hit_count = match_lines(arena, position, length, dfa, hits, cursor)
                        hit = 0
                        position = numba.int64(cursor[0])
                        if hit_count == 0:
                            break
                    begin = numba.int64(hits.begin[hit])
                    end = numba.int64(hits.end[hit])
                    verdict = numba.int64(hits.verdict[hit])
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
                    rows[row]["number"] = line if want_numbers else 0
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
