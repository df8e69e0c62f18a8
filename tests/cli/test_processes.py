"""triseek as a process: pipes, standard input, interrupts, bugs, and what gets imported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import command, triseek

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def rg_on(words: list[str], folder: Path, stdin: bytes) -> tuple[int, bytes]:
    done = subprocess.run(
        ["rg", "--no-config", "--sort=path", *words],
        cwd=folder,
        input=stdin,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_a_missing_ignore_file_is_said_and_changes_no_answer(tree: Path) -> None:
    plain = triseek(["-l", "needle"], tree)
    outcome = triseek(["-l", "--ignore-file=nowhere", "needle"], tree)
    quiet = triseek(["-l", "--ignore-file=nowhere", "--no-messages", "needle"], tree)

    assert outcome[:2] == plain[:2] == quiet[:2]
    assert outcome.err == "triseek: nowhere: No such file or directory (os error 2)\n"
    assert quiet.err == ""


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
@pytest.mark.parametrize("words", ["needle nowhere a.txt", "measure ."])
def test_a_closed_standard_stream_is_like_the_null_device(
    words: str, closed: str, tree: Path
) -> None:
    opened = closed.replace("<&-", "</dev/null").replace(">&-", ">/dev/null")

    outcomes = [
        subprocess.run(
            ["sh", "-c", f'"$0" -m triseek {words} {streams}', sys.executable],
            cwd=tree,
            env=environment(),
            capture_output=True,
            check=False,
        )
        for streams in (closed, opened)
    ]

    mine, its = [(done.returncode, done.stdout, done.stderr) for done in outcomes]
    assert mine == its


@pytest.mark.rg
@pytest.mark.usefixtures("needs_rg")
@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["needle"], b"a needle\nno\nneedle"),
        (["-n", "needle"], b"a needle\nno\nneedle\n"),
        (["-H", "needle", "-"], b"a needle\n"),
        (["-c", "needle"], b"needle\nneedle\n"),
        (["-l", "needle"], b"needle\n"),
        (["needle"], b"needle\n\0needle\n"),
        (["-a", "needle"], b"needle\n\0needle\n"),
        (["-o", "-b", "e+"], b"needle\n"),
        (["-U", r"a\nb", "-n"], b"x\na\nb\n"),
        (["--heading", "needle", "-", "a.txt"], b"needle\n"),
        (["-f", "-", "a.txt"], b"needle\nfive\n"),
        (["nothing"], b"needle\n"),
        (["needle"], b""),
    ],
)
def test_standard_input_is_searched_as_ripgrep_does(
    words: list[str], text: bytes, tree: Path
) -> None:
    outcome = command(words, tree, stdin=text)

    assert (outcome.status, outcome.out) == rg_on(words, tree, text)


def test_patterns_and_text_cannot_both_be_standard_input(tree: Path) -> None:
    assert command(["-f", "-", "-"], tree, stdin=b"x\n").status == 2


def test_a_pipe_that_is_closed_ends_the_search_in_silence(tmp_path: Path) -> None:
    (tmp_path / "big.txt").write_bytes(b"needle needle needle\n" * 200_000)

    with subprocess.Popen(
        [sys.executable, "-m", "triseek", "needle", "--engine=scan"],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        complaint = process.stderr.read()

    assert process.returncode == 0
    assert complaint == b""


def test_an_interrupt_ends_with_130(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "triseek", "needle"],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.PIPE,  # never written to: triseek waits for it
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not waiting_on_stdin(process.pid):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=20)

    assert process.returncode == 130
    assert complaint == b""


def waiting_on_stdin(process: int) -> bool:
    """Whether the process sleeps in a read of a pipe."""
    try:
        return "pipe_read" in Path(f"/proc/{process}/wchan").read_text() or (
            Path(f"/proc/{process}/syscall").read_text().startswith("0 0x0 ")
        )
    except OSError:
        return False


def test_a_bug_leaves_its_traceback_in_the_log_folder(
    tree: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a mistake")

    monkeypatch.setattr("triseek.cli.commands.search.run", broken)

    outcome = triseek(["needle"], tree)

    assert outcome.status == 70
    log = Path(outcome.err.split("The traceback is in ")[1].split(";")[0])
    assert log.parent == state / "logs"
    assert "ZeroDivisionError: a mistake" in log.read_text()


def test_a_search_imports_no_heavy_package(tree: Path) -> None:
    program = (
        "import sys; from triseek.cli import main; status = main.run(sys.argv[1:]); "
        "print(sorted({'typer', 'rich', 'numba', 'pyarrow', 'pydantic'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, "-q", "needle"],
        cwd=tree,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "[]\n"


def test_a_first_word_that_is_a_verb_is_a_verb_unless_search_stands_before_it(tree: Path) -> None:
    assert b"tree" in triseek(["measure"], tree).out
    assert triseek(["search", "measure"], tree).status == 1
    assert (
        triseek(["search", "--", "-needle"], tree).out == b"-dash.txt:-needle\n-dash.txt:--needle\n"
    )


def test_shells_complete_verbs_and_flags(tree: Path) -> None:
    def completions(words: str, at: int) -> list[str]:
        asking = {"_TRISEEK_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(at)}
        done = subprocess.run(
            [sys.executable, "-m", "triseek"],
            cwd=tree, env={**environment(), **asking}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.split()

    assert completions("triseek up", 1) == ["update"]
    assert "--no-ignore-vcs" in completions("triseek search --no-ig", 2)


def test_a_limit_holds_across_operands(tree: Path) -> None:
    outcome = triseek(["--limit", "3", "needle", "z.c", "a", "README.md"], tree)

    assert len(outcome.out.splitlines()) == 3
    assert outcome.out.startswith(b"z.c:")


def test_no_color_is_respected_and_long_lines_are_clipped_around_the_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "long.txt").write_text("é" * 3000 + "needle" + "ü" * 3000 + "\n")

    outcome = triseek(["needle"], tmp_path, terminal=True)

    line = outcome.out.decode().splitlines()[1]
    assert "\x1b" not in outcome.out.decode()
    assert "needle" in line
    assert line.startswith("1:…é")
    assert line.endswith("ü…")
    assert len(line.encode()) < 260


def test_find_files_finds_by_words_and_globs(tree: Path) -> None:
    assert triseek(["find-files", "c py"], tree).out == b"a/c/d.py\na/c/e.py\n"
    assert triseek(["find-files", "*.md"], tree).out == b"README.md\n"
    assert triseek(["--kind", "path", "readme"], tree).out == b"README.md\n"
    assert triseek(["find-files", "no such"], tree).status == 1
    limited = json.loads(triseek(["find-files", "txt", "--limit", "2", "--json"], tree).out)
    assert len(limited["results"]) == 2
    assert limited["truncated"] is True
