"""The filter's program, run by an interpreter of its instructions for both architectures."""

from __future__ import annotations

import errno
import struct

import pytest

from triseek.workflows.box.child import seccomp
from triseek.workflows.box.child.seccomp import MACHINES

ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS = 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
PID = 4242
X86, ARM = MACHINES["x86_64"], MACHINES["aarch64"]


def answer(number: int, *arguments: int, machine: str = "x86_64", audit: int | None = None) -> int:
    """What the filter answers to a system call."""
    target = MACHINES[machine]
    code = seccomp.program(target, PID)
    words = [word & (1 << 64) - 1 for word in (*arguments, *[0] * (6 - len(arguments)))]
    data = struct.pack("=iIQ6Q", number, target.audit if audit is None else audit, 0, *words)
    accumulator = place = 0
    for _ in range(len(code)):
        operation, yes, no, value = struct.unpack_from("=HBBI", code, place * 8)
        place += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif operation == 0x54:
            accumulator &= value
        elif operation == 0x15:
            place += yes if accumulator == value else no
        elif operation == 0x35:
            place += yes if accumulator >= value else no
        else:
            assert operation == 0x06
            return value
    raise AssertionError("the program does not end")


def test_the_program_is_short_and_only_jumps_forward_within_it() -> None:
    for target in MACHINES.values():
        code = seccomp.program(target, PID)
        count = len(code) // 8
        assert count < 4096  # the kernel's limit
        for place in range(count):
            operation, yes, no, _ = struct.unpack_from("=HBBI", code, place * 8)
            assert operation == 0x06 or place + 1 + max(yes, no) < count


@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_not_listed_is_denied(machine: str) -> None:
    column = MACHINES[machine].column
    listed = {
        numbers[column]
        for table in (seccomp._PLAIN, seccomp._MISSING)
        for numbers in table.values()
    } | {numbers[column] for numbers, _ in seccomp._conditional(PID).values()}
    for number in range(600):
        if number not in listed:
            assert answer(number, machine=machine) == EPERM, number


@pytest.mark.parametrize(
    ("name", "x86", "arm"),
    [
        ("socket", 41, 198), ("connect", 42, 203), ("bind", 49, 200), ("sendmsg", 46, 211),
        ("recvmsg", 47, 212), ("execve", 59, 221), ("execveat", 322, 281), ("ptrace", 101, 117),
        ("process_vm_readv", 310, 270), ("process_vm_writev", 311, 271), ("tkill", 200, 130),
        ("rt_sigqueueinfo", 129, 138), ("pidfd_open", 434, 434), ("pidfd_send_signal", 424, 424),
        ("io_uring_setup", 425, 425), ("bpf", 321, 280), ("keyctl", 250, 219),
        ("userfaultfd", 323, 282), ("mount", 165, 40), ("unshare", 272, 97), ("setns", 308, 268),
        ("open_by_handle_at", 304, 265), ("perf_event_open", 298, 241), ("setsid", 112, 157),
        ("setpgid", 109, 154), ("setrlimit", 160, 164), ("memfd_create", 319, 279),
        ("unlinkat", 263, 35), ("renameat2", 316, 276), ("mkdirat", 258, 34), ("fchmodat", 268, 53),
        ("fchownat", 260, 54), ("setxattr", 188, 5), ("utimensat", 280, 88), ("linkat", 265, 37),
        ("symlinkat", 266, 36), ("mknodat", 259, 33), ("truncate", 76, 45), ("prctl", 157, 167),
        ("seccomp", 317, 277), ("chroot", 161, 51), ("setuid", 105, 146), ("personality", 135, 92),
        ("kcmp", 312, 272), ("sched_setaffinity", 203, 122), ("setpriority", 141, 140),
        ("setsockopt", 54, 208), ("accept4", 288, 242), ("process_madvise", 440, 440),
        ("landlock_restrict_self", 446, 446), ("fanotify_init", 300, 262), ("shmget", 29, 194),
    ],
)  # fmt: skip
def test_dangerous_calls_are_denied(name: str, x86: int, arm: int) -> None:
    assert answer(x86) == answer(arm, machine="aarch64") == EPERM, name


