"""Memory that answers have left behind, given back every few seconds.

What Python frees stays in the C library's arenas, of which each thread that serves a request may
get its own; pages of an index that were read stay mapped. Both are counted as the daemon's, and
neither is needed.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.engine.engine import Engine


_ARENA_MAX = -8  # M_ARENA_MAX of glibc's malloc.h
ARENAS = 2
"""As many as there are threads that are ever busy at once: one holds the interpreter."""


def share_arenas() -> None:
    """Have all threads take memory from the same few arenas; before there are threads."""
    _glibc("mallopt", _ARENA_MAX, ARENAS)


def give_back(engines: Iterable[Engine]) -> None:
    """Give back what can be had again; a few milliseconds of one thread."""
    gc.collect()
    for engine in engines:
        engine.release()
    _glibc("malloc_trim", 0)


def _glibc(function: str, *numbers: int) -> None:
    if sys.platform == "linux":
        try:
            getattr(ctypes.CDLL(None), function)(*numbers)
        except (AttributeError, OSError):
            return  # another C library
