"""The quick path: what it does when the daemon is there, is not, breaks down, or talks nonsense."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import platform
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import Outcome, triseek
from tests.cli.serving import asked, environment, pretending, quick, reply, serving
from triseek import __version__
from triseek.cli import fast
from triseek.ipc import address, client, lock, spawn, surroundings, wire

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Capture = pytest.CaptureFixture[bytes]

ALLOWED = {
    "triseek", "triseek.cli", "triseek.cli.main", "triseek.cli.quick", "triseek.terminal",
    "triseek.terminal.status", "triseek.cli.fast", "triseek.app", "triseek.app.wings",
    "triseek.ipc.surroundings", "triseek.ipc", "triseek.ipc.address", "triseek.ipc.wire",
    "triseek.paths", "__future__", "_socket", "_json", "_blake2",
}  # fmt: skip
"""What a search by the daemon may import, beyond what the interpreter starts with."""
HEAVY = {
    "numpy", "numba", "pyarrow", "pydantic", "typer", "json", "re", "enum", "typing",
    "dataclasses", "pathlib", "socket", "subprocess", "threading", "contextlib",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _may_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    monkeypatch.setenv("CI", "1")  # nothing is started behind, unless a test says so


@pytest.fixture
def server() -> Iterator[None]:
    with serving():
        yield


def process(
    words: Sequence[str], folder: Path, *python: str, stdin: bytes | None = None, **more: str
) -> Outcome:
    """A client in a process of its own."""
    done = subprocess.run(
        [sys.executable, *python, "-m", "triseek", *words],
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        check=False,
        timeout=60,
        **({"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}),
    )
    return Outcome(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


# The imports


def modules_of(program: str, words: Sequence[str], folder: Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, *words],
        cwd=folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, check=True,
    )  # fmt: skip
    return set(done.stderr.decode().split())


SAY_MODULES = "sys.stderr.write(' '.join(sys.modules))"


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("words", [["-n", "needle"], ["find-files", "txt"]])
def test_a_search_by_the_daemon_imports_nothing_of_weight(words: list[str], tree: Path) -> None:
    start = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r});"
    bare = modules_of(f"{start} import os; {SAY_MODULES}", words, tree)
    program = f"{start} from triseek.cli import main\ntry: main.main()\nfinally: {SAY_MODULES}"

    loaded = modules_of(program, words, tree) - bare

    assert loaded <= ALLOWED
    assert "triseek.cli.fast" in loaded


@pytest.mark.usefixtures("server")
def test_import_times_show_no_heavy_package(tree: Path) -> None:
    # -I takes away PYTHONPATH, -S what site-packages add; so the path is given by hand.
    program = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r}); "
        "from triseek.cli.main import main; main()"
    )
    said = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", "-c", program, "-q", "needle"],
        cwd=tree, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=True,
    ).stderr  # fmt: skip
    names = {line.rpartition("|")[2].strip() for line in said.splitlines()}

    assert "triseek.cli.fast" in names
    assert not {name.split(".")[0] for name in names} & HEAVY


@pytest.mark.parametrize("words", [["hook", "Stop"], ["memo-observe", "--event", "stop"]])
@pytest.mark.parametrize("with_daemon", [True, False])
def test_a_hook_loads_next_to_nothing(words: list[str], with_daemon: bool, tree: Path) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
        f"sys.argv[1:] = {words!r}\n"
        "import os; os._exit = sys.exit\n"
        "from triseek.cli.main import main\n"
        "try: main()\n"
        "finally: sys.stderr.write(' '.join(sys.modules))"
    )
    with serving() if with_daemon else contextlib.nullcontext():
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", program],
            cwd=tree, env=environment(), input=b"{}", capture_output=True, check=True,
        )  # fmt: skip
    loaded = set(done.stderr.decode().split())

    assert done.stdout == b""
    assert "triseek.cli.fast" in loaded
    assert not loaded & HEAVY
    assert {name for name in loaded if name.startswith("triseek")} <= ALLOWED | {
        "triseek.ipc.aside"
    }


# With a daemon


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    "words",
    [["-n", "needle"], ["find-files", "txt"], ["nothing at all"], ["-c", "needle", "nowhere"],
     ["("], ["-H", "needle", "nonutf8-\udcff.txt"]],
)  # fmt: skip
def test_a_process_gives_what_one_without_a_daemon_gives(words: list[str], tree: Path) -> None:
    assert process(words, tree) == process(words, tree, TRISEEK_NO_DAEMON="1")


@pytest.mark.usefixtures("server")
def test_standard_input_is_searched_here(tree: Path) -> None:
    assert process(["needle"], tree, stdin=b"a needle\n").out == b"a needle\n"
    assert process(["-f", "-", "a.txt"], tree, stdin=b"two\n").out == b"needle two\n"


def test_who_wants_no_daemon_connects_to_none(
    tree: Path, capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pretending(lambda sock: None) as connections:
        assert quick(["--no-daemon", "-c", "needle", "z.c"], tree, capfdbinary).out == b"3\n"
        assert quick(["find-files", "--no-daemon", "z.c"], tree, capfdbinary).out == b"z.c\n"
        assert quick(["search", "--version"], tree, capfdbinary).status == 0
        monkeypatch.setenv("TRISEEK_NO_DAEMON", "1")
        assert quick(["-c", "needle", "z.c"], tree, capfdbinary).out == b"3\n"

    assert connections == []


@pytest.mark.usefixtures("server")
def test_a_reader_that_leaves_ends_it_quietly(tmp_path: Path) -> None:
    (tmp_path / "big.txt").write_bytes(b"needle needle needle\n" * 200_000)

    with subprocess.Popen(
        [sys.executable, "-m", "triseek", "needle", "--engine=scan"],
        cwd=tmp_path, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        complaint = running.stderr.read()

    assert (running.returncode, complaint) == (0, b"")


@pytest.mark.usefixtures("server")
def test_a_pipe_that_does_not_block_gets_everything(tmp_path: Path) -> None:
    (tmp_path / "big.txt").write_bytes(b"needle needle needle\n" * 50_000)
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETFL, fcntl.fcntl(writing, fcntl.F_GETFL) | os.O_NONBLOCK)

    with subprocess.Popen(
        [sys.executable, "-m", "triseek", "needle", "--engine=scan"],
        cwd=tmp_path, env=environment(), stdin=subprocess.DEVNULL, stdout=writing,
    ) as running:  # fmt: skip
        os.close(writing)
        time.sleep(0.3)  # the pipe is full by now
        with open(reading, "rb") as pipe:
            got = pipe.read()

    assert running.returncode == 0
    assert got == b"big.txt:needle needle needle\n" * 50_000


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.usefixtures("server")
def test_a_full_disk_is_told_as_it_is_without_a_daemon(tree: Path) -> None:
    said = []
    for more in ({}, {"TRISEEK_NO_DAEMON": "1"}):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [sys.executable, "-m", "triseek", "needle", "a.txt"],
                cwd=tree, env=environment(**more), stdin=subprocess.DEVNULL, stdout=full,
                stderr=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
        said.append((done.returncode, done.stderr.split(" The traceback")[0]))

    assert said[0][0] == said[1][0]
    assert "No space left on device" in said[0][1]


def test_an_agent_does_not_wait_for_a_daemon_that_is_stuck(
    tmp_path: Path, capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(address, "SILENCE_S", 0.05)
    release = threading.Event()

    def converse(sock: socket.socket) -> None:
        wire.receive(sock, wire.REQUEST_LIMIT)
        release.wait(60)

    with pretending(converse) as connections:
        assert isinstance(asked(["hook", "Stop"], tmp_path, capfdbinary), fast.Left)
        release.set()
    assert len(connections) == 1  # it was not asked whether it lives


# A daemon that is no good


def canned(data: bytes) -> object:
    """A server that takes a request, sends these bytes and hangs up."""

    def converse(sock: socket.socket) -> None:
        wire.receive(sock, wire.REQUEST_LIMIT)
        sock.sendall(data)
        sock.shutdown(socket.SHUT_RDWR)

    return converse


def test_a_daemon_that_dies_at_any_byte_changes_nothing(tree: Path, capfdbinary: Capture) -> None:
    words = ["--engine=scan", "-n", "needle", "a.txt", "nowhere", "a"]
    with serving():
        whole = reply(["--line-buffered", *words], tree)
    expected = triseek(words, tree)
    assert expected.err
    assert len(whole) > 250

    for size in range(0, len(whole), 7):
        with pretending(canned(whole[:size])):  # type: ignore[arg-type]
            assert quick(words, tree, capfdbinary) == expected, size


def test_a_large_answer_that_breaks_off_is_finished_here(
    tmp_path: Path, capfdbinary: Capture
) -> None:
    for number in range(4):
        (tmp_path / f"{number}.txt").write_bytes(b"needle %d\n" % number * 20_000)
    words = ["--engine=scan", "needle"]
    with serving():
        whole = reply(words, tmp_path)
    expected = triseek(words, tmp_path)

    sizes = random.Random(7).sample(range(len(whole)), 6)
    for size in sizes:
        with pretending(canned(whole[:size])):  # type: ignore[arg-type]
            assert quick(words, tmp_path, capfdbinary) == expected, size


@pytest.mark.parametrize(
    "begun",
    [b"1another tree:1:needle\n", b"1" + b"x" * 100_000, b"2triseek: nowhere: no such thing\n"],
)
def test_an_answer_that_cannot_be_finished_is_an_error_that_says_so(
    begun: bytes, tree: Path
) -> None:
    with pretending(canned(wire.pack(begun))):  # type: ignore[arg-type]
        outcome = process(["needle"], tree)

    assert outcome.status == 2
    if begun[:1] == b"1":
        assert outcome.out == begun[1:]
    else:  # nothing was written to standard output: all of it can be
        assert outcome.out == triseek(["needle"], tree).out
    assert outcome.err.endswith("now begins otherwise. Search again.\n")
    assert outcome.err.count("Search again") == 1


NONSENSE = {
    "nothing": b"",
    "text": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "a huge frame": b"\xff\xff\xff\xff1",
    "an empty frame": b"\0\0\0\0",
    "half a frame": b"\0\0\1\0" + b"1half",
    "an unknown kind": wire.pack(b"?what"),
    "an error": wire.pack(b'{"ok":false,"error":{"code":"INTERNAL"}}'),
    "no status": wire.pack(b"=zero"),
    "a negative status": wire.pack(b"=-1"),
    "a status too large": wire.pack(b"=256"),
    "an endless status": wire.pack(b"=" + b"0" * 5000),
    "nothing for standard output": wire.pack(b"1"),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_answered_by_doing_the_work_here(
    name: str, tree: Path, capfdbinary: Capture
) -> None:
    with pretending(canned(NONSENSE[name])):  # type: ignore[arg-type]
        assert quick(["-c", "needle", "z.c"], tree, capfdbinary) == Outcome(0, b"3\n", "")


def test_random_bytes_are_answered_by_doing_the_work_here(tree: Path, capfdbinary: Capture) -> None:
    generator = random.Random(3)
    for _ in range(40):
        noise = generator.choice([b"", b"\0\0", b"\0\0\0\x05"]) + generator.randbytes(40)
        if noise[:5] in (b"\0\0\0\x051", b"\0\0\0\x052"):
            continue  # that would be an answer
        with pretending(canned(noise)):  # type: ignore[arg-type]
            assert quick(["-c", "needle", "z.c"], tree, capfdbinary).out == b"3\n"


@pytest.mark.parametrize("reason", ["stdin", "busy", "", "version 9.9.9", "\u20ac" * 1000])
def test_a_daemon_that_declines_is_not_needed(
    reason: str, tree: Path, capfdbinary: Capture
) -> None:
    with pretending(canned(wire.pack(b"-" + reason.encode()))):  # type: ignore[arg-type]
        left = asked(["-c", "needle", "z.c"], tree, capfdbinary)
        outcome = quick(["-c", "needle", "z.c"], tree, capfdbinary)

    assert isinstance(left, fast.Left)
    assert left.follow_up == ("replace" if reason.startswith("version") else "")
    assert outcome == Outcome(0, b"3\n", "")


def test_a_daemon_of_another_version_declines_for_real(
    tree: Path, capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surroundings, "__version__", f"{__version__}.other")
    with serving():
        left = asked(["needle"], tree, capfdbinary)

    assert isinstance(left, fast.Left)
    assert left.follow_up == "replace"


def test_a_daemon_that_is_stuck_is_given_up(
    tree: Path, capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(address, "SILENCE_S", 0.2)
    monkeypatch.setattr(address, "ALIVE_S", 0.2)

    done = threading.Event()
    with pretending(lambda sock: done.wait(60)) as connections:
        assert quick(["-c", "needle", "z.c"], tree, capfdbinary).out == b"3\n"
        done.set()

    assert len(connections) == 2  # the second asked whether it lives


def test_a_daemon_stuck_in_the_middle_of_its_answer_is_given_up(
    tree: Path, capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(address, "SILENCE_S", 0.2)
    monkeypatch.setattr(address, "ALIVE_S", 0.2)
    monkeypatch.setattr(fast, "PIECE_S", 0.2)
    expected = triseek(["needle", "a"], tree)

    for begun in (wire.pack(b"1" + expected.out[:9]), wire.pack(b"1" + expected.out)[:20]):

        def converse(sock: socket.socket, begun: bytes = begun) -> None:
            wire.receive(sock, wire.REQUEST_LIMIT)
            sock.sendall(begun)
            time.sleep(3)

        with pretending(converse):
            assert quick(["needle", "a"], tree, capfdbinary) == expected


def test_a_long_search_is_waited_for_while_the_daemon_lives(
    tree: Path, capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(address, "SILENCE_S", 0.1)
    pings: list[bytes] = []
    enough = threading.Event()

    def converse(sock: socket.socket) -> None:
        request = wire.receive(sock, wire.REQUEST_LIMIT)
        if b'"verb":"ping"' in request:
            pings.append(request)
            wire.send(sock, b'{"ok":true,"result":{}}')
            if len(pings) == 4:
                enough.set()
            return
        assert enough.wait(60)
        wire.send(sock, b"1late\n")
        wire.send(sock, b"=1")

    with pretending(converse):
        assert asked(["needle"], tree, capfdbinary) == Outcome(1, b"late\n", "")

    assert enough.is_set()


def test_ctrl_c_ends_with_130_and_hangs_up(tree: Path) -> None:
    hung_up = threading.Event()
    taken = threading.Event()

    def converse(sock: socket.socket) -> None:
        wire.receive(sock, wire.REQUEST_LIMIT)
        taken.set()
        if sock.recv(1) == b"":
            hung_up.set()

    with pretending(converse):
        running = subprocess.Popen(
            [sys.executable, "-m", "triseek", "needle"], cwd=tree, env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert taken.wait(20)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=20)
        assert hung_up.wait(5)

    assert (running.returncode, out, err) == (130, b"", b"")


def test_a_request_too_large_for_a_frame_is_not_sent(tree: Path, capfdbinary: Capture) -> None:
    words = ["-c", "needle", "z.c", *(f"-e{'x' * 100_000}{each}" for each in range(11))]
    with pretending(lambda sock: None) as connections:
        assert isinstance(asked(words, tree, capfdbinary), fast.Left)

    assert connections == []


# No daemon


def test_without_a_daemon_the_answer_is_given_and_one_is_wanted(
    tree: Path, capfdbinary: Capture
) -> None:
    left = asked(["needle"], tree, capfdbinary)

    assert isinstance(left, fast.Left)
    assert left.follow_up == "start"
    assert quick(["-c", "needle", "z.c"], tree, capfdbinary) == Outcome(0, b"3\n", "")


def test_a_folder_that_is_gone_is_no_reason_to_ask(tmp_path: Path, capfdbinary: Capture) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    program = (
        "import os, sys; os.rmdir(os.getcwd()); sys.path.insert(0, sys.argv[1]); "
        "from triseek.cli import fast; print(type(fast.ask(['x'])).__name__)"
    )
    running = subprocess.run(
        [sys.executable, "-c", program, str(Path(__file__).parents[2])],
        cwd=gone, env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert running.stdout == "Left\n"


NUMBERS = {"x86_64": 41, "aarch64": 198}
"""socket(2), for a filter."""


def without_sockets() -> None:
    """Forbid this process sockets, as a sandbox does: socket(2) gives EPERM."""

    class Instruction(ctypes.Structure):
        _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte),
                    ("k", ctypes.c_uint32)]  # fmt: skip

    class Program(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(Instruction))]

    steps = (Instruction * 4)(
        Instruction(0x20, 0, 0, 0),  # the call's number
        Instruction(0x15, 0, 1, NUMBERS[platform.machine()]),
        Instruction(0x06, 0, 0, 0x00050000 | errno.EPERM),
        Instruction(0x06, 0, 0, 0x7FFF0000),
    )
    libc = ctypes.CDLL(None, use_errno=True)
    program = Program(4, steps)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "no filter")


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in NUMBERS, reason="needs seccomp"
)
def test_in_a_sandbox_without_sockets_nothing_is_asked_started_or_ended(
    tree: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI")
    folder = Path(os.environ["TRISEEK_HOME"]) / "daemon"
    with serving():
        before = sorted(os.listdir(folder))
        done = subprocess.run(
            [sys.executable, "-m", "triseek", "-c", "needle", "z.c"], cwd=tree, env=environment(),
            stdin=subprocess.DEVNULL, capture_output=True, check=False, preexec_fn=without_sockets,
        )  # fmt: skip
        after = sorted(os.listdir(folder))

    assert (done.returncode, done.stdout, done.stderr) == (0, b"3\n", b"")
    assert after == before


@pytest.mark.slow
def test_a_daemon_starts_behind_the_first_search_and_holds_none_of_its_pipes(
    tree: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI")
    monkeypatch.setenv("TRISEEK_HOME", str(home))  # where no attempt was made before
    expected = process(["-n", "needle"], tree, TRISEEK_NO_DAEMON="1")
    try:
        assert process(["-n", "needle"], tree) == expected  # returns at the end of its pipes
        assert spawn.wait_until_ready(60)
        assert process(["-n", "needle"], tree) == expected
    finally:
        stopped = client.ask("shutdown")
        assert lock.wait_until_free(20)

    assert stopped["pid"] > 0


@pytest.mark.slow
def test_a_daemon_of_another_version_is_replaced_behind_the_answer(
    tree: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI")
    monkeypatch.setenv("TRISEEK_HOME", str(home))
    monkeypatch.setattr("triseek.daemon.server.__version__", "0.0.0")
    with serving():
        outcome = process(["-c", "needle", "z.c"], tree)
        until = time.monotonic() + 60
        while time.monotonic() < until and lock.is_free():
            time.sleep(0.05)
        assert spawn.wait_until_ready(60)
        try:
            assert client.ask("ping")["pid"] == lock.holder() != os.getpid()
        finally:
            client.ask("shutdown")
            assert lock.wait_until_free(20)

    assert outcome == Outcome(0, b"3\n", "")
