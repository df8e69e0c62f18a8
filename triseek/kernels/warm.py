"""Compile every kernel, once, so that no search ever waits for it.

Kernels compile when their module is imported. One process at a time does it, under a lock:
several filling one cache at once is a known way to crash numba.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from triseek.kernels import cache

if TYPE_CHECKING:
    from triseek.model.index import Progress

_NOT_KERNELS = {"__init__", "cache", "jit", "rows", "simd", "warm"}


def modules() -> list[str]:
    """The modules that hold kernels, in the order they build on each other where it matters."""
    names = {path.stem for path in Path(__file__).parent.glob("*.py")} - _NOT_KERNELS
    return sorted(names, key=lambda name: (name == "verify", name))


def warm(progress: Progress) -> int:
    """Import, and so compile, every kernel; how many there are.

    Where they cannot be kept (`cache.can_be_kept`), they serve this process only.
    """
    from triseek.kernels.jit import REGISTRY

    names = modules()
    with cache.exclusive():
        for number, name in enumerate(names):
            progress("compile", number, len(names))
            importlib.import_module(f"triseek.kernels.{name}")
        progress("compile", len(names), len(names))
        cache.mark_ready()
    cache.mark_loaded()
    return len(REGISTRY)
