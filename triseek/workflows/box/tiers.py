"""Which boundaries this machine has, and which of them a script runs behind."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from triseek.ipc import children
from triseek.workflows.box.child import landlock, seccomp

if TYPE_CHECKING:
    from triseek.workflows.execution import Tier

WeakestTier: TypeAlias = Literal["kernel", "process"]
_PROBE_S = 5.0


@dataclass(frozen=True, slots=True)
class Boundaries:
    """What separates a script from this machine."""

    landlock: int
    """Version of the kernel's interface; 0 if there is none."""
    seccomp: bool
    bubblewrap: str
    """Path of the program; "" if it is not installed, or may not make namespaces."""


class NoTier(Exception):
    """The machine has no boundary that is strong enough; the message says what to do."""


@cache
def boundaries() -> Boundaries:
    """Look which boundaries this machine has. The answer is kept."""
    return Boundaries(landlock.version(), seccomp.available(), _bubblewrap())


def choose(have: Boundaries, weakest: WeakestTier, *, trusted: bool) -> Tier:
    """Return the strongest tier there is.

    Raises:
        NoTier: it is weaker than `weakest`, and the script is not trusted.
    """
    if have.landlock and have.seccomp:
        return "kernel"
    if have.bubblewrap:
        return "bubblewrap"
    if trusted or weakest == "process":
        return "process"
    raise NoTier(
        f"this machine has no boundary for code that an agent writes: {missing(have)}. "
        "Install bubblewrap where it may make namespaces, or allow a process with limits and no "
        'boundary: set workflows.weakest_tier to "process"'
    )


def missing(have: Boundaries) -> str:
    """Say what this machine lacks for the tiers `kernel` and `bubblewrap`."""
    lacks = []
    if not have.landlock:
        lacks.append("no Landlock (Linux 5.13 and later, unless a container denies it)")
    if not have.seccomp:
        lacks.append("no seccomp filter (Linux on x86_64 or aarch64)")
    if not have.bubblewrap:
        lacks.append("no bubblewrap that may make namespaces")
    return ", ".join(lacks)


def report() -> list[tuple[str, bool, str]]:
    """Describe the tiers of this machine for `triseek doctor`: name, whether it is there, why."""
    have = boundaries()
    kernel = bool(have.landlock and have.seccomp)
    walls = f"Landlock {have.landlock or 'missing'}, seccomp {'yes' if have.seccomp else 'missing'}"
    monty = _monty()
    return [
        ("kernel", kernel, walls),
        ("bubblewrap", bool(have.bubblewrap), have.bubblewrap or "missing, or makes no namespaces"),
        ("monty", bool(monty), monty or "not installed: pip install 'triseek[monty]'"),
        ("process", True, "limits without a boundary; only if workflows.weakest_tier allows it"),
    ]


def _bubblewrap() -> str:
    program = shutil.which("bwrap") if sys.platform.startswith("linux") else None
    if program is None:
        return ""
    words = [program, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "/bin/true"]
    try:
        done = children.run(
            words, timeout=_PROBE_S, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return program if done.returncode == 0 else ""


def _monty() -> str:
    from importlib import metadata

    try:
        return f"pydantic-monty {metadata.version('pydantic-monty')}"
    except metadata.PackageNotFoundError:
        return ""
