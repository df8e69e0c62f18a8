"""Files beyond any memory: searched in pieces, and an error where that cannot be."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests import rg
from triseek.cli import main
from triseek.engine.search.backends import binary, file, lines
from triseek.engine.search.backends.file import FileSearch, Searched
from triseek.engine.search.query import Query
from triseek.errors import OutOfTime
from triseek.model import budget
from triseek.model.search import PatternSpec, SearchRequest
from triseek.terminal.command_context import CommandContext

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import IO

pytestmark = pytest.mark.long

MEMORY = 1 << 30
SIZE = 5 << 28
"""Bytes of a sparse file: more than the memory."""
PIECE = 66_000
"""More than what ripgrep reads at a time."""


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def command(
    folder: Path, *words: str, stdin: IO[bytes] | int = subprocess.DEVNULL
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "triseek", "search", "--no-daemon", *words],
        cwd=folder,
        env=os.environ | {"TRISEEK_HOME": str(folder / "home")},
        stdin=stdin,
        preexec_fn=_limit_memory,
        capture_output=True,
        check=False,
    )


def sparse(path: Path, size: int) -> None:
    """Make a file of NULs that ends in a line with a word."""
    with path.open("wb") as made:
        made.truncate(size)
        made.seek(0, os.SEEK_END)
        made.write(b"\na needle\n")


def expected(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """What ripgrep answers."""
    return subprocess.run(
        [rg.program(), "--no-config", "--no-mmap", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


@pytest.mark.rg
@pytest.mark.parametrize("words", [["absent"], ["-c", "needle"], ["-U", "needle"]])
def test_a_sparse_file_larger_than_memory_is_searched_as_a_small_one(
    tmp_path: Path, words: list[str]
) -> None:
    sparse(tmp_path / "small", 100_000)
    sparse(tmp_path / "large", SIZE)
    small = expected(tmp_path, *words, "small")

    answer = command(tmp_path, *words, "large")

    assert answer.stderr == b""
    assert (answer.stdout, answer.returncode) == (small.stdout, small.returncode)


@pytest.mark.rg
def test_standard_input_larger_than_memory_is_searched(tmp_path: Path) -> None:
    sparse(tmp_path / "small", 100_000)
    sparse(tmp_path / "large", SIZE)
    small = expected(tmp_path, "-c", "needle", "small")

    with subprocess.Popen(["cat", tmp_path / "large"], stdout=subprocess.PIPE) as cat:
        assert cat.stdout is not None
        answer = command(tmp_path, "-c", "needle", "-", stdin=cat.stdout)

    assert answer.stderr == b""
    assert (answer.stdout, answer.returncode) == (small.stdout, small.returncode)


@pytest.mark.rg
@pytest.mark.parametrize("engine", ["scan", "auto", "rg"])
def test_a_file_larger_than_memory_is_searched_in_a_folder(tmp_path: Path, engine: str) -> None:
    (tmp_path / "tree").mkdir()
    sparse(tmp_path / "tree/large", SIZE)
    (tmp_path / "tree/small").write_bytes(b"a needle\n")
    plain = expected(tmp_path, "needle", "tree")

    answer = command(tmp_path, "--engine", engine, "needle", "tree")
    zeros = command(tmp_path, "--engine", engine, "-c", "--include-zero", "needle", "tree")

    assert answer.stderr == zeros.stderr == b""
    assert (answer.stdout, answer.returncode) == (plain.stdout, plain.returncode)
    assert zeros.stdout == b"tree/small:1\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-U", r"a\nb"], b"larger than 1024 MiB; UTF-16, and matches over several lines"),
        (["-a", "absent"], b"a line is longer than 1024 MiB"),
    ],
)
def test_what_has_to_be_in_memory_is_refused_in_one_line(
    tmp_path: Path, words: list[str], message: bytes
) -> None:
    with (tmp_path / "large").open("wb") as made:
        made.truncate(SIZE)

    answer = command(tmp_path, *words, "large")

    # Where memory is over before the limit is reached, that is said.
    assert answer.returncode == 2
    assert answer.stdout == b""
    assert answer.stderr.count(b"\n") == 1
    assert message in answer.stderr or b"large: Cannot allocate memory" in answer.stderr


def test_more_matching_lines_than_may_be_held_are_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "WHOLE_BYTES", 1000)
    monkeypatch.setattr(lines, "ROWS_MAX_BYTES", 100_000)
    for name, end in (("text", b""), ("binary", b"\0")):
        (tmp_path / name).write_bytes(b"needle\n" * 100_000 + end)

        searched = search(tmp_path)(name.encode(), explicit=True)

        assert searched.found is None
        assert searched.skipped is not None
        assert searched.skipped.reason == "unreadable"
        assert "too many lines match" in searched.skipped.detail


CONTENTS = {
    "lines": b"needle\nhay\n\nxx needle needle b\n" * 3000,
    "crlf": b"needle\r\nhay\r\n\r\nneedle b\r\n" * 3000 + b"needle",
    "mark": b"\xef\xbb\xbf" + b"needle\n\nhay\n" * 9000,
    "utf16": b"\xff\xfe" + ("needle\nhay é\n" * 6000).encode("utf-16-le"),
    "long": b"needle\n" + b"x" * 300_000 + b"needle\nhay\n" + b"y" * 200_000 + b"\nneedle",
    "nul early": b"needle\nhay\0\n" + b"needle\nhay\n\n" * 9000,
    "nul late": b"needle\nhay\n\n" * 9000 + b"\0needle\n",
    "nul between": b"hay\nhay\n\n" * 15_000 + b"\0\0needle\n" + b"needle\nhay\n\n" * 9000,
}
PATTERNS = ["needle", r"\Aneedle", r"needle\z", "^", "$", "^needle", "needle$", "^$", "x*|b"]
FLAGS = [
    [], ["-x"], ["-w"], ["-v"], ["-A2"], ["-B3"], ["-C1"], ["-m2"], ["-m7000"], ["-c"], ["-o"],
    ["--count-matches"], ["-b"], ["-n", "--column"], ["--crlf"], ["-l"], ["--passthru"], ["-a"],
    ["-n", "-m3", "-A200"], ["--mmap"], ["-v", "-c"], ["--files-without-match"],
]  # fmt: skip


def run_here(words: Sequence[str], stdin: IO[bytes]) -> tuple[int, bytes, list[str]]:
    """Run the command line in this process."""
    out, err = bytearray(), list[str]()
    world = CommandContext(
        terminal=False, width=80, plain=False, stdin_readable=True, out=out.extend,
        err=err.append, read_stdin=stdin.read, stdin=stdin.fileno(),
    )  # fmt: skip
    status = main.run(["search", "--engine", "scan", *words], world)
    return status, bytes(out), err


@pytest.mark.rg
@pytest.mark.parametrize("operand", ["text", "-", "./"])
@pytest.mark.parametrize("name", CONTENTS)
def test_pieces_are_searched_as_the_whole_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, operand: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path.parent / "home"))
    (tmp_path / "text").write_bytes(CONTENTS[name])
    first = list(CONTENTS).index(name)
    # Every pattern meets every content, and every flag some of the patterns of each.
    for number, flags in enumerate(FLAGS):
        pattern = PATTERNS[(first + 2 * number) % len(PATTERNS)]
        words = [*flags, "-e", pattern, operand]
        answers = []
        for size in (1 << 30, PIECE):
            monkeypatch.setattr(file, "WHOLE_BYTES", size)
            monkeypatch.setattr(file, "PART_BYTES", size)
            with (tmp_path / "text").open("rb") as stdin:
                answers.append(run_here(words, stdin))
        assert answers[0] == answers[1], words
        if pattern in (r"\Aneedle", r"needle\z"):
            continue  # ripgrep sees another beginning or end of a text where lines are decoded
        with (tmp_path / "text").open("rb") as stdin:
            real = subprocess.run(
                [rg.program(), "--no-config", *words], stdin=stdin, capture_output=True, check=False
            )
        assert answers[1][:2] == (real.returncode, real.stdout), words


def _interruptible() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # whatever started the tests ignores


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("others", [0, 200])
@pytest.mark.parametrize("named", [True, False])
def test_a_signal_ends_the_search_of_what_has_no_end(
    tmp_path: Path, number: signal.Signals, others: int, named: bool
) -> None:
    os.mkfifo(tmp_path / "pipe")
    names = [f"file{each}" for each in range(others)]  # with many, threads search them
    for name in names:
        (tmp_path / name).write_bytes(b"hay\n")
    read_end, write_end = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-m", "triseek", "search", "--no-daemon", "--engine", "scan", "needle",
         *names, "pipe" if named else "-"],
        cwd=tmp_path,
        env=os.environ | {"TRISEEK_HOME": str(tmp_path / "home")},
        stdin=subprocess.DEVNULL if named else read_end,
        preexec_fn=_interruptible,  # noqa: PLW1509 - it sets a signal and nothing else
    ) as process:  # fmt: skip
        try:
            os.close(read_end)
            if named:
                os.close(write_end)
                write_end = os.open(tmp_path / "pipe", os.O_WRONLY)
            for _ in range(2 * file.WHOLE_BYTES >> 16):  # it is being searched by then
                os.write(write_end, bytes(1 << 16))
            process.send_signal(number)
            # What it waits for goes on.
            with contextlib.suppress(BrokenPipeError):
                while process.poll() is None:
                    os.write(write_end, bytes(1 << 16))
            status = process.wait()
        finally:
            process.kill()
            os.close(write_end)

    assert status in (130, -signal.SIGTERM)


def search(root: Path) -> FileSearch:
    spec = PatternSpec(patterns=("needle",))
    request = SearchRequest(pattern=spec)
    return FileSearch(Query.of(str(root), request))


def test_a_device_without_an_end_is_searched_until_the_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "WHOLE_BYTES", 100_000)
    monkeypatch.setattr(binary, "HELD_MAX_BYTES", 1 << 20)
    (tmp_path / "zero").symlink_to("/dev/zero")
    asked = 0

    def ask() -> None:
        nonlocal asked
        asked += 1
        if asked == 5:
            raise OutOfTime("over")

    # More is read than may be held, which was an error, and then nothing but time ends it.
    with budget.limited(ask=ask), pytest.raises(OutOfTime):
        search(tmp_path)(b"zero", explicit=True)


@pytest.mark.parametrize("end", [b"", b"\0 needle\n", b"\na needle\n\0"])
def test_a_pipe_is_searched_as_a_file(
    tmp_path: Path, end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"a needle\nhay\n" * 50 + end)
    os.mkfifo(tmp_path / "pipe")

    def of(name: str) -> Searched:
        return search(tmp_path)(name.encode(), explicit=True)

    expected = of("file")
    monkeypatch.setattr(file, "WHOLE_BYTES", 100)
    with subprocess.Popen(["sh", "-c", "cat file >pipe"], cwd=tmp_path):
        answer = of("pipe")

    assert expected.found is not None
    assert answer.found is not None
    assert answer.found.count == expected.found.count
    assert answer.skipped == (expected.skipped and replace(expected.skipped, path=b"pipe"))
