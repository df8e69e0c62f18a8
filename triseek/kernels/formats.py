"""Formats of what kernels and their callers pass to each other: rows, and groups of arrays.

Whether an array is read-only is part of its type for numba, and in a `NamedTuple` it has to be
exactly the declared one: the arrays of `Dfa` and `Needles` are read-only, all others writable.
This module imports no numba.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

ROW = np.dtype(
    [
        ("file", "<u4"),  # index into the batch's paths
        ("number", "<u8"),  # 1-based line number of the row's first line; 0 if not requested
        ("offset", "<u8"),  # byte offset of the row in the file's text (after any BOM)
        ("begin", "<u8"),  # the row is text[begin:end] of the batch, line terminator included
        ("end", "<u8"),
        ("context", "?"),  # a line around a match, not a match itself
    ]
)
"""One row per matching (or context) line. In multiline mode, one row per run of adjacent matches,
which holds every line that they cover."""


class Dfa(NamedTuple):
    """A DFA as run by `kernels.automaton`.

    The state after a byte is `table[offsets[byte] + state]`. Rows are byte classes, so that a
    transition depends on a single load.
    """

    offsets: Array
    """uint32[256]: start of the row of each byte's class in `table`."""
    table: Array
    """uint16[classes * states]. After a newline: `start`, or `MATCH` if the line matches."""
    start: int
    """State at the beginning of a line; `MATCH` if every line matches."""
    eol_accept: Array
    """uint8[states]: whether the line matches if it ends in this state."""


class Needles(NamedTuple):
    """Strings to search for."""

    text: Array
    """uint8: all of them, one after the other; at least one byte."""
    starts: Array
    """int64[needles + 1]: the start of each in `text`, and the end of the last."""
    rare: Array
    """int64[2 * needles]: the places in each of its rarest two bytes."""


class LineHits(NamedTuple):
    """Lines that match or may match; the arrays are of the same length, at least 1."""

    begin: Array
    """uint64: offset in the text."""
    end: Array
    """uint64: the same, after the newline if there is one."""
    verdict: Array
    """uint8: `automaton.MATCHED` or `UNCERTAIN`."""


class BlockBuffers(NamedTuple):
    """The buffers of `kernels.blocks`, which are carried from file to file."""

    state: Array
    """int64[STATE_SLOTS]"""
    seen: Array
    """uint64[SEEN_WORDS], all zero between blocks."""
    pairs: Array
    """uint32: trigrams; those of block b are pairs[ends[b - 1] : ends[b]]."""
    file: Array
    """uint32, and as all that follow one element for each closed block: its file."""
    offset: Array
    """uint64, in the file."""
    length: Array
    """uint64, bytes."""
    line: Array
    """uint32: the 1-based number of its first line."""
    flags: Array
    """uint8: 1 if it holds a byte >= 0x80."""
    ends: Array
    """uint64, in `pairs`."""


def read_only(array: Array) -> Array:
    """Make an array read-only; return it."""
    array.flags.writeable = False
    return array
