"""`--stats`: ripgrep's closing figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triseek.cli.render.found import Counts


def statistics(counts: Counts, *, searches: int, bytes_searched: int, seconds: float) -> bytes:
    """The block of text that ends a search with --stats."""
    return (
        f"\n{counts.matches} matches\n"
        f"{counts.matched_lines} matched lines\n"
        f"{counts.files_matched} files contained matches\n"
        f"{searches} files searched\n"
        f"{counts.bytes_printed} bytes printed\n"
        f"{bytes_searched} bytes searched\n"
        f"{seconds:.6f} seconds spent searching\n"
        f"{seconds:.6f} seconds total\n"
    ).encode()
