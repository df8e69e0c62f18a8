"""Landlock: which files a process and its threads may open. Linux 5.13 and later.

See Documentation/userspace-api/landlock.rst of the kernel. What it does not cover (metadata by
`stat`, modes and owners of files, unnamed files) is seccomp's part.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys

from triseek.workflows.box.child import system

TYPE_CHECKING = False  # importing typing takes longer than all of this
if TYPE_CHECKING:
    from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_VERSION = 1
_PATH_BENEATH = 1
_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_MAKE_REG, _TRUNCATE = 1 << 8, 1 << 14
_FILE_ACCESS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""What can be denied, by the interface version that has added it."""
_TCP = 0b11  # bind, connect
_SCOPES = 0b11  # abstract sockets, signals
_NETWORK_VERSION, _SCOPES_VERSION = 4, 6


def version() -> int:
    """Return the version of the interface; 0 where there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return system.syscall(_CREATE_RULESET, None, 0, _VERSION)
    except OSError:
        return 0


def restrict(*, readable: Iterable[str], listable: Iterable[str], writable: str) -> None:
    """Confine this thread, and those that it starts, to some files for good.

    Files in `writable` can be made, read and written. They cannot be removed, and no folders can be
    made: so their sizes can be added up from outside.

    Args:
        readable: files, and folders with all that is below.
        listable: folders whose names can be read, at any depth.
        writable: the one folder in which files may be made.

    Raises:
        OSError: the kernel has no Landlock, or refuses.
    """
    abi = version()
    files = next((_FILE_ACCESS[of] for of in sorted(_FILE_ACCESS, reverse=True) if of <= abi), 0)
    words = [files]
    if abi >= _NETWORK_VERSION:
        words.append(_TCP)
    if abi >= _SCOPES_VERSION:
        words.append(_SCOPES)
    attributes = struct.pack(f"={len(words)}Q", *words)
    ruleset = system.syscall(_CREATE_RULESET, ctypes.c_char_p(attributes), len(attributes), 0)
    try:
        for path in readable:
            _allow(ruleset, path, _READ_FILE | _READ_DIR)
        for path in listable:
            _allow(ruleset, path, _READ_DIR)
        own = _READ_FILE | _READ_DIR | _WRITE_FILE | _MAKE_REG | (_TRUNCATE & files)
        _allow(ruleset, writable, own)
        system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
        system.syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        target = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(target).st_mode):
            access &= _READ_FILE | _WRITE_FILE | _TRUNCATE
        rule = struct.pack("=Qi", access, target)
        system.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.c_char_p(rule), 0)
    finally:
        os.close(target)
