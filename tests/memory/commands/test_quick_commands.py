"""`triseek memory …` writes the same bytes in the daemon, in a process, and by way of Typer."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import by_typer, standing_in, triseek
from tests.cli.serving import asked, environment, serving
from triseek.cli import fast, remote
from triseek.daemon.server import Declined
from triseek.engine.service import Service
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Capture = pytest.CaptureFixture[bytes]

READING = [
    "recall staging", "recall when is staging reset --json",
    "recall cents --limit=1 --room general",
    "recall staging --tag ops --since 3000d --deep", "recall staging --since 2030-01-01",
    "recall staging --essentials", "recall xyzzyqwerty", "recall x --limit 0", "recall",
    "recall x --palace nobody", "recall ''", "list", "list --json", "list --room Backend --limit 1",
    "list --forgotten", "list --tag ops --since soon", "list --nope", "show {id}", "show {short}",
    "show {short} --json", "show nothing", "show", "palaces", "palaces --json", "identity",
    "identity --json", "stats", "stats --json", "stats --palace nobody", "kg query checkout",
    "kg query checkout --as-of 2020-01-01", "kg history checkout --json", "kg query nobody", "kg",
    "kg nothing", "--palace x",
]  # fmt: skip
WRITING = [
    "remember text", "remember -", "update {short} text", "forget {short}", "restore {short}",
    "palaces --create x", "palaces --use shop", "palaces --delete shop --yes", "identity text",
    "identity --clear", "kg assert a b c", "kg retract a b",
]  # fmt: skip


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder with a memory."""
    folder = tmp_path_factory.mktemp("quick")
    (folder / "shop/.git").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("TRISEEK_HOME", "HOME"):
            patch.setenv(name, str(folder))
        patch.setenv("TRISEEK_NO_DAEMON", "1")
        for words in (
            "remember 'Staging is reset every night' --room Backend --tag ops",
            "remember 'Prices are in cents'", "identity 'A web shop'",
            "kg assert checkout uses stripe", "kg assert checkout uses paypal",
        ):  # fmt: skip
            assert triseek(["memory", *shlex.split(words)], folder / "shop").status == 0
    return folder


@pytest.fixture(scope="module")
def names(state: Path) -> dict[str, str]:
    memory = Memory(str(state / "memory"))
    name = memory.listed("shop")[0].uuid
    memory.close()
    return {"id": name, "short": name[:8]}


@pytest.fixture(autouse=True)
def _place(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRISEEK_HOME", str(state))
    monkeypatch.setenv("HOME", str(state))
    monkeypatch.setenv("CI", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("TRISEEK_NO_DAEMON", raising=False)


@pytest.fixture(scope="module")
def memory(state: Path) -> Iterator[Memory]:
    opened = Memory(str(state / "memory"))
    yield opened
    opened.close()


@pytest.mark.parametrize("text", READING)
def test_all_roads_write_the_same(
    text: str, names: dict[str, str], memory: Memory, state: Path, capfdbinary: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    words, folder = ["memory", *shlex.split(text.format(**names))], state / "shop"
    here = triseek(words, folder)
    with serving(memory=memory):
        beside, its = triseek(words, folder), asked(words, folder, capfdbinary)
    assert beside == here == by_typer(words, folder, monkeypatch)
    if isinstance(its, fast.Left):  # what only Typer says
        assert here.status == 2
        assert not its.begun
    else:
        assert its == here


class Nobody:
    """Streams of a client to which nothing may be written."""

    def out(self, data: bytes) -> None:
        raise AssertionError(data)

    err = out

    def gone(self) -> bool:
        return False


@pytest.mark.parametrize("text", WRITING)
def test_the_daemon_leaves_what_writes_to_its_client(
    text: str, names: dict[str, str], memory: Memory, state: Path
) -> None:
    before = memory.listed("shop"), memory.palaces(), memory.info("shop")
    words = ["memory", *shlex.split(text.format(**names))]
    with standing_in(state / "shop"):
        params: dict[str, Any] = json.loads(fast.request(words))["params"]
    with Service() as service:
        outcome = remote.answer(service, params, Nobody(), kept={"memory": memory})  # type: ignore[arg-type]
    assert outcome == Declined("write")
    assert (memory.listed("shop"), memory.palaces(), memory.info("shop")) == before


HEAVY = {"numpy", "typer", "rich", "pydantic", "sqlite3", "json", "re", "typing", "dataclasses"}


@pytest.mark.parametrize(
    ("words", "is_served", "light"),
    [
        ("recall staging", True, HEAVY),
        ("kg query checkout", True, HEAVY),
        ("recall staging", False, {"typer", "rich", "pydantic", "numba"}),
        ("list", False, {"typer", "rich", "pydantic", "numpy"}),
        ("remember 'Prices are in cents'", False, {"typer", "rich", "pydantic", "numpy"}),
    ],
)
def test_a_command_imports_no_more_than_it_needs(
    words: str, is_served: bool, light: set[str], memory: Memory, state: Path
) -> None:
    program = (
        "import sys, atexit; from triseek.cli.main import main;"
        "atexit.register(lambda: sys.stderr.write('\\n'.join(sys.modules)));"
        f"sys.argv[1:] = {['memory', *shlex.split(words)]!r}; main()"
    )
    more = {} if is_served else {"TRISEEK_NO_DAEMON": "1"}
    with serving(memory=memory):
        done = subprocess.run(
            [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {ROOT!r}); {program}"],
            cwd=state / "shop", env=environment(**more), capture_output=True, text=True,
            check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.splitlines())
    assert ("triseek.cli.fast" in loaded, "triseek.memory.service" in loaded) == (
        True,
        not is_served,
    )
    assert not light & loaded


ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
