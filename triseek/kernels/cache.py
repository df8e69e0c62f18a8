"""Where compiled kernels are kept, and whether they are there yet; needs no numba to say so.

Numba stamps a cached kernel with the source of its own file only, so a kernel that calls one in
another file would outlive a change there. The folder's name therefore carries a digest of this
whole package, of the numba that compiles it and of the processor it compiles for: any of these
changing starts a fresh folder. A marker file is written once every kernel has been compiled, so
a search can tell in a millisecond that it would have to wait for the compiler, and take another
road instead.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING

from triseek import paths

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARKER = "READY"
_loaded: set[str] = set()
"""Folders whose kernels this process has loaded or compiled, whether they can be kept or not."""


@functools.cache
def digest() -> str:
    """Name of this build of the kernels: 16 hexadecimal digits."""
    state = hashlib.blake2b(digest_size=8)
    for source in sorted(Path(__file__).parent.glob("*.py")):
        state.update(source.name.encode())
        state.update(source.read_bytes())
    state.update(_numba_stamp())
    state.update(_processor())
    return state.hexdigest()


@functools.cache
def directory() -> str:
    """Numba's cache folder for these kernels."""
    return os.environ.get("NUMBA_CACHE_DIR") or paths.kernel_cache(digest())


def is_ready() -> bool:
    """Whether kernels can be had without waiting for a compiler."""
    jit_is_off = os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}
    return jit_is_off or directory() in _loaded or is_kept()


def is_kept() -> bool:
    """Whether every kernel has been compiled here before, so that loading takes no compiler.

    Somebody else may have compiled them, if it is root: loading them runs what they hold.
    """
    # Not Path.exists, which raises where the state folder may not be looked into.
    marker = os.path.join(directory(), _marker())  # noqa: PTH118
    return os.path.exists(marker) and (is_writable() or is_trusted())  # noqa: PTH110


def is_writable() -> bool:
    """Whether numba may write here."""
    return _may_write(directory())


def is_trusted() -> bool:
    """Whether what the folder holds was put there by this user or by root."""
    try:
        return os.stat(directory()).st_uid in {0, os.geteuid()}  # noqa: PTH116 - as above
    except OSError:
        return False


def can_be_kept() -> bool:
    """Whether compiled kernels can be written here, or in a folder that is yet to be made."""
    folder = Path(directory())
    existing = next((path for path in (folder, *folder.parents) if os.path.exists(path)), folder)  # noqa: PTH110
    return _may_write(os.fspath(existing))


def _may_write(folder: str) -> bool:
    as_effective_user = os.access in os.supports_effective_ids
    return os.access(folder, os.W_OK | os.X_OK, effective_ids=as_effective_user)


def mark_loaded() -> None:
    """Say that this process has every kernel in memory, so that no search in it waits."""
    _loaded.add(directory())


def mark_ready() -> None:
    """Say that every kernel has been compiled; silent where nothing can be written."""
    try:
        Path(directory()).mkdir(parents=True, exist_ok=True)
        (Path(directory()) / _marker()).touch()
    except OSError:
        return


def _marker() -> str:
    """Name of the marker: for these sources, where they are and as old as they are."""
    return f"{_MARKER}-{digest()}-{_installation()}"


@functools.cache
def _installation() -> str:
    """The sources' places and times, as 16 hexadecimal digits.

    Numba keeps what it compiled by path and modification time: for another installation of the
    same sources, or the same one installed anew, it compiles again.
    """
    state = hashlib.blake2b(digest_size=8)
    for source in sorted(Path(__file__).parent.glob("*.py")):
        stat = source.stat()
        state.update(f"{source}\0{stat.st_mtime_ns}\0{stat.st_size}\0".encode())
    return state.hexdigest()


def _numba_stamp() -> bytes:
    spec = importlib.util.find_spec("numba")
    if spec is None or spec.origin is None:
        return b"none"
    stat = Path(spec.origin).stat()
    return f"{spec.origin}:{stat.st_mtime_ns}".encode()


def _processor() -> bytes:
    """The processor's name and features; numba recompiles when these change."""
    try:
        with open("/proc/cpuinfo", "rb") as info:  # noqa: PTH123 - not a user's file
            first = info.read(8192).split(b"\n\n")[0].splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}".encode()
    wanted = (b"model name", b"flags", b"Features", b"CPU part")
    return b"\n".join(line for line in first if line.startswith(wanted))


@contextlib.contextmanager
def exclusive() -> Iterator[None]:
    """Be the only process that compiles into this folder; others wait for it to be done."""
    try:
        import fcntl

        Path(directory()).mkdir(parents=True, exist_ok=True)
        lock = (Path(directory()) / "lock").open("w")
    except (ImportError, OSError):  # no locks here, or nothing can be written: compile alone
        yield
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
