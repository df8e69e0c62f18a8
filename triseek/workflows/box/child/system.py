"""System calls that Python's standard library does not have, by ctypes."""

from __future__ import annotations

import ctypes
import os

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38

_libc = ctypes.CDLL(None, use_errno=True)


def prctl(option: int, argument: int, pointer: ctypes.c_void_p | None = None) -> int:
    """Read or change an attribute of this process.

    Raises:
        OSError: the kernel refuses.
    """
    unused = ctypes.c_ulong(0)
    words = (ctypes.c_int(option), ctypes.c_ulong(argument), pointer, unused, unused)
    result: int = _libc.prctl(*words)
    if result < 0:
        raise _error(f"prctl({option})")
    return result


def syscall(number: int, *arguments: int | ctypes.c_void_p | ctypes.c_char_p | None) -> int:
    """Make the system call `number`; integers are passed as longs.

    Raises:
        OSError: it failed.
    """
    longs = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result: int = _libc.syscall(ctypes.c_long(number), *longs)
    if result < 0:
        raise _error(f"system call {number}")
    return result


def _error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")
