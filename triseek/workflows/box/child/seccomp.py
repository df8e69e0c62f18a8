"""A seccomp filter: the system calls an interpreter needs, and no other.

The filter is a program of the classic BPF machine, assembled here. It kills a process that comes
with another architecture's system calls, and answers EPERM to all that is not listed. Some calls
are allowed for some arguments only; arguments behind pointers cannot be seen, so calls that take
their flags there (clone3, openat2) do not exist in the box.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

from triseek.workflows.box.child import system

_LOAD, _AND, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_MODE_FILTER = 2
_PR_GET_SECCOMP = 21
_X32 = 0x40000000
_ALL_BITS = 0xFFFFFFFF


class Machine:
    """An architecture: its audit number, and the index of its numbers in the tables below."""

    def __init__(self, audit: int, column: int) -> None:
        self.audit = audit
        self.column = column


MACHINES = {"x86_64": Machine(0xC000003E, 0), "aarch64": Machine(0xC00000B7, 1)}

_PLAIN: dict[str, tuple[int | None, int | None]] = {
    # data
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66),
    "pread64": (17, 67), "pwrite64": (18, 68), "close": (3, 57), "lseek": (8, 62),
    "fsync": (74, 82), "fdatasync": (75, 83), "ftruncate": (77, 46),
    "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24), "pipe": (22, None), "pipe2": (293, 59),
    # names
    "fstat": (5, 80), "stat": (4, None), "lstat": (6, None), "newfstatat": (262, 79),
    "statx": (332, 291), "getdents64": (217, 61), "getcwd": (79, 17),
    "readlink": (89, None), "readlinkat": (267, 78), "access": (21, None),
    "faccessat": (269, 48),
    # memory
    "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "mremap": (25, 216),
    "brk": (12, 214), "membarrier": (324, 283),
    # signals to oneself, waiting
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136), "rt_sigtimedwait": (128, 137), "sigaltstack": (131, 132),
    "getitimer": (36, 102), "setitimer": (38, 103), "alarm": (37, None), "pause": (34, None),
    "select": (23, None), "pselect6": (270, 72), "poll": (7, None), "ppoll": (271, 73),
    "epoll_create": (213, None), "epoll_create1": (291, 20), "epoll_ctl": (233, 21),
    "epoll_wait": (232, None), "epoll_pwait": (281, 22), "epoll_pwait2": (441, 441),
    "eventfd2": (290, 19), "nanosleep": (35, 101), "clock_nanosleep": (230, 115),
    "restart_syscall": (219, 128),
    # sockets that have their two ends here
    "recvfrom": (45, 207), "shutdown": (48, 210), "getsockname": (51, 204),
    "getpeername": (52, 205), "getsockopt": (55, 209),
    # threads
    "futex": (202, 98), "set_robust_list": (273, 99), "set_tid_address": (218, 96),
    "rseq": (334, 293), "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
    "getcpu": (309, 168), "exit": (60, 93), "exit_group": (231, 94),
    # facts
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "gettimeofday": (96, 169),
    "time": (201, None), "times": (100, 153), "getpid": (39, 172), "gettid": (186, 178),
    "getppid": (110, 173), "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176),
    "getegid": (108, 177), "getgroups": (115, 158), "getpgrp": (111, None), "uname": (63, 160),
    "getrandom": (318, 278), "getrlimit": (97, 163), "getrusage": (98, 165), "sysinfo": (99, 179),
}  # fmt: skip

_MISSING = {"clone3": (435, 435), "openat2": (437, 437), "faccessat2": (439, 439),
            "close_range": (436, 436)}  # fmt: skip
"""Answered with ENOSYS: the C library then makes the older call, which can be checked."""

_NEW_NAMESPACES = 0x7E020080
_THREAD = 0x10000
_UNNAMED_FILE = 0o20000000
_SOCKET_FLAGS = 0o2004000
_STREAM, _UNIX = 1, 1


class _Test:
    """One condition: the masked half of an argument has one of some values."""

    def __init__(
        self, argument: int, values: tuple[int, ...], mask: int = _ALL_BITS, *, high: bool = False
    ) -> None:
        self.offset = 16 + 8 * argument + (4 if high else 0)
        self.values = values
        self.mask = mask


def _null(argument: int) -> list[_Test]:
    return [_Test(argument, (0,)), _Test(argument, (0,), high=True)]


def _conditional(pid: int) -> dict[str, tuple[tuple[int | None, int | None], list[_Test]]]:
    # Kernel types decide which half counts: flags and commands are 32 bits, pointers are 64.
    return {
        # Threads of this process; no process, no namespace.
        "clone": ((56, 220), [_Test(0, (_THREAD,), mask=_THREAD | _NEW_NAMESPACES)]),
        # A datagram socket could send to any path.
        "socketpair": (
            (53, 199),
            [_Test(0, (_UNIX,)), _Test(1, (_STREAM,), mask=_ALL_BITS ^ _SOCKET_FLAGS)],
        ),
        "sendto": ((44, 206), _null(4)),
        # Not F_SETOWN: it has signals sent to other processes.
        "fcntl": ((72, 25), [_Test(1, (0, 1, 2, 3, 4, 1030))]),
        # TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX. Not FIOSETOWN.
        "ioctl": ((16, 29), [_Test(1, (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451))]),
        "kill": ((62, 129), [_Test(0, (pid,))]),
        "tgkill": ((234, 131), [_Test(0, (pid,))]),
        # Own limits are read, none is set.
        "prlimit64": ((302, 261), [_Test(0, (0, pid)), *_null(2)]),
        # On pages of one's own alone. Not HWPOISON and SOFT_OFFLINE, by which root takes memory
        # away from the machine.
        "madvise": ((28, 233), [_Test(2, (0, 1, 2, 3, 4, 8, 14, 15))]),
        # A file without a name would not be counted.
        "open": ((2, None), [_Test(1, (0,), mask=_UNNAMED_FILE)]),
        "openat": ((257, 56), [_Test(2, (0,), mask=_UNNAMED_FILE)]),
    }


def machine() -> Machine | None:
    """Return this process's architecture; None if the filter does not know it."""
    here = MACHINES.get(platform.machine())
    return here if sys.maxsize > 1 << 32 and sys.byteorder == "little" else None


