"""A database that is locked, full or damaged: one clear line, nothing lost, and the way on."""

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
from typing import TYPE_CHECKING

import pytest

from tests.history.contents import contents
from tests.history.made_transcripts import MAKERS, claude_code, claude_rows
from triseek import paths
from triseek.agents.base import InstallPlace
from triseek.daemon.services import HistoryService
from triseek.errors import Busy, FormatTooNew, StateCorrupt, StateUnwritable
from triseek.history.importing import sources
from triseek.history.service import History
from triseek.store import sqlite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.long

PACKAGE = Path(__file__).parents[2]


def plain(field: str) -> str:
    return "/work/repo" if field in ("cwd", "path") else f"the-{field}"


@pytest.fixture
def place(home: Path) -> InstallPlace:
    for agent, make in MAKERS.items():
        make(home, f"{agent}-1", plain)
    return InstallPlace("", str(home), str(home), dict(os.environ))


@pytest.fixture
def history(place: InstallPlace) -> Iterator[History]:
    """The history of six agents' conversations."""
    with contextlib.closing(History()) as history:
        history.import_conversations(sources.importable(), place)
        yield history


def database_file() -> Path:
    return Path(paths.history(), "history.db")


def triseek(*words: str, limit: Callable[[], None] | None = None) -> tuple[int, str]:
    """The exit status and what was written to standard error."""
    done = subprocess.run(
        [sys.executable, "-m", "triseek", "history", *words],
        env={**os.environ, "PYTHONPATH": str(PACKAGE)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=60, preexec_fn=limit,
    )  # fmt: skip
    return done.returncode, done.stderr


def is_one_line(told: tuple[int, str], *parts: str) -> None:
    """The error is one line that names the cause and a next step."""
    status, line = told
    assert status == 2, line
    assert line.startswith("triseek: "), line
    assert line.count("\n") == 1, line
    for part in parts:
        assert part in line, line


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Another process's exclusive lock."""
    other = sqlite3.connect(database_file(), isolation_level=None)
    with contextlib.closing(other):
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("CREATE TABLE held (a)")
        yield
        other.rollback()


def test_a_locked_database_is_busy_and_loses_nothing(
    history: History, place: InstallPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(history.database)
    history.close()
    monkeypatch.setattr(sqlite, "BUSY_S", 0.2)
    path = claude_code(Path(place.home), "later", plain)
    with held():
        is_one_line(triseek("stats"), "in use by another process", "Wait for")
        with contextlib.closing(History()) as second, pytest.raises(Busy):
            second.import_conversations(sources.importable(), place)
        service = HistoryService()
        service.now()  # the daemon's loop logs it and goes on
    service.now()
    with contextlib.closing(History()) as again:
        after = contents(again.database)
    service.close()
    assert {row[1] for row in after["sessions"]} == {row[1] for row in before["sessions"]} | {
        path.stem
    }


def test_a_full_disk_stops_an_import_and_the_next_one_goes_on(
    history: History, place: InstallPlace
) -> None:
    before = contents(history.database)
    history.close()
    for number in range(3):
        claude_code(Path(place.home), f"large-{number}", lambda field: plain(field) * 2, turns=40)
    size = database_file().stat().st_size

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20_000, size + 20_000))

    done = triseek("import", "--all", limit=limit)
    is_one_line(done, "history.db", "Free space")
    with contextlib.closing(History()) as again:
        assert again.database.check() == []
        assert set(before["messages"]) <= set(contents(again.database)["messages"])
        again.import_conversations(sources.importable(), place)
        assert len(contents(again.database)["messages"]) == len(before["messages"]) + 3 * 80


def test_a_full_disk_does_not_hide_that_something_is_forgotten(
    history: History, place: InstallPlace
) -> None:
    for number in range(3):
        claude_code(Path(place.home), f"large-{number}", lambda field: plain(field) * 2, turns=40)
    history.import_conversations(sources.importable(), place)
    history.close()
    size = database_file().stat().st_size

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, size // 2))

    name = "claude-code-1"
    is_one_line(triseek("forget", name, limit=limit), "is forgotten, but", "Free space")
    with contextlib.closing(History()) as again:
        assert name not in {row[1] for row in contents(again.database)["sessions"]}
        again.close()
    assert name.encode() not in database_file().read_bytes()


