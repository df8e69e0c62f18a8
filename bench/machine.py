"""Which machine, which versions, how busy: a figure without them is a rumour."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

_PACKAGES = ("numpy", "numba", "pyarrow", "google-re2", "ignore-python", "ripgrepx")


def describe() -> dict[str, Any]:
    """Everything that may explain a figure."""
    return {
        "cpu": cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": sys.version.split()[0],
        "packages": {name: _version(name) for name in _PACKAGES},
        "page_cache": "warm: every tree is read by the first, unmeasured round",
    }


def cpu() -> str:
    """The processor's own name for itself."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        told = ""
    found = re.search(r"^model name\s*:\s*(.+)$", told, re.MULTILINE)
    return found.group(1).strip() if found else platform.processor() or platform.machine()


def load() -> float:
    """Average of runnable processes over the last minute."""
    return round(os.getloadavg()[0], 2)


def slug() -> str:
    """The processor, short enough for a folder's name."""
    return re.sub(r"[^a-z0-9]+", "-", cpu().lower()).strip("-")[:40]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"