def test_other_architectures_are_ended() -> None:
    assert answer(0, audit=0x40000003) == KILL  # i386: other numbers for the same calls
    assert answer(0x40000000 | 1) == KILL  # x32
    assert answer(0x40000000 | 520) == KILL
    assert answer(63, machine="aarch64", audit=0xC000003E) == KILL


@pytest.mark.parametrize(("clone", "machine"), [(56, "x86_64"), (220, "aarch64")])
def test_threads_and_nothing_else_are_made(clone: int, machine: str) -> None:
    thread = 0x3D0F00  # what glibc asks for
    assert answer(clone, thread, machine=machine) == ALLOW
    assert answer(clone, 0x7D0F00, machine=machine) == ALLOW  # musl
    assert answer(clone, 17, machine=machine) == EPERM  # fork
    assert answer(clone, 0x4111, machine=machine) == EPERM  # vfork, as posix_spawn makes it
    for namespace in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert answer(clone, thread | namespace, machine=machine) == EPERM
    assert answer(435, machine=machine) == ENOSYS  # clone3: its flags cannot be seen


def test_sockets_have_both_ends_here() -> None:
    assert answer(53, 1, 1, 0) == answer(53, 1, 0o2004001, 0) == ALLOW
    assert answer(53, 1, 2, 0) == EPERM  # datagrams go to any path
    assert answer(53, 1, 5, 0) == EPERM
    assert answer(53, 2, 1, 0) == EPERM
    assert answer(44, 3, 0, 1, 0, 0, 0) == ALLOW
    assert answer(44, 3, 0, 1, 0, 0x7FFF_0000_1000, 16) == EPERM
    assert answer(44, 3, 0, 1, 0, 0x7FFF_0000_0000, 16) == EPERM  # its low half is zero


def test_signals_go_to_oneself() -> None:
    assert answer(62, PID, 9) == answer(234, PID, 7, 9) == ALLOW
    for target in (0, -1, 1, PID + 1, -PID, PID + (1 << 31)):
        assert answer(62, target, 9) == EPERM
        assert answer(234, target, 7, 9) == EPERM
    # The kernel takes the low half only.
    assert answer(62, PID + (1 << 32), 9) == ALLOW


def test_limits_are_read_and_not_set() -> None:
    assert answer(302, 0, 7, 0, 0x1000) == ALLOW
    assert answer(302, 0, 7, 0x1000, 0) == EPERM
    assert answer(302, 0, 7, 1 << 40, 0) == EPERM
    assert answer(302, PID + 1, 7, 0, 0x1000) == EPERM


def test_descriptors_send_no_signals_and_files_have_names() -> None:
    for command in (0, 1, 2, 3, 4, 1030):
        assert answer(72, 3, command) == ALLOW
    for command in (8, 10, 15, 1024, 1026, 1031, 1033):  # owners, signals, leases, sizes, seals
        assert answer(72, 3, command) == EPERM
    assert answer(16, 1, 0x5401) == ALLOW
    for command in (0x5412, 0x8901, 0x8902, 0x5452, 0x40049409):  # TIOCSTI, owners, FIOASYNC, clone
        assert answer(16, 1, command) == EPERM
    assert answer(257, -100, 0, 0o2000000) == ALLOW
    assert answer(257, -100, 0, 0o20200002) == EPERM
    assert answer(2, 0, 0o20200002) == EPERM
    assert answer(437) == ENOSYS


@pytest.mark.parametrize(("madvise", "machine"), [(28, "x86_64"), (233, "aarch64")])
def test_no_page_is_taken_from_the_machine(madvise: int, machine: str) -> None:
    for advice in (0, 4, 8, 14):
        assert answer(madvise, 0x1000, 4096, advice, machine=machine) == ALLOW
    for advice in (100, 101, -1):
        assert answer(madvise, 0x1000, 4096, advice, machine=machine) == EPERM
