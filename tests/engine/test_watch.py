"""A watched root: its journal, what was noted, and its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from triseek.engine.engine import Engine
from triseek.errors import IndexUnavailable, Unwatchable


def test_an_edit_is_noted_in_the_journal(followed):
    watch = followed.watched
    clock, _ = followed.since()
    assert followed.since(clock)[1].kind == "unchanged"
    assert watch.changed == 0.0

    Path(followed.root, "top.txt").write_text("needle twice\n", encoding="utf-8")
    assert watch.wait(5)
    since = followed.since(clock)[1]

    assert since.kind == "changed"
    assert {path: what for batch in since.batches for path, what in batch.changes.items()} == {
        b"top.txt": "modified"
    }
    assert watch.changed > 0


def test_after_the_end_nothing_is_known_to_be_unchanged(followed):
    watch, (clock, _) = followed.watched, followed.since()
    watch.close()

    assert not watch.alive
    assert not watch.journal.watched
    assert watch.journal.since(clock).kind == "unknown"
    assert followed.watched is None


def test_a_root_without_an_index_is_not_watched(repo, tmp_path):
    engine = Engine(repo({"a": "x\n"}), index_dir=str(tmp_path / "index"))

    with pytest.raises(IndexUnavailable):
        engine.watch(str(tmp_path / "cookies"))
    assert engine.watched is None


def test_a_root_with_too_many_folders_is_not_watched(repo, tmp_path):
    engine = Engine(repo({f"d{n}/a": "x\n" for n in range(9)}), index_dir=str(tmp_path / "index"))
    engine.build()

    with pytest.raises(Unwatchable, match="is not watched"):
        engine.watch(str(tmp_path / "cookies"), folders_max=3)
    assert engine.watched is None


def test_a_file_system_that_does_not_tell_of_changes_is_not_watched(repo, tmp_path, monkeypatch):
    engine = Engine(repo({"a": "x\n"}), index_dir=str(tmp_path / "index"))
    engine.build()
    monkeypatch.setattr("triseek.engine.watch.obstacle", lambda _: "it is a network file system")

    with pytest.raises(Unwatchable, match="network file system"):
        engine.watch(str(tmp_path / "cookies"))
