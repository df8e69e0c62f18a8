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

from triseek import paths, private

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARKER = "READY"
_trusted: set[str] = set()
"""Folders that have been looked at: nobody else can have changed them since."""
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

    Root may have compiled them; what anybody else could have written is not loaded.
    """
    # Not Path.exists, which raises where the state folder may not be looked into.
    marker = os.path.join(directory(), _marker())  # noqa: PTH118
    return os.path.exists(marker) and distrust() is None  # noqa: PTH110


def is_writable() -> bool:
    """Whether numba may write here, and load what lies here."""
    return _may_write(directory()) and distrust() is None


def distrust() -> private.Untrusted | None:
    """Why kernels are not loaded from here: loading one runs what its file holds."""
    folder = directory()
    if folder in _trusted:
        return None
    private.tighten(os.path.dirname(folder))  # noqa: PTH120 - as above
    trouble = private.distrust(folder) or _foreign(folder)
    if trouble is None and os.path.isdir(folder):  # noqa: PTH112 - as above
        _trusted.add(folder)
    return trouble


def _foreign(folder: str) -> private.Untrusted | None:
    """The first file or folder below this one that another user owns.

    It may have been put there while the folder was open to others.
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
        return None  # what cannot be looked at cannot be loaded
    return None


def make() -> None:
    """Make the folder if it is not there; one that is there keeps its mode, and its mistrust.

    Raises:
        OSError: it cannot be made, or not safely.
    """
    if not os.path.isdir(directory()):  # noqa: PTH112 - as above
        private.make(directory())


def can_be_kept() -> bool:
    """Whether compiled kernels can be written here, or in a folder that is yet to be made."""
    folder = Path(directory())
    existing = next((path for path in (folder, *folder.parents) if os.path.exists(path)), folder)  # noqa: PTH110
    return _may_write(os.fspath(existing)) and distrust() is None


def _may_write(folder: str) -> bool:
    as_effective_user = os.access in os.supports_effective_ids
    return os.access(folder, os.W_OK | os.X_OK, effective_ids=as_effective_user)


def mark_loaded() -> None:
    """Say that this process has every kernel in memory, so that no search in it waits."""
    _loaded.add(directory())


def mark_ready() -> None:
    """Say that every kernel has been compiled; silent where nothing can be written."""
    try:
        make()
        if distrust() is None:
            (Path(directory()) / _marker()).touch(0o600)
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

        make()
        if distrust() is not None:
            raise PermissionError
        lock = os.fdopen(os.open(Path(directory()) / "lock", os.O_RDWR | os.O_CREAT, 0o600), "w")
    except (ImportError, OSError):  # no locks here, or nothing can be written: compile alone
        yield
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
