"""A command depends on its words and its world only: many run at once, each in its own."""

from __future__ import annotations

import ast
import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import Outcome, command
from triseek.cli import quick
from triseek.cli.error_boundary import settled
from triseek.engine.service import Service
from triseek.terminal.command_context import CommandContext

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.long

CLI = Path(quick.__file__).parent

COMMANDS = [
    ("", "-n needle"), ("a", "-n needle"), ("sub", "needle"), ("a", "-f pats.txt"),
    ("sub", "-f pats.txt ."), ("", "-f pats.txt a"), ("a", "-g 'c/*.py' needle"),
    ("", "-g '/a/*.txt' needle ."), ("a/c", "needle .."), ("a", "needle ../sub nowhere b.txt"),
    ("sub", "--ignore-file rules needle"), ("", "--ignore-file rules needle"), ("a", "--files"),
    ("a", "find-files py"), ("sub", "find-files txt .. --json"), ("a", "'('"), ("sub", "--nope"),
    ("a", "--kind path e"), ("", "--type-list"), ("a", "--json needle b.txt nowhere"),
    ("sub", "-c needle ../a.txt keep.txt"), ("a/c", "-C1 Needle"), ("", "-f nowhere.txt"),
]  # fmt: skip


def in_world(words: Sequence[str], folder: Path, service: Service, **world: object) -> Outcome:
    """A command in a world made up for it, whatever this process's is."""
    out: list[bytes] = []
    err: list[str] = []
    here = CommandContext(
        terminal=False, width=80, plain=False, stdin_readable=False, cwd=str(folder),
        out=out.append, err=err.append, has_stdin=False,
    )._replace(**world)  # type: ignore[arg-type]  # fmt: skip
    status = settled(lambda: quick.perform(words, here, service), here.err, words)
    return Outcome(status, b"".join(out), "".join(f"{line}\n" for line in err))


@pytest.fixture(scope="module")
def furnished(tree: Path) -> Path:
    (tree / "pats.txt").write_text("needle\nfoo.\n")
    (tree / "a/pats.txt").write_text("def\n")
    (tree / "sub/pats.txt").write_text("kept\nsecond\n")
    (tree / "rules").write_text("*.txt\n")
    (tree / "sub/rules").write_text("keep*\n")
    return tree


def test_commands_of_many_clients_run_at_once_each_as_in_a_process_of_its_own(
    furnished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "7")
    asked = [(furnished / where, shlex.split(words)) for where, words in COMMANDS]
    expected = [timeless(command(words, folder)) for folder, words in asked]
    monkeypatch.chdir(tmp_path)

    with Service() as service, ThreadPoolExecutor(8) as pool:
        rounds = [
            [pool.submit(in_world, words, folder, service) for folder, words in asked]
            for _ in range(6)
        ]
        for answers in rounds:
            for (folder, words), answer, its in zip(asked, answers, expected, strict=True):
                assert timeless(answer.result()) == its, (folder, words)


def timeless(outcome: Outcome) -> Outcome:
    if b'"type":"summary"' not in outcome.out:
        return outcome
    return outcome._replace(out=outcome.out.rpartition(b'{"data":{"elapsed_total"')[0])


def test_terminals_of_several_clients_are_their_own(furnished: Path) -> None:
    def seen(number: int) -> Outcome:
        terminal, plain = bool(number % 2), bool(number % 4 // 2)
        words = ["needle", "long.txt"]
        return in_world(
            words, furnished, service, terminal=terminal, plain=plain, width=80 + number // 4 * 100
        )

    with Service() as service, ThreadPoolExecutor(8) as pool:
        first, second = list(pool.map(seen, range(16))), [seen(number) for number in range(16)]

    for mine, its in zip(first, second, strict=True):
        assert mine.out.rpartition(b" \xc2\xb7 ")[0] == its.out.rpartition(b" \xc2\xb7 ")[0]
    assert b"\x1b[" in first[1].out
    assert b"\x1b[" not in first[3].out
    assert len({len(outcome.out) for outcome in first[1::4]}) > 1  # clipped to their widths


OWN = {"main.py", "command_context.py", "fast.py", "surroundings.py", "resume.py"}
"""What speaks to the process itself, as `LOCAL_VERBS` do, which no daemon runs."""
LOCAL_VERBS = {
    "command_tree.py", "daemon_verb.py", "doctor.py", "install.py", "audit.py",
    "brief.py", "model_endpoint.py", "ui.py",
}  # fmt: skip
FORBIDDEN = {
    ("os", "getcwd"), ("os", "curdir"), ("os", "environ"), ("os", "environb"), ("os", "getenv"),
    ("sys", "stdin"), ("sys", "stdout"), ("sys", "stderr"), ("sys", "argv"), ("os", "chdir"),
}  # fmt: skip


def test_nothing_that_serves_a_request_reads_the_process_it_is_in() -> None:
    found = [
        f"{path.name}:{node.lineno}"
        for path in CLI.rglob("*.py")
        if path.name not in OWN | LOCAL_VERBS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            and (node.value.id, node.attr) in FORBIDDEN)
        or (isinstance(node, ast.Name) and node.id == "print")
    ]  # fmt: skip
    # remote.py compares the client's environment with the daemon's; a shell's completion is known
    # by a variable, and never reaches a daemon.
    assert {place.split(":")[0] for place in found} <= {"remote.py", "quick.py"}
