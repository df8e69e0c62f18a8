"""The cache folder of compiled kernels, and whether it is complete. Does not import numba.

Numba stamps a cached kernel with the source of its own file only, so a kernel that calls one in
another file would outlive a change there. Therefore the folder's name carries a digest of this
whole package, of the numba that compiles it and of the processor it compiles for: a change of any
of these starts a new folder. A marker file is written when all kernels have been compiled, so a
search can tell in a millisecond that it would have to wait for the compiler, and use another
backend instead.
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

from triseek import paths, private

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARKER = "READY"
_trusted: set[str] = set()
"""Folders already checked: no other user can have changed them since."""
_loaded: set[str] = set()
"""Folders whose kernels this process has loaded or compiled, whether stored or not."""


@functools.cache
def digest() -> str:
    """Return the digest that identifies this build of the kernels: 16 hexadecimal digits."""
    state = hashlib.blake2b(digest_size=8)
    for source in sorted(Path(__file__).parent.glob("*.py")):
        state.update(source.name.encode())
        state.update(source.read_bytes())
    state.update(_numba_stamp())
    state.update(_processor())
    return state.hexdigest()


@functools.cache
def directory() -> str:
    """Return numba's cache folder for these kernels."""
    return os.environ.get("NUMBA_CACHE_DIR") or paths.kernel_cache(digest())


def is_ready() -> bool:
    """Return whether kernels can be used without waiting for the compiler."""
    jit_is_off = os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}
    return jit_is_off or directory() in _loaded or is_kept()


def is_kept() -> bool:
    """Return whether the folder holds all kernels compiled, so that loading needs no compiler.

    Root may have compiled them. Files that any other user could have written are not loaded.
    """
    # Path.exists would raise if the state folder may not be searched.
    marker = os.path.join(directory(), _marker())  # noqa: PTH118
    return os.path.exists(marker) and distrust() is None  # noqa: PTH110


def is_writable() -> bool:
    """Return whether numba may write to the folder and load kernels from it."""
    return _may_write(directory()) and distrust() is None


def distrust() -> private.Untrusted | None:
    """Return why kernels must not be loaded from the folder, if so: loading one runs its code."""
    folder = directory()
    if folder in _trusted:
        return None
    private.tighten(os.path.dirname(folder))  # noqa: PTH120 - as above
    trouble = private.distrust(folder) or _foreign(folder)
    if trouble is None and os.path.isdir(folder):  # noqa: PTH112 - as above
        _trusted.add(folder)
    return trouble


def _foreign(folder: str) -> private.Untrusted | None:
    """Return the first entry below a folder that is not trusted: another user's, or a link.

    It may have been placed there while the folder was open to others.
    """
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                trouble = private.distrust_owner(entry.path, entry.stat(follow_symlinks=False))
                if trouble is None and entry.is_symlink():
                    trouble = private.Untrusted(entry.path, "is a link", f"rm {entry.path}")
                if trouble is None and entry.is_dir(follow_symlinks=False):
                    trouble = _foreign(entry.path)
                if trouble is not None:
                    return trouble
    except OSError:
        return None  # a folder that cannot be read cannot be loaded from
    return None


def make() -> None:
    """Create the folder if it does not exist. An existing one keeps its mode, trusted or not.

    Raises:
        OSError: it cannot be created, or not safely.
    """
    if not os.path.isdir(directory()):  # noqa: PTH112 - as above
        private.make(directory())


def can_be_kept() -> bool:
    """Return whether compiled kernels can be stored in the folder, which need not exist yet."""
    folder = Path(directory())
    existing = next((path for path in (folder, *folder.parents) if os.path.exists(path)), folder)  # noqa: PTH110
    return _may_write(os.fspath(existing)) and distrust() is None


def _may_write(folder: str) -> bool:
    as_effective_user = os.access in os.supports_effective_ids
    return os.access(folder, os.W_OK | os.X_OK, effective_ids=as_effective_user)


def mark_loaded() -> None:
    """Record that this process has all kernels in memory, so that no search in it waits."""
    _loaded.add(directory())


def mark_ready() -> None:
    """Write the marker that all kernels have been compiled. A write error is ignored."""
    try:
        make()
        if distrust() is None:
            (Path(directory()) / _marker()).touch(0o600)
    except OSError:
        return


def _marker() -> str:
    """Return the marker's name, which depends on the sources and their paths and times."""
    return f"{_MARKER}-{digest()}-{_installation()}"


@functools.cache
def _installation() -> str:
    """Return a digest of the sources' paths, times and sizes: 16 hexadecimal digits.

    Numba's cache is keyed by path and modification time: for another installation of the same
    sources, or after a reinstallation, it compiles again.
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
    """Return the processor's name and features; numba recompiles if these change."""
    try:
        with open("/proc/cpuinfo", "rb") as info:  # noqa: PTH123 - a path in /proc
            first = info.read(8192).split(b"\n\n")[0].splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}".encode()
    wanted = (b"model name", b"flags", b"Features", b"CPU part")
    return b"\n".join(line for line in first if line.startswith(wanted))


@contextlib.contextmanager
def exclusive() -> Iterator[None]:
    """Hold the folder's lock, so that one process at a time compiles into it; others wait."""
    try:
        import fcntl

        make()
        if distrust() is not None:
            raise PermissionError
        lock = os.fdopen(os.open(Path(directory()) / "lock", os.O_RDWR | os.O_CREAT, 0o600), "w")
    except (ImportError, OSError):  # no locks, or the folder cannot be written: use no lock
        yield
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