def test_a_damaged_database_is_named_and_kept(history: History, place: InstallPlace) -> None:
    history.close()
    file = database_file()
    data = bytearray(file.read_bytes())
    data[100:8_000] = os.urandom(7_900)
    file.write_bytes(data)
    for words in (["stats"], ["import", "--all"]):
        is_one_line(triseek(*words), "is damaged", "Move the file away")
    service = HistoryService()
    service.now()
    service.close()
    assert file.read_bytes()[:8_000] == bytes(data[:8_000]), "it is left for its owner"
    file.rename(file.with_suffix(".damaged"))  # as the next step says
    with contextlib.closing(History()) as again:
        again.import_conversations(sources.importable(), place)
        assert len(contents(again.database)["sessions"]) == len(MAKERS)


def test_a_database_of_a_later_version_is_left_alone(history: History) -> None:
    history.close()
    with contextlib.closing(sqlite3.connect(database_file())) as database:
        database.execute("PRAGMA user_version = 99")
    before = database_file().read_bytes()
    is_one_line(triseek("stats"), "has schema 99", "Upgrade triseek")
    with contextlib.closing(History()) as again, pytest.raises(FormatTooNew):
        assert again.database
    assert database_file().read_bytes() == before


def test_the_recall_index_is_disposable(history: History) -> None:
    assert history.recall.search("the-prompt", by="message", limit=10).total
    history.close()
    folder = Path(paths.history(), "recall")
    columns = [path for path in folder.rglob("*.npy") if path.stat().st_size > 200]
    assert columns
    for path in columns:
        data = bytearray(path.read_bytes())
        data[150:] = os.urandom(len(data) - 150)
        path.write_bytes(data)
    with contextlib.closing(History()) as again:
        page = again.recall.search("the-prompt", by="message", limit=10)
        assert sum(1 + hit.copies for hit in page.hits) == len(MAKERS)
        again.derive()
        assert again.recall.search("the-prompt", by="message", limit=10) == page
        assert list(folder.rglob("*.npy"))


def test_an_index_that_cannot_be_read_does_not_stop_a_search(history: History) -> None:
    history.close()
    manifest = Path(paths.history(), "recall", "manifest.json")
    manifest.write_bytes(b"\0" * 300)
    status, errors = triseek("search", "the-prompt")
    assert (status, errors) == (0, "")


def test_a_folder_that_cannot_be_written_is_named(place: InstallPlace, home: Path) -> None:
    (home / "history").write_text("a file is in the way")
    is_one_line(triseek("import", "--all"), str(home / "history"))
    with contextlib.closing(History()) as history, pytest.raises((StateUnwritable, StateCorrupt)):
        history.import_conversations(sources.importable(), place)


def test_the_daemon_reads_as_far_back_as_the_person_has_asked_for(place: InstallPlace) -> None:
    home = Path(place.home)
    old = claude_code(home, "old", plain)
    os.utime(old, (86_400, 86_400))
    agents = [agent for agent in sources.importable() if agent.name == "claude-code"]
    with contextlib.closing(History()) as history:

        def followed() -> list[str]:
            history.follow(place)
            with history.database.read() as connection:
                rows = connection.execute("SELECT external_id FROM sessions ORDER BY 1")
                return [name for [name] in rows]

        history.import_conversations(agents, place, since_ms=2 * 86_400_000)
        assert followed() == ["claude-code-1"]
        history.import_conversations(agents, place, since_ms=3 * 86_400_000)
        assert followed() == ["claude-code-1"]
        history.import_conversations(agents, place)
        assert followed() == ["claude-code-1", "old"]


def test_transcripts_are_the_spool(history: History, place: InstallPlace) -> None:
    """What agents write while the database cannot be written is imported once it can be."""
    history.close()
    path = claude_code(Path(place.home), "spooled", plain)
    with path.open("a") as file, held():
        for turn in range(1, 5):
            rows = claude_rows("spooled", turn, plain)
            file.write("".join(json.dumps(row) + "\n" for row in rows))
    for _ in range(2):
        with contextlib.closing(History()) as again:
            again.follow(place)
            shown = [row for row in contents(again.database)["messages"] if row[0] == "spooled"]
            assert len(shown) == 2 * 5
