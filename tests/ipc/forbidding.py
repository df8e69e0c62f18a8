"""Runs a Python program where the kernel refuses it sockets, as agents' sandboxes do.

    python -m tests.ipc.forbidding PROGRAM

socket(2) fails with EPERM, by a seccomp filter of four instructions that nothing can take away
again. What the program starts or signals is printed, whether or not it succeeds.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
MODE_FILTER = 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
SOCKET = {"x86_64": 41, "aarch64": 198}.get(platform.machine())
"""The number of socket(2)."""
WATCHED = ("os.exec", "os.fork", "os.forkpty", "os.kill", "os.killpg", "os.posix_spawn")
WATCHED += ("os.spawn", "os.system", "signal.pthread_kill", "subprocess.Popen")


class Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def forbid_sockets() -> None:
    code = b"".join(
        struct.pack("HBBI", *step)
        for step in (
            (LOAD, 0, 0, 0),  # the system call's number
            (EQUAL, 0, 1, SOCKET),
            (RETURN, 0, 0, ERRNO | errno.EPERM),
            (RETURN, 0, 0, ALLOW),
        )
    )
    kept = ctypes.create_string_buffer(code, len(code))
    program = Program(len(code) // 8, ctypes.addressof(kept))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p] + [ctypes.c_ulong] * 2
    for request, first, second in (
        (PR_SET_NO_NEW_PRIVS, 1, None),
        (PR_SET_SECCOMP, MODE_FILTER, ctypes.addressof(program)),
    ):
        if libc.prctl(request, first, second, 0, 0):
            sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


def tell(event: str, _: object) -> None:
    if event in WATCHED or event.startswith("signal.pidfd"):
        print(f"did {event}", flush=True)


if __name__ == "__main__":
    forbid_sockets()
    sys.addaudithook(tell)
    exec(sys.argv[1])
