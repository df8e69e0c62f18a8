"""`triseek history …` writes the same bytes in the daemon, in a process, and by way of Typer."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import shlex
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from bench.history import made_corpus
from tests.cli.running import Outcome, by_typer, standing_in, triseek
from tests.cli.serving import asked, environment, serving
from triseek.cli import fast, remote
from triseek.daemon.server import Declined
from triseek.engine.service import Service
from triseek.history.service import History

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Capture = pytest.CaptureFixture[bytes]

HEAVY = {"numpy", "typer", "rich", "pydantic", "sqlite3", "json", "re", "typing", "dataclasses"}
COMMANDS = [
    "search {prompt}", "search {prompt} --json", "search {prompt} --by message --limit 3",
    "search {prompt} --agent claude-code --since 3000d", "search {prompt} --agent codex",
    "search {prompt} --since 2030-01-01", "search {prompt} --project project-0 --json",
    "search cents --by observation", "search cents --by observation --json --limit=1",
    "search cents --by observation --agent claude-code", "search xyzzyqwerty", "search ' '",
    "search x --limit 0", "search x --limit=nine", "search x --by mood", "search x --since soon",
    "search", "search --nope", "search -- --json", "search a -", "show {session}", "show {short}",
    "show {short} --json", "show nothing", "show ''", "show", "show a b", "resume {session}",
    "resume {session} --json", "resume nothing", "timeline", "timeline --before 2 --after=1",
    "timeline {short} --json", "timeline 2025-10-21", "timeline 99", "timeline --before 51",
    "timeline cents", "timeline no such words", "stats", "stats --json", "stats --plain",
    "stats --nope", "fix NoSuchError", "fix {error}", "fix {error} --json", "fix ''",
    "how python", "how python --limit 2 --json", "how nothing", "how python --limit 101",
    "blame {file}", "blame {file} --json", "blame nowhere.py", "blame ./sub/../nowhere.py",
    "blame ''", "friction", "friction --json --since 90d", "friction --project nobody",
]  # fmt: skip


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder with a history of some conversations, and an observation."""
    folder = tmp_path_factory.mktemp("quick")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("TRISEEK_HOME", "HOME"):
            patch.setenv(name, str(folder))
        patch.setenv("TRISEEK_NO_DAEMON", "1")
        patch.delenv("CLAUDE_CONFIG_DIR", raising=False)
        made_corpus.make(folder / ".claude", 120_000)
        for words in (["import", "claude-code"], ["remember", "Prices are in cents"]):
            assert triseek(["history", *words], folder).status == 0
    return folder


@pytest.fixture(scope="module")
def texts(state: Path) -> dict[str, str]:
    """What stands for the names in `COMMANDS`."""
    transcript = min(state.glob(".claude/projects/*/*.jsonl"))
    row = json.loads(transcript.read_text().splitlines()[0])
    history = History(str(state / "history"))
    with history.database.read() as connection:
        [[file]] = connection.execute("SELECT path FROM event_files LIMIT 1")
        errors = connection.execute(
            "SELECT output FROM tool_events WHERE failed AND output != '' LIMIT 1"
        ).fetchall()
    history.close()
    values = {
        "prompt": row["message"]["content"][:60], "session": row["sessionId"], "file": file,
        "short": row["sessionId"][:13], "error": (errors or [["TypeError: x"]])[0][0][:200],
    }  # fmt: skip
    return {name: shlex.quote(value) for name, value in values.items()}


