"""Memory that answers have left behind, given back while nobody asks.

What Python frees stays in the C library's arenas, one for each thread that has served a request;
pages of an index that were read stay mapped. Both are counted as the daemon's, and neither is
needed: measured on the Linux tree, after the largest answers there are, 400 MB become 300.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.engine.engine import Engine


def give_back(engines: Iterable[Engine]) -> None:
    """Give back what can be had again; a few milliseconds of one thread."""
    gc.collect()
    for engine in engines:
        engine.release()
    if sys.platform == "linux":
        try:
            ctypes.CDLL(None).malloc_trim(0)
        except (AttributeError, OSError):
            return  # another C library
