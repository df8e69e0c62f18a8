r"""What ripgrep shows of a file with NUL bytes that was named on the command line.

Such a file is searched to its end, but rows are shown only as long as no NUL has been noticed;
then `binary file matches (found "\0" byte around offset N)` takes their place. When a NUL is
noticed depends on how ripgrep reads: a mapped file (up to ten files were named) shows its
first 64 KiB at once and the rest match by match; anything else comes in buffers of 64 KiB.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.cli.render.found import Found, Rows

BUFFER = 1 << 16
MAPPED_MAX = 10
"""ripgrep maps files when at most so many are named, and nothing else."""


def noticed_mapped(rows: Rows, text: bytes, head: Callable[[int], bytes]) -> tuple[int, int | None]:
    """How many rows are shown, and the offset of the NUL that stops them.

    `head(n)` gives the first n bytes of the file.
    """
    early = head(BUFFER).find(b"\0")
    if early >= 0:
        return 0, early
    if b"\0" not in text:
        return len(rows), None
    for place, (_, offset, begin, end, _) in enumerate(rows):
        at = text.find(b"\0", begin, end)
        if at >= 0:
            return place, offset + at - begin
    return len(rows), None


def noticed_buffered(rows: Rows, data: bytes) -> tuple[int, int | None]:
    """The same for a file read buffer by buffer; `data` is all of it."""
    at = data.find(b"\0")
    if at < 0:
        return len(rows), None
    shown_end = _last_whole_line(data, at)
    return bisect_left(rows.offsets, shown_end), at


def _last_whole_line(data: bytes, nul: int) -> int:
    """Where the lines end that were searched before the buffer with the NUL was read."""
    begin = 0
    end = BUFFER
    while nul >= end:
        line_end = data.rfind(b"\n", begin, end) + 1
        if line_end <= begin:  # a line longer than the buffer: the buffer grows
            end += end - begin
            continue
        begin, end = line_end, line_end + BUFFER
    return begin


def without_rest(found: Found, shown: int) -> Found:
    """What was found, without the rows from `shown` on.

    ripgrep comes as far as the first row it does not show: if that is a match, it counts, and
    if it lies apart, the separator has been written already.
    """
    rows = found.rows
    if shown == len(rows):
        return found
    hits = shown + 1 - sum(rows.contexts[: shown + 1])
    apart = shown > 0 and rows.offsets[shown] != (
        rows.offsets[shown - 1] + rows.ends[shown - 1] - rows.begins[shown - 1]
    )
    return found._replace(rows=rows.part(0, shown), hits=hits, cut_at_gap=apart)
