"""A memory that is locked, full, damaged or in the way: one clear line, and nothing is lost."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import triseek as in_this_process
from triseek import paths
from triseek.memory import database
from triseek.memory.drawers import Draft
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.long

PACKAGE = Path(__file__).parents[2]
TEXT = "Staging is reset every night"


@pytest.fixture(autouse=True)
def file(home: Path) -> Path:
    """The database of a memory in which something is kept, in the palace `shop`."""
    with contextlib.closing(Memory()) as memory:
        memory.create("shop")
        memory.remember("shop", Draft(text=TEXT))
        return memory.database.path


def triseek(
    *words: str, limit: Callable[[], None] | None = None, stdin: str = "", **environ: str
) -> tuple[int, str, str]:
    """The exit status, standard output and standard error of a process."""
    done = subprocess.run(
        [sys.executable, "-m", "triseek", "memory", *words],
        env={**os.environ, "PYTHONPATH": str(PACKAGE), **environ}, input=stdin,
        capture_output=True, text=True, check=False, timeout=60, preexec_fn=limit,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def is_one_line(outcome: tuple[int, str, str], *parts: str) -> None:
    """The error is one line that names the cause and a next step."""
    status, _, line = outcome
    assert status == 2, line
    assert line.startswith("triseek: "), line
    assert line.count("\n") == 1, line
    for part in parts:
        assert part in line, line


def kept() -> list[str]:
    with contextlib.closing(Memory()) as memory:
        assert memory.database.check() == []
        return [drawer.text for drawer in memory.listed("shop", limit=1_000)]


def limit() -> None:
    """Let no file grow beyond what SQLite needs to read: the disk is full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))


@contextlib.contextmanager
def held(file: Path) -> Iterator[None]:
    """Another process's exclusive lock."""
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("CREATE TABLE held (a)")
        yield
        other.rollback()


def test_a_locked_memory_is_busy_and_loses_nothing(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_S", 0.2)
    with held(file):
        for words in (
            ["recall", "staging", "--palace", "shop"], ["remember", "x", "--palace", "shop"],
            ["list", "--palace", "shop"], ["palaces"], ["export", "--all"],
        ):  # fmt: skip
            done = in_this_process(["memory", *words], tmp_path)
            is_one_line((done.status, "", done.err), str(file), "in use by another", "Wait for")
    assert kept() == [TEXT]


def test_a_writer_waits_for_another(file: Path, tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE palaces SET description = 'busy'")
        process = subprocess.Popen(
            [sys.executable, "-m", "triseek", "memory", "remember", "x", "--palace", "shop"],
            env={**os.environ, "PYTHONPATH": str(PACKAGE)}, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.5)
            pytest.fail("it did not wait")
        other.commit()
        assert process.wait(30) == 0
    assert kept() == [TEXT, "x"]


def test_a_full_disk_is_named_and_what_was_kept_stays(file: Path, tmp_path: Path) -> None:
    long = tmp_path / "long.jsonl"
    lines: list[Any] = [{"format": "triseek-memory", "version": 1},
                        {"kind": "palace", "name": "shop"}]  # fmt: skip
    lines += [
        {"kind": "drawer", "drawer_id": f"0f9c2d1a-0000-4000-8000-{number:012}",
         "content": f"Text {number} " + "word " * 50}
        for number in range(1_200)
    ]  # fmt: skip
    long.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    is_one_line(triseek("import", str(long), limit=limit), "memory.db", "Free space")
    is_one_line(
        triseek("remember", "-", "--palace", "shop", limit=limit, stdin="word " * 19_000),
        "memory.db", "Free space",
    )  # fmt: skip
    assert TEXT in kept()
    status, out, _ = triseek("import", str(long), "--json")
    assert (status, json.loads(out)["left_out"]) == (0, 0)
    with contextlib.closing(Memory()) as memory:
        assert memory.info("shop").drawers == 1_201


def test_a_full_disk_leaves_an_older_export_whole(tmp_path: Path) -> None:
    with contextlib.closing(Memory()) as memory:
        memory.remember("shop", Draft(text="word " * 15_000))
    target = tmp_path / "out.jsonl"
    target.write_text("older")

    done = triseek("export", "--all", str(target), limit=limit)
    is_one_line(done, "out.jsonl", "has room")
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]
    assert target.read_text() == "older"


def test_a_damaged_memory_is_named_and_kept(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[100:8_000] = os.urandom(7_900)
    file.write_bytes(data)
    for words in (
        ["recall", "staging", "--palace", "shop"], ["remember", "x", "--palace", "shop"],
        ["list", "--palace", "shop"], ["export", "--all"],
    ):  # fmt: skip
        is_one_line(triseek(*words), str(file), "is damaged", "Move the file away")
    assert file.read_bytes()[:8_000] == bytes(data[:8_000]), "it is left for its owner"
    file.rename(file.with_suffix(".damaged"))  # as the next step says
    assert triseek("palaces", "--create", "shop")[0] == 0


def test_a_memory_of_a_later_version_is_left_alone(file: Path) -> None:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = file.read_bytes()
    is_one_line(triseek("palaces"), "has schema 99", "Upgrade triseek")
    assert file.read_bytes() == before


@pytest.mark.parametrize("kind", ["file", "dangling", "database is a folder"])
def test_what_is_in_the_way_is_named(kind: str, home: Path, file: Path) -> None:
    folder = Path(paths.memory())
    folder.rename(home / "away")
    if kind == "file":
        folder.write_text("a file is in the way")
    elif kind == "dangling":
        folder.symlink_to("/nowhere/at/all")
    else:
        (folder / "memory.db").mkdir(parents=True)
    is_one_line(triseek("remember", "x", "--palace", "shop"), str(folder))


@pytest.mark.root
def test_a_folder_that_cannot_be_written_is_named(home: Path, file: Path) -> None:
    folder = Path(paths.memory())
    subprocess.run(["mount", "--bind", folder, folder], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        is_one_line(triseek("remember", "x", "--palace", "shop"), str(file))
    finally:
        subprocess.run(["umount", folder], check=True)
    assert kept() == [TEXT]


def test_the_daemon_answers_as_a_process_does_and_goes_on_without(tmp_path: Path) -> None:
    """With the real daemon: reading through it, writing beside it, and after its end."""
    environ = {"TRISEEK_NO_DAEMON": "", "CI": "1"}

    def daemon(word: str) -> None:
        subprocess.run(
            [sys.executable, "-m", "triseek", "daemon", word], check=True, capture_output=True,
            env={**os.environ, "PYTHONPATH": str(PACKAGE), **environ}, timeout=60,
        )  # fmt: skip

    words = ("recall", "staging", "--palace", "shop")
    daemon("start")
    try:
        assert triseek(*words, **environ) == triseek(*words)
        _, out, _ = triseek(
            "remember", "Staging has no mail", "--palace", "shop", "--json", **environ
        )
        name = json.loads(out)["drawer_id"]
        _, out, _ = triseek(*words, "--json", **environ)
        assert name in [result["drawer_id"] for result in json.loads(out)["results"]]
        assert triseek("forget", name, "--palace", "shop", **environ)[0] == 0
        assert name[:8] not in triseek(*words, **environ)[1]
    finally:
        daemon("stop")
    assert triseek(*words, **environ) == triseek(*words)
