"""The same words give the same bytes, whether the daemon does the work or this process."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import socket
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import standing_in, triseek
from tests.cli.serving import asked, reply, serving
from tests.cli.test_combinations import PATTERNS
from tests.cli.test_parity import SCOPES, SHOWN, TOGETHER
from triseek.cli import fast, remote
from triseek.cli.flags import FLAGS
from triseek.daemon.server import Declined
from triseek.engine.service import Service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Capture = pytest.CaptureFixture[bytes]


@pytest.fixture(scope="module", autouse=True)
def server(state: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRISEEK_HOME", str(state))
        with serving():
            yield


@pytest.fixture(autouse=True)
def _may_ask(monkeypatch: pytest.MonkeyPatch, tree: Path) -> None:
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    monkeypatch.setattr(fast, "NOT_ASKED", frozenset(("--no-daemon",)))  # help too, for once
    (tree / "pats.txt").write_text("needle\nfoo.\n")


def timeless(out: bytes) -> bytes:
    """Output without what differs from run to run: times, and which backend was taken."""
    out = re.sub(rb'"elapsed(_total)?":\{[^}]*\}', b'"elapsed":{}', out)
    out = re.sub(rb'"elapsed_ms": [\d.]+', b"", out)
    out = re.sub(rb"(?m)^[\d.]+ seconds", b"seconds", out)
    return re.sub(rb" \xc2\xb7 [\d.]+ ms", b"", out)


def same(words: list[str], folder: Path, capture: Capture) -> None:
    mine, its = asked(words, folder, capture), triseek(words, folder)

    assert not isinstance(mine, fast.Left), words
    assert (mine.status, timeless(mine.out), mine.err) == (its.status, timeless(its.out), its.err)


@pytest.mark.parametrize("seed", range(400))
def test_flags_thrown_together_mean_the_same(seed: int, tree: Path, capfdbinary: Capture) -> None:
    choose = random.Random(seed).choice
    words = " ".join([choose(SHOWN), choose(SHOWN), choose(PATTERNS), choose(SCOPES)])

    same(["--engine=scan", *shlex.split(words)], tree, capfdbinary)


@pytest.mark.parametrize("words", TOGETHER)
def test_whole_commands_mean_the_same(words: str, tree: Path, capfdbinary: Capture) -> None:
    if "-" in shlex.split(words):
        pytest.skip("standard input is the client's")
    same(["--engine=scan", *shlex.split(words)], tree, capfdbinary)


VALUES = {
    "NUM": "1", "NUM+SUFFIX?": "1K", "WHEN": "always", "ENGINE": "scan", "KIND": "literal",
    "COLOR_SPEC": "path:none", "SORTBY": "none", "ENCODING": "auto", "FORMAT": "none",
    "PATTERNFILE": "pats.txt", "PATTERN": "foo",
}  # fmt: skip


@pytest.mark.parametrize("flag", FLAGS, ids=lambda flag: flag.long)
def test_every_flag_goes_both_ways(flag: Any, tree: Path, capfdbinary: Capture) -> None:
    spellings = [[f"--{flag.long}"]]
    if flag.value:
        spellings = [[f"--{flag.long}", VALUES.get(flag.value, "x")], [f"--{flag.long}"]]
    if flag.short:
        spellings.append([f"-{flag.short}", *spellings[0][1:]])
    if flag.negation:
        spellings += [[f"--{flag.negation}"], [*spellings[0], f"--{flag.negation}"]]
    for spelling in spellings:
        if "--no-daemon" not in spelling:
            same(["--engine=scan", "needle", *spelling], tree, capfdbinary)


@pytest.mark.parametrize(
    "words",
    ["find-files txt", "find-files 'c py' -0", "find-files '*.py' a", "find-files x nowhere",
     "find-files txt --limit=2 --json", "find-files ' '", "find-files txt --limit 0",
     "--kind path readme", "search needle a", "search -- -needle", "needle ''", "needle nowhere",
     "needle a.txt nowhere a", "-f pats.txt a", "-f nowhere.txt", "'('", "--limit 2 --envelope x",
     "--files", "needle ./a/../a", "-e", "--nope", "--ignore-file=pats.txt needle"],
)  # fmt: skip
@pytest.mark.parametrize("where", ["", "a", "sub"])
def test_it_does_not_matter_who_stands_where(
    words: str, where: str, tree: Path, capfdbinary: Capture
) -> None:
    same(shlex.split(words), tree / where, capfdbinary)


@pytest.mark.parametrize("words", ["needle", "-c needle", "-n -C1 foo a", "-l needle a sub"])
def test_an_index_answers_both(words: str, indexed_tree: Path, capfdbinary: Capture) -> None:
    same(shlex.split(words), indexed_tree, capfdbinary)


def test_a_bug_is_told_as_a_bug(
    tree: Path, capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a mistake")

    monkeypatch.setattr("triseek.cli.commands.search.run", broken)

    outcome = asked(["needle"], tree, capfdbinary)

    assert not isinstance(outcome, fast.Left)
    assert outcome.status == 70
    assert "triseek: a bug: ZeroDivisionError: a mistake. The traceback is in " in outcome.err


# What is declined


def params_from(folder: Path, *words: str) -> dict[str, Any]:
    with standing_in(folder):
        found: dict[str, Any] = json.loads(fast.request(words))["params"]
    return found


class Deaf:
    """Streams nothing may be written to."""

    def out(self, data: bytes) -> None:
        raise AssertionError(data)

    err = out

    def gone(self) -> bool:
        return False


def outcome_of(params: dict[str, Any]) -> object:
    with Service() as service:
        return remote.answer(service, params, Deaf())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"cwd_id": [1, 2]}, "place"),
        ({"root_id": [1, 2]}, "place"),
        ({"space": "mnt:[1]"}, "place"),
        ({"user": [4711]}, "place"),
        ({"cwd": "/nowhere at all"}, "place"),
        ({"environ": {}}, "environ"),
        ({"words": ["build"]}, "words"),
        ({"words": ["--version"]}, "words"),
        ({"words": ["daemon", "run"]}, "words"),
        ({"words": ["x", "--no-daemon"]}, "words"),
        ({"words": ["find-files", "--help"]}, "words"),
        ({"words": ["find-files"]}, "words"),
        ({"words": ["needle", "a.txt", "-"]}, "stdin"),
        ({"words": ["-f", "-", "a.txt"]}, "stdin"),
        ({"stdin": True}, "stdin"),
        ({"words": ["needle", "a" * 4095]}, "long"),
    ],
)
def test_what_would_come_out_differently_is_declined(
    change: dict[str, Any], reason: str, tree: Path
) -> None:
    assert outcome_of({**params_from(tree, "needle"), **change}) == Declined(reason)


@pytest.mark.parametrize(
    "words",
    ["needle fifo", "needle a.txt socket a", "needle to-zero", "needle /dev/null", "needle to-proc",
     "needle /dev/stdin", "needle /dev/fd/63", "needle a/../../../../../../../../../dev/fd/5",
     "needle /proc/self/environ", "-f fifo a", "-f /dev/fd/63 a", "--ignore-file fifo needle a",
     "--files fifo", "-c needle fifo", "--ignore-file /dev/fd/63 needle"],
)  # fmt: skip
def test_what_only_the_clients_process_may_open_is_declined_before_it_is_opened(
    words: str, special: Path
) -> None:
    words = words.replace("a/../../../../../../../../..", "/" + "../" * 40)

    assert outcome_of(params_from(special, *shlex.split(words))) == Declined("special file")


@pytest.fixture
def special(tree: Path) -> Iterator[Path]:
    made = [tree / name for name in ("fifo", "socket", "to-zero", "to-proc")]
    os.mkfifo(made[0])
    with socket.socket(socket.AF_UNIX) as bound, standing_in(tree):
        bound.bind("socket")
    made[2].symlink_to("/dev/zero")
    made[3].symlink_to("/proc/self/environ")
    yield tree
    for path in made:
        path.unlink()


@pytest.mark.parametrize(
    "name", ["HOME", "XDG_CONFIG_HOME", "RIPGREP_CONFIG_PATH", "GIT_CONFIG_GLOBAL"]
)
def test_settings_of_git_other_than_the_daemons_are_declined(name: str, tree: Path) -> None:
    params = params_from(tree, "needle")
    params["environ"][name] = "/elsewhere"

    assert outcome_of(params) == Declined("environ")


def test_a_backend_asked_for_by_name_is_the_one_on_the_clients_path(tree: Path) -> None:
    params = params_from(tree, "--engine=rg", "needle")
    params["environ"]["PATH"] = "/nowhere"

    assert outcome_of(params) == Declined("path")


@pytest.mark.parametrize("word", ["--engine=zoekt", "--backend=zoekt"])
def test_a_cluster_is_asked_by_the_client_whose_variables_name_it(word: str, tree: Path) -> None:
    assert outcome_of(params_from(tree, word, "needle")) == Declined("cluster")


def test_excludes_that_count_from_the_working_folder_are_the_clients(
    tree: Path, home: Path
) -> None:
    (home / ".gitconfig").write_text("[core]\nexcludesfile = ignored-here\n")

    assert outcome_of(params_from(tree, "needle")) == Declined("environ")


ODD: list[object] = [
    None, True, -1, 1 << 80, 1.5, "", "x", "\0", "\ud800", "relative", [], [None], ["\0"], [[]],
    ["a"] * 100_001, {}, {"HOME": 1}, {"\0": "x"}, {1: 2},
]  # fmt: skip


@pytest.mark.parametrize("name", ["words", "cwd", "space", "terminal", "width", "stdin", "environ"])
@pytest.mark.parametrize("place", range(len(ODD)))
def test_a_hostile_request_is_declined_and_harms_nobody(name: str, place: int, tree: Path) -> None:
    params = params_from(tree, "needle")
    if (name, ODD[place]) in (("terminal", True), ("stdin", True), ("width", True)):
        params.pop(name)
    else:
        params[name] = ODD[place]
    if name == "words" and isinstance(ODD[place], list) and ODD[place] and ODD[place][0] == "a":
        assert outcome_of(params) == Declined("malformed")
        return

    assert isinstance(outcome_of(params), Declined)


@pytest.mark.parametrize(
    "name",
    ["words", "cwd", "cwd_id", "root_id", "space", "user", "terminal", "width", "stdin", "environ"],
)
def test_a_request_that_lacks_something_is_declined(name: str, tree: Path) -> None:
    params = params_from(tree, "needle")
    del params[name]

    assert outcome_of(params) == Declined("malformed")


# Streaming


def test_a_long_answer_comes_in_pieces_and_a_client_that_leaves_ends_the_work(
    tmp_path: Path,
) -> None:
    for number in range(40):
        (tmp_path / f"{number}.txt").write_bytes(b"needle needle needle\n" * 20_000)
    params = params_from(tmp_path, "needle", "--engine=scan")

    class Leaving(Deaf):
        def __init__(self, after: int) -> None:
            self.taken: list[int] = []
            self.after = after

        def out(self, data: bytes) -> None:
            self.taken.append(len(data))
            if sum(self.taken) > self.after:
                raise BrokenPipeError

    patient, hasty = Leaving(1 << 30), Leaving(1 << 20)
    with Service() as service:
        assert remote.answer(service, params, patient) == 0  # type: ignore[arg-type]
        assert remote.answer(service, params, hasty) == 0  # type: ignore[arg-type]

    assert sum(patient.taken) > 40 * 20_000 * 21
    assert len(patient.taken) > 20
    assert len(hasty.taken) < 10


def test_a_search_without_output_stops_when_nobody_waits_for_it(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"{number}.txt").write_bytes(b"needle needle needle\n" * 20_000)
    asked_for: list[int] = []

    class Gone(Deaf):
        def gone(self) -> bool:
            asked_for.append(1)
            return len(asked_for) == 3

    with Service() as service:
        params = params_from(tmp_path, "needle", "--envelope", "--engine=scan")
        assert remote.answer(service, params, Gone()) == 0  # type: ignore[arg-type]

    assert len(asked_for) == 3


def test_both_streams_come_in_the_order_they_were_written(tree: Path) -> None:
    sent = reply(["--line-buffered", "needle", "a.txt", "nowhere", "z.c"], tree)

    first, complaint, last = (sent.find(part) for part in (b"a.txt:", b"nowhere: ", b"z.c:"))
    assert 0 < first < complaint < last


def test_a_terminal_is_the_clients(tree: Path) -> None:
    shown = triseek(["needle", "a"], tree, terminal=True)
    taken: list[bytes] = []

    class Screen(Deaf):
        def out(self, data: bytes) -> None:
            taken.append(data)

    params = {**params_from(tree, "needle", "a"), "terminal": True, "width": 80}
    params["environ"]["TERM"] = "xterm"
    with Service() as service:
        assert remote.answer(service, params, Screen()) == 0  # type: ignore[arg-type]

    body = b"".join(taken).rpartition(b"\n\x1b[2m")[0]
    assert body == shown.out.rpartition(b"\n\x1b[2m")[0]
    assert os.path.basename(tree) in params["cwd"]