def available() -> bool:
    """Whether the kernel takes filters, and this one is written for the architecture."""
    if not sys.platform.startswith("linux") or machine() is None:
        return False
    try:
        system.prctl(_PR_GET_SECCOMP, 0)
    except OSError:
        return False
    return True


def program(target: Machine, pid: int) -> bytes:
    """Return the filter for one process as BPF instructions of 8 bytes each."""
    deny = _ERRNO | errno.EPERM
    code = [
        (_LOAD, 0, 0, 4),
        (_JUMP_EQUAL, 1, 0, target.audit),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, 0),
    ]
    if target.column == 0:
        code += [(_JUMP_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _KILL_PROCESS)]
    for action, table in ((_ALLOW, _PLAIN), (_ERRNO | errno.ENOSYS, _MISSING)):
        for numbers in table.values():
            number = numbers[target.column]
            if number is not None:
                code += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, action)]
    for numbers, tests in _conditional(pid).values():
        number = numbers[target.column]
        if number is not None:
            block = [step for test in tests for step in _steps(test, deny)]
            block.append((_RETURN, 0, 0, _ALLOW))
            code += [(_JUMP_EQUAL, 0, len(block), number), *block]
    code.append((_RETURN, 0, 0, deny))
    return b"".join(struct.pack("=HBBI", *step) for step in code)


def _steps(test: _Test, deny: int) -> list[tuple[int, int, int, int]]:
    """Instructions that go on if the test holds, and return `deny` if not."""
    steps = [(_LOAD, 0, 0, test.offset)]
    if test.mask != _ALL_BITS:
        steps.append((_AND, 0, 0, test.mask))
    count = len(test.values)
    steps += [(_JUMP_EQUAL, count - place, 0, value) for place, value in enumerate(test.values)]
    steps.append((_RETURN, 0, 0, deny))
    return steps


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def restrict() -> None:
    """Install the filter in this thread and those that it starts, for good.

    Raises:
        OSError: the kernel refuses it, or the architecture is not known.
    """
    target = machine()
    if target is None:
        raise OSError(errno.ENOSYS, f"no system call filter for {platform.machine()}")
    code = program(target, os.getpid())
    whole = _Program(len(code) // 8, code)
    system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
    pointer = ctypes.cast(ctypes.pointer(whole), ctypes.c_void_p)
    system.prctl(system.PR_SET_SECCOMP, _MODE_FILTER, pointer)
