"""Bad input and a bad world: one clear line and exit status 2, or a right answer all the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.cli.running import Outcome, triseek
from tests.e2e.test_crash import folder_of
from triseek.engine.engine import Engine
from triseek.errors import InvalidQuery
from triseek.model.search import PatternSpec, SearchRequest
from triseek.store import layout

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
FOUND = b"a.txt:a needle\nsub/b.py:-needle = 1\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return plant(tmp_path / "tree")


def plant(root: Path) -> Path:
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("a needle\n")
    (root / "sub" / "b.py").write_text("-needle = 1\n")
    return root


def is_one_line(outcome: Outcome) -> bool:
    return (
        outcome.status == 2
        and outcome.err.startswith("triseek: ")
        and outcome.err.count("\n") == 1
        and "a bug" not in outcome.err
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["need(le"], "column 5"),
        (["a{3,2}"], "column 2"),
        ([r"x\p{Nope}"], "column 2"),
        (["[z-a]"], "column 2"),
        (["ok", "-e", "fine", "-e", "no["], "column 3"),
        (["(?=x)"], "look"),
        (["--no-such-flag", "x"], "unknown flag --no-such-flag"),
        (["-tnosuchtype", "x"], "nosuchtype"),
        (["-g", "[", "x"], "["),
        (["-g", "{a", "x"], "{a"),
        (["--needle"], "triseek -e '--needle'"),
        (["-P", "x"], "rg -P"),
        (["-f", "no-such-file"], "no-such-file"),
        (["build", "no/such/folder"], "no/such/folder"),
        (["update", "no/such/folder"], "no/such/folder"),
        (["check", "no/such/folder"], "no/such/folder"),
        (["measure", "no/such/folder"], "no/such/folder"),
        (["find-files", "x", "no/such/folder"], "no/such/folder"),
        (["build", "a.txt"], "a.txt"),
        (["needle", "no/such/folder"], "no/such/folder"),
        (["reindex", "--mode", "sideways"], "full or incremental"),
        (["--engine=index", "needle"], "triseek build"),
        (["check"], "triseek build"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(words: list[str], said: str, tree: Path) -> None:
    outcome = triseek(words, tree)

    assert is_one_line(outcome), outcome
    assert said in outcome.err
    assert outcome.out == b""


@pytest.mark.parametrize("words", [["-e", "-needle"], ["--", "-needle"], ["-F", "-e", "-needle"]])
def test_a_pattern_may_begin_with_a_dash_where_it_is_said_to_be_one(
    words: list[str], tree: Path
) -> None:
    assert triseek(words, tree).out == b"sub/b.py:-needle = 1\n"


def test_a_nul_in_a_pattern_is_refused_from_every_side(tree: Path) -> None:
    (tree / "patterns").write_bytes(b"fine\nnee\0dle\n")

    by_file = triseek(["-f", "patterns"], tree)
    by_escape = triseek([r"nee\x00dle"], tree)

    assert is_one_line(by_file)
    assert "NUL" in by_file.err
    assert is_one_line(by_escape)
    assert "--text" in by_escape.err
    with pytest.raises(InvalidQuery, match="NUL"):
        Engine(str(tree)).search(SearchRequest(pattern=PatternSpec(patterns=("nee\0dle",))))


def test_what_can_be_read_is_searched_beside_what_cannot(tree: Path) -> None:
    outcome = triseek(["needle", "a.txt", "missing.txt", "sub"], tree)

    assert outcome.out == FOUND
    assert is_one_line(outcome)
    assert "missing.txt" in outcome.err


def test_an_index_of_a_newer_format_is_left_alone_and_said_to_be_newer(tree: Path) -> None:
    assert triseek(["build"], tree).status == 0
    current = folder_of(tree) / layout.CURRENT
    body = json.loads(current.read_bytes().splitlines()[0])
    current.write_text(json.dumps({**body, "format": layout.FORMAT + 1}) + "\nother seal\n")

    assert triseek(["needle"], tree).out == FOUND
    result = json.loads(triseek(["--envelope", "needle"], tree).out)
    assert result["routing_reason"] == "index_too_new"
    assert result["fallback_used"] is True
    for words in (["check"], ["--engine=index", "needle"]):
        refused = triseek(words, tree)
        assert is_one_line(refused)
        assert "Upgrade triseek" in refused.err
    assert triseek(["reindex"], tree).status == 0
    assert triseek(["check"], tree).status == 0


def test_a_state_folder_that_is_a_file_stops_only_the_index(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "state").write_text("not a folder")
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path / "state"))

    assert triseek(["needle"], tree).out == FOUND
    assert is_one_line(triseek(["build"], tree))
    assert is_one_line(triseek(["update"], tree))
    assert is_one_line(triseek(["check"], tree))
    assert triseek(["index-status"], tree).status == 1


@pytest.fixture
def reachable():
    """A folder others may enter; pytest's are closed to them."""
    with tempfile.TemporaryDirectory(prefix="triseek-e2e-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
        for path in (Path(folder), *Path(folder).rglob("*")):
            if path.is_dir():
                path.chmod(0o755)


def as_nobody(state: Path, words: list[str], folder: Path) -> Outcome:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.as_nobody", str(state), *words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr.decode())


@pytest.mark.parametrize("below", ["", "not/there/yet"])
def test_without_a_right_to_the_state_folder_searches_work_and_a_build_says_why_not(
    below: str, reachable: Path
) -> None:
    tree = plant(reachable / "tree")
    closed = reachable / "closed"
    closed.mkdir(mode=0o000)
    state = closed / below

    assert as_nobody(state, ["needle"], tree) == (0, FOUND, "")
    result = json.loads(as_nobody(state, ["--envelope", "needle"], tree).out)
    assert result["routing_reason"] in ("state_unreadable", "no_index")
    assert as_nobody(state, ["--files"], tree) == (0, b"a.txt\nsub/b.py\n", "")
    for verb in ("check", "build"):
        refused = as_nobody(state, [verb], tree)
        assert is_one_line(refused), refused


def test_a_state_folder_that_may_only_be_read_is_no_obstacle_to_searching(
    reachable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, state = plant(reachable / "tree"), reachable / "state"
    monkeypatch.setenv("TRISEEK_HOME", str(state))
    assert triseek(["build"], tree).status == 0
    (tree / "a.txt").write_text("a needle\nanother needle\n")
    for path in (state, *state.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = listing(state)

    found = as_nobody(state, ["-c", "needle"], tree)

    assert found == (0, b"a.txt:2\nsub/b.py:1\n", "")
    assert listing(state) == before


@pytest.mark.parametrize("verb", ["build", "update", "reindex"])
def test_a_build_in_a_state_folder_that_may_not_be_written_is_refused_in_one_line(
    verb: str, reachable: Path
) -> None:
    tree = plant(reachable / "tree")
    (reachable / "state").mkdir(mode=0o555)

    refused = as_nobody(reachable / "state", [verb], tree)

    assert is_one_line(refused), refused
    assert "TRISEEK_HOME" in refused.err


def test_an_interrupt_during_a_search_ends_with_130_and_no_words(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number}.txt").write_bytes(b"abcdefgh " * 50_000)
    with subprocess.Popen(
        [sys.executable, "-m", "triseek", "--engine=scan", r"(\w+\s+){20}zzz"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        wait_for_work(process.pid, tmp_path)
        process.send_signal(signal.SIGINT)
        out, complaint = process.communicate(timeout=60)

    assert process.returncode == 130
    assert (out, complaint) == (b"", b"")


def wait_for_work(process: int, folder: Path) -> None:
    """Wait until a process has a file of the folder open: it is searching."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for link in Path(f"/proc/{process}/fd").glob("*"):
            try:
                if os.readlink(link).startswith(f"{folder}/"):
                    return
            except OSError:
                continue
        time.sleep(0.001)
    pytest.fail("the search never began")


def test_a_pipe_closed_by_its_reader_is_no_error(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number}.txt").write_bytes(b"needle in a line of its own\n" * 5_000)
    for backend in ("auto", "scan", "rg"):
        with subprocess.Popen(
            [sys.executable, "-m", "triseek", f"--engine={backend}", "needle"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.readline()
            process.stdout.close()
            complaint = process.stderr.read()
        assert (process.returncode, complaint) == (0, b""), backend


def test_without_rg_on_the_path_everything_is_answered(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))

    assert triseek(["needle"], tree).out == FOUND
    assert triseek(["-v", "-c", "x"], tree).out == b"a.txt:1\nsub/b.py:1\n"
    refused = triseek(["--engine=rg", "needle"], tree)
    assert is_one_line(refused)
    assert "rg" in refused.err


@pytest.mark.parametrize("with_rg", [True, False])
def test_the_first_search_ever_waits_for_no_compiler(
    with_rg: bool, tree: Path, tmp_path: Path
) -> None:
    """No index, no compiled kernel: numba, which takes a second to import, stays out of it."""
    program = (
        "import sys; from triseek.cli import main; status = main.run(sys.argv[1:]); "
        "sys.stdout.flush(); print(sorted({'numba', 'llvmlite', 'pyarrow'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TRISEEK_HOME": str(tmp_path / "fresh")}
    environment.pop("NUMBA_CACHE_DIR")
    if not with_rg:
        environment["PATH"] = str(tmp_path / "empty")

    done = subprocess.run(
        [sys.executable, "-c", program, "needle"],
        cwd=tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )

    assert done.stdout == FOUND + b"[]\n"
    assert done.stderr == b""


def test_an_index_without_compiled_kernels_is_not_waited_for(tree: Path, tmp_path: Path) -> None:
    """As after an upgrade: the index is there, the kernels are not."""
    assert triseek(["build"], tree).status == 0
    program = (
        "import sys; from triseek.cli import main; main.run(sys.argv[1:]); "
        "sys.stdout.flush(); print(sorted({'numba', 'llvmlite'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path / "cold")}

    done = subprocess.run(
        [sys.executable, "-c", program, "--envelope", "needle"],
        cwd=tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )

    document, _, imported = done.stdout.decode().rstrip().rpartition("\n")
    assert json.loads(document)["routing_reason"] == "kernels_cold"
    assert imported == "[]"


def test_nothing_is_written_into_the_searched_tree(tree: Path, tmp_path: Path) -> None:
    before = listing(tree)

    for words in (
        ["needle"], ["--files"], ["--engine=scan", "needle"], ["--engine=rg", "needle"],
        ["build"], ["needle"], ["--engine=index", "-U", r"needle\n"], ["index-status"], ["check"],
        ["measure"], ["find-files", "a"], ["update"], ["reindex"], ["--envelope", "needle"],
        ["stats", "export", "--format", "parquet", "--out", str(tmp_path / "tables")],
        ["need(le"], ["--stats", "needle"], ["warmup"],
    ):  # fmt: skip
        (tmp_path / "tables").mkdir(exist_ok=True)
        outcome = triseek(words, tree)
        assert outcome.status == (2 if words == ["need(le"] else 0), (words, outcome)
        assert listing(tree) == before, words


def listing(folder: Path) -> list[tuple[str, int, int]]:
    """Every name below a folder, with its size and the time of its last change."""
    found = [folder, *sorted(folder.rglob("*"))]
    return [(str(path), path.lstat().st_size, path.lstat().st_mtime_ns) for path in found]