@pytest.fixture(autouse=True)
def _place(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRISEEK_HOME", str(state))
    monkeypatch.setenv("HOME", str(state))
    monkeypatch.setenv("CI", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("TRISEEK_NO_DAEMON", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("RIPGREP_CONFIG_PATH", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture(scope="module")
def history(state: Path) -> Iterator[History]:
    opened = History(str(state / "history"))
    yield opened
    opened.close()


@pytest.fixture
def server(history: History) -> Iterator[None]:
    with serving(history):
        yield


@pytest.mark.parametrize("text", COMMANDS)
def test_all_roads_write_the_same(
    text: str, texts: dict[str, str], history: History, state: Path, capfdbinary: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    words = ["history", *shlex.split(text.format(**texts))]
    here = triseek(words, state)
    with serving(history):
        beside, its = triseek(words, state), asked(words, state, capfdbinary)
    typed = by_typer(words, state, monkeypatch)
    assert _timeless(beside) == _timeless(here) == _timeless(typed)
    if isinstance(its, fast.Left):  # what only Typer says
        assert here.status == 2
        assert not its.begun
    else:
        assert _timeless(its) == _timeless(here)


def _timeless(outcome: Outcome) -> Outcome:
    """The outcome without the moment of the call, around which a timeline may be."""
    return outcome._replace(out=re.sub(rb"anchor: \d{4}-\d\d-\d\dT[\d:+]+", b"now", outcome.out))


@pytest.mark.parametrize("environ", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
@pytest.mark.parametrize("width", [60, 200])
def test_a_heat_map_is_drawn_for_the_clients_terminal(
    width: int, environ: dict[str, str], history: History, state: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("triseek.history.commands.stats.today", _the_corpus_day)
    monkeypatch.setattr("triseek.history.browsing.activity.today", _the_corpus_day)
    for name, value in {**environ, "COLUMNS": str(width)}.items():
        monkeypatch.setenv(name, value)
    params = {**params_from(state, "history", "stats"), "terminal": True}
    streams = Collected()

    with Service() as service:
        status = remote.answer(service, params, streams, kept={"history": history})  # type: ignore[arg-type]

    assert (status, streams.data) == triseek(["history", "stats"], state, terminal=True)[:2]
    assert (b"\x1b[38" in streams.data) is (not environ)


def _the_corpus_day() -> Any:
    return dt.date(2025, 10, 20)


class Collected:
    """Streams of a client that collect its standard output."""

    def __init__(self) -> None:
        self.data = b""

    def out(self, data: bytes) -> None:
        self.data += data

    def err(self, data: bytes) -> None:
        raise AssertionError(data)

    def gone(self) -> bool:
        return False


def params_from(folder: Path, *words: str) -> dict[str, Any]:
    with standing_in(folder):
        params: dict[str, Any] = json.loads(fast.request(words))["params"]
    return params


@pytest.mark.parametrize(
    ("words", "environ", "reason"),
    [
        ("history search x", {"TZ": "Asia/Kathmandu"}, "zone"),
        ("history search x", {"HOME": "/nowhere"}, "environ"),
        ("history stats --png year.png", {}, "file"),
        ("history blame /proc/self/maps", {}, "special file"),
        ("history import --all", {}, "words"),
        ("history forget x", {}, "words"),
        ("history search --help", {}, "words"),
        ("history", {}, "words"),
    ],
)
def test_what_the_daemon_would_do_otherwise_is_declined(
    words: str, environ: dict[str, str], reason: str, history: History, state: Path
) -> None:
    params = params_from(state, *words.split())
    params["environ"] |= environ
    with Service() as service:
        outcome = remote.answer(service, params, Collected(), kept={"history": history})  # type: ignore[arg-type]
    assert outcome == Declined(reason)
    assert not (state / "year.png").exists()


def test_a_daemon_without_a_history_declines(state: Path) -> None:
    params = params_from(state, "history", "search", "x")
    with Service() as service:
        assert remote.answer(service, params, Collected()) == Declined("words")  # type: ignore[arg-type]


def test_times_follow_the_zone_of_the_client(
    history: History, state: Path, texts: dict[str, str], capfdbinary: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    words = ["history", *shlex.split("search {prompt}".format(**texts))]
    outputs = set()
    try:
        for zone in ("Asia/Kathmandu", "America/Lima"):
            monkeypatch.setenv("TZ", zone)  # of the client and of the daemon
            with serving(history):
                its = asked(words, state, capfdbinary)
            time.tzset()
            assert its == triseek(words, state)
            outputs.add(its.out)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert len(outputs) == 2


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("verb", ["search x", "stats", "timeline", "friction"])
def test_a_client_of_the_daemon_imports_nothing_of_weight(verb: str, state: Path) -> None:
    program = (
        "import sys\nfrom triseek.cli.main import main\n"
        "try: main()\nfinally: sys.stderr.write(' '.join(sys.modules))"
    )
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {root!r}); {program}",
         "history", *verb.split()],
        cwd=state, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False,
    )  # fmt: skip
    loaded = set(done.stderr.decode().split())
    assert "triseek.cli.fast" in loaded
    assert not loaded & HEAVY


@pytest.mark.parametrize("verb", ["search", "show", "stats", "how"])
def test_without_a_daemon_neither_typer_nor_numba_is_loaded(verb: str, state: Path) -> None:
    words = "" if verb == "stats" else "python"
    program = (
        "import sys\nfrom triseek.cli.main import run\n"
        f"run({['history', verb, *words.split()]!r})\n"
        "print(' '.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=state, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, check=True,
    )  # fmt: skip
    loaded = set(done.stderr.decode().split())
    assert "triseek.history.service" in loaded
    assert not loaded & {"typer", "rich", "numba", "pydantic", "triseek.agents.registry"}
