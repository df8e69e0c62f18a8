"""The files of the recall index: what they hold, and what is left when it is gone."""

import threading
from pathlib import Path

import pytest

from tests.recall.sessions import add, fill, found, snapshot_of
from triseek.history.message_source import MessageSource
from triseek.kernels import cache
from triseek.recall import index
from triseek.recall.engine import Recall


def test_nothing_new_is_nothing_done(recall, database):
    add(database, 1, "alpha")
    assert recall.update() == 1
    before = Path(recall._folder, index.MANIFEST).stat().st_mtime_ns
    assert recall.update() == 0
    assert Path(recall._folder, index.MANIFEST).stat().st_mtime_ns == before


def test_dropping_leaves_no_file(recall, database):
    add(database, 1, "alpha")
    recall.update()
    assert found(recall, "alpha") == [1]
    recall.drop()
    recall.drop()
    assert not Path(recall._folder).exists()
    assert found(recall, "alpha") == [1]  # read from the database
    assert recall.update() == 1
    assert found(recall, "alpha") == [1]


def test_purging_keeps_what_the_database_has(tmp_path, recall, database, monkeypatch):
    monkeypatch.setattr(index, "BATCH_TOKENS", 300)
    fill(database, 5, range(1, 60))
    recall.update()
    add(database, 3, "grown alpha")  # an older copy of 3 stays in the first segment
    recall.update()
    with database.write() as connection:
        connection.execute("DELETE FROM sessions WHERE id IN (4, 5)")
        connection.execute(
            "DELETE FROM messages WHERE id = (SELECT min(id) FROM messages WHERE session_id = 7)"
        )
    names = {one.segment.entry["name"] for one in recall.open().segments}

    recall.purge()

    with database.read() as connection:
        rows = connection.execute("SELECT id FROM messages ORDER BY id")
        ids = [number for (number,) in rows]
    segments = recall.open().segments
    indexed = [number for one in segments for number in one.segment.message_ids.tolist()]
    assert sorted(indexed) == ids  # each once, nothing else
    after = {one.segment.entry["name"] for one in segments}
    assert len(after & names) == len(names) - 1  # only the first segment had some of it
    assert {path.name for path in Path(recall._folder).iterdir()} == after | {index.MANIFEST}
    whole = Recall(str(tmp_path / "whole"), MessageSource(database))
    whole.update()
    assert snapshot_of(Recall(str(recall._folder), MessageSource(database))) == snapshot_of(whole)
    assert recall.update() == 0


def test_no_word_of_what_was_purged_is_left(recall, database):
    add(database, 1, "alpha quetzal", "beta")
    add(database, 2, "gamma")
    recall.update()
    add(database, 2, "delta")
    recall.update()
    with database.write() as connection:
        connection.execute("DELETE FROM messages WHERE text LIKE '%quetzal'")
    recall.purge()
    files = [path for path in Path(recall._folder).rglob("*") if path.is_file()]
    assert not any(b"quetzal" in path.read_bytes() for path in files)
    assert any(b"beta" in path.read_bytes() for path in files)
    assert (found(recall, "alpha"), found(recall, "beta"), found(recall, "delta")) == ([], [1], [2])
    with database.write() as connection:
        connection.execute("DELETE FROM sessions")
    recall.purge()
    assert [path.name for path in Path(recall._folder).iterdir()] == [index.MANIFEST]


def test_purging_without_kernels_drops_the_index(recall, database, monkeypatch):
    add(database, 1, "alpha")
    recall.update()
    monkeypatch.setattr(cache, "is_ready", lambda: False)
    recall.purge()
    assert not Path(recall._folder).exists()


def test_many_updates_make_few_segments(recall, database):
    for session in range(1, 40):
        add(database, session, f"alpha number{session}")
        recall.update()
    assert len(recall.open().segments) <= index.SEGMENTS_MAX + 2
    assert len(found(recall, "alpha")) == 39
    folders = [path for path in Path(recall._folder).iterdir() if path.is_dir()]
    assert len(folders) == len(recall.open().segments)


def test_full_segments_are_neither_written_nor_mapped_again(recall, database, monkeypatch):
    monkeypatch.setattr(index, "BATCH_VOCABULARY", 5)
    monkeypatch.setattr(index, "SEGMENTS_MAX", 2)
    fill(database, 5, range(1, 30))
    recall.update()
    full = [one.segment for one in recall.open().segments if index._is_full(one.segment)]
    assert len(full) > 2
    add(database, 40, "zebra")
    recall.update()
    assert found(recall, "zebra") == [40]
    assert [one.segment for one in recall.open().segments][: len(full)] == full


def test_a_session_without_messages_is_left_out(recall, database):
    add(database, 1)
    add(database, 2, "alpha")
    assert recall.update() == 1
    assert found(recall, "alpha") == [2]


@pytest.mark.parametrize("damage", ["manifest", "column", "missing"])
def test_a_damaged_index_is_built_again(tmp_path, recall, database, damage):
    fill(database, 5, range(1, 20))
    recall.update()
    wanted = found(recall, "alpha")
    folder = Path(recall._folder)
    if damage == "manifest":
        (folder / index.MANIFEST).write_bytes(b"{}")
    for path in folder.glob("*/messages.npy"):
        if damage == "column":
            data = bytearray(path.read_bytes())
            data[128:] = bytes(byte ^ 1 for byte in data[128:])
            path.write_bytes(data)
        elif damage == "missing":
            path.unlink()
    again = Recall(str(folder), MessageSource(database))
    assert found(again, "alpha") == wanted
    assert again.update() > 0 or damage == "column"
    assert found(again, "alpha") == wanted


def test_searches_and_updates_at_the_same_time(recall, database):
    add(database, 1, "alpha")
    recall.update()
    failures = []

    def search():
        failures.extend(at for at in range(60) if found(recall, "alpha") != [1])

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for session in range(2, 20):
        add(database, session, "beta")
        recall.update()
    for thread in threads:
        thread.join()
    assert not failures
