"""An index and settings that another user could have written are passed over."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from tests.cli.running import Outcome, triseek
from tests.conftest import plant
from triseek import config, paths
from triseek.engine.engine import Engine
from triseek.engine.roots import index_dir
from triseek.errors import StateUnwritable
from triseek.ipc import address
from triseek.model.search import PatternSpec, SearchRequest
from triseek.store import lock, manifest


class Planted:
    """A tree whose index does not know all its files, and settings that are not the defaults."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        self.state = Path(paths.home())
        plant(self.root, {".git/HEAD": "", "old.txt": "needle\n"})
        assert triseek(["build"], self.root).status == 0
        plant(self.root, {"new.txt": "needle\n"})
        plant(self.state, {"config.toml": "[daemon]\nmax_roots = 3\n"})

    def found(self) -> set[bytes]:
        """Files with a match; an index that is used is not compared with the files."""
        engine = Engine(str(self.root), index_dir=index_dir(str(self.root)))
        request = SearchRequest(pattern=PatternSpec(patterns=("needle",)), sweep=False)
        return {path for batch in engine.search(request) for path in batch.paths}

    def envelope(self) -> tuple[str, list[str]]:
        said = triseek(["--envelope", "needle"], self.root)
        assert said.status == 0, said.err
        told = json.loads(said.out)
        return told["strategy"], sorted(each["path"] for each in told["results"])


@pytest.fixture(params=["above", "state"])
def planted(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Planted:
    """What others may write: the folder above the state folder, or that itself.

    A state folder that serves others too is not closed to them, so it stays as it is.
    """
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path / "above" / "state"))
    planted = Planted(tmp_path)
    assert planted.found() == {b"old.txt"}
    assert planted.envelope() == ("triseek_indexed", ["new.txt", "old.txt"])
    assert config.read().daemon_max_roots == 3
    (planted.state / "of others").mkdir()
    opened = planted.state if request.param == "state" else planted.state.parent
    opened.chmod(0o777)
    monkeypatch.setattr(manifest, "_trusted", set())  # as in the next process
    return planted


def test_an_index_that_others_could_have_written_is_not_believed(planted: Planted) -> None:
    assert planted.found() == {b"old.txt", b"new.txt"}
    strategy, found = planted.envelope()
    assert strategy != "triseek_indexed"
    assert found == ["new.txt", "old.txt"]


def test_settings_that_others_could_have_written_are_the_defaults(planted: Planted) -> None:
    assert config.read() == config.Settings()
    (planted.state / "config.toml").write_text("no settings at all")
    assert config.read() == config.Settings()


def test_what_needs_the_index_says_who_may_write_it(planted: Planted) -> None:
    for words in (["--engine=index", "needle"], ["build"], ["update"]):
        before = contents(planted.state)
        said = triseek(words, planted.root)

        assert (said.status, said.out) == (2, b"")
        assert is_one_line_with(said, "can be written by others (mode 0777)")
        assert contents(planted.state) == before


def test_what_has_to_write_is_a_state_that_cannot_be_written(planted: Planted) -> None:
    with (
        pytest.raises(StateUnwritable, match="can be written by others"),
        lock.writer(index_dir(str(planted.root))),
    ):
        pass


def test_no_daemon_is_asked_or_started(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a port, for the owner of a Unix socket is told by the kernel."""
    monkeypatch.setenv(address.TRANSPORT, "tcp")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        record = {"address": f"tcp:127.0.0.1:{listener.getsockname()[1]}", "token": "x"}
        plant(planted.state, {"daemon/daemon.json": json.dumps(record)})
        with pytest.raises(address.Forbidden, match=r"not to be trusted: .* written by others"):
            address.connect(5)
    before = contents(planted.state)

    started = triseek(["daemon", "start"], planted.root)

    assert (started.status, started.out) == (2, b"")
    assert is_one_line_with(started, "can be written by others (mode 0777)")
    assert contents(planted.state) == before


def contents(folder: Path) -> dict[Path, bytes | None]:
    """Every path below a folder, and what files hold."""
    return {
        path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))
    }


def is_one_line_with(said: Outcome, words: str) -> bool:
    return words in said.err and len(said.err.splitlines()) == 1
