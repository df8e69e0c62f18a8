"""An update reads what changed, and the index is then what a build would make of the tree."""

import os
import threading
import time

import numpy as np
import pytest

from tests.engine import answers
from triseek import errors
from triseek.index.build import build, survey
from triseek.index.reader import IndexReader, status_of
from triseek.index.update import Changed, commit_changed, update
from triseek.store import lock, manifest
from triseek.store.check import check


@pytest.fixture(autouse=True)
def short_racy_times(monkeypatch):
    answers.shorten_racy_times(monkeypatch)


@pytest.fixture
def tree(tmp_path):
    """A root of ten files and its index, come to rest."""
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    os.makedirs(f"{root}/.git")
    answers.write(root, {f"f{k}": f"needle {k}\n" for k in range(10)})
    rest()
    build(root, index_dir)
    return root, index_dir


def rest():
    time.sleep(2 * answers.TICK_S)


def alone(root, index_dir, *patterns, **more):
    """What the index says without looking at the tree, compared with what a scan says."""
    indexed, scan = answers.both(root, index_dir)
    said = answers.ask(indexed, *patterns, sweep=False, **more)
    assert said == answers.ask(scan, *patterns, **more)
    return answers.paths(said)


@pytest.mark.parametrize("often", [1, 100])
def test_an_index_that_is_replaced_while_it_is_checked_is_not_broken(tree, often):
    root, index_dir = tree
    times = []

    def replaces(*_):
        if len(times) < often:
            times.append(build(root, index_dir))

    if often == 1:
        assert check(index_dir, replaces) > 0
    else:
        with pytest.raises(errors.IndexUnavailable, match="replaced 5 times"):
            check(index_dir, replaces)
    assert check(index_dir, lambda *_: None) > 0


def test_without_a_change_nothing_is_written(tree):
    root, index_dir = tree
    before = manifest.read(index_dir)
    report = update(root, index_dir)
    assert manifest.read(index_dir) == before
    assert (report.files_changed, report.files_removed, report.generation) == (0, 0, 1)


def test_without_a_change_what_a_killed_writer_left_is_removed_unless_another_is_at_work(tree):
    root, index_dir = tree
    left = os.path.join(index_dir, "segments", "0123-replaced")
    os.mkdir(left)
    with lock.writer(index_dir):
        update(root, index_dir)
        assert os.path.exists(left)
    update(root, index_dir)
    assert os.listdir(os.path.dirname(left)) == [manifest.read(index_dir).tree]


def test_only_what_changed_is_read_and_the_rest_stays(tree):
    root, index_dir = tree
    answers.write(root, {"f3": "needle changed\n", "new/x": "needle new\n"})
    os.unlink(f"{root}/f7")
    report = update(root, index_dir)
    assert (report.files_changed, report.files_removed) == (2, 1)
    assert (report.rebuilt_full, report.generation) == (False, 2)
    assert alone(root, index_dir, "needle") == sorted(
        [f"f{k}" for k in range(10) if k != 7] + ["new/x"]
    )
    assert [len(view.names) for view in IndexReader.open(index_dir).views] == [10, 2]


def test_dead_files_of_several_updates_add_up(tree):
    root, index_dir = tree
    for k in range(5):
        answers.write(root, {f"f{k}": f"needle again {k}\n"})
        rest()
        update(root, index_dir)
    reader = IndexReader.open(index_dir)
    assert [int(view.alive.sum()) for view in reader.views] == [5, 1, 1, 1, 1, 1]
    assert len(alone(root, index_dir, "needle")) == 10
    assert alone(root, index_dir, "again") == [f"f{k}" for k in range(5)]


def test_a_large_change_is_a_large_delta(tree):
    root, index_dir = tree
    answers.write(root, {f"f{k}": f"needle other {k}\n" for k in range(9)})
    report = update(root, index_dir)
    assert (report.rebuilt_full, report.files_changed) == (False, 9)
    assert [int(view.alive.sum()) for view in IndexReader.open(index_dir).views] == [1, 9]


class TestCommit:
    """Who knows what changed needs no walk."""

    def changed(self, reader, dead=(), paths=(), tree=None, **more):
        numbers = [
            [i for i, path in enumerate(view.names.all()) if path in dead and view.alive[i]]
            for view in reader.views
        ]
        return Changed(
            dead=[np.array(mine, np.int64) for mine in numbers], paths=list(paths),
            allowlisted=more.get("allowlisted", set()), tree=tree,
            scanned_ns=time.time_ns(), removed=more.get("removed", 0),
        )  # fmt: skip

    def test_only_the_paths_that_are_named_are_read(self, tree):
        root, index_dir = tree
        reader = IndexReader.open(index_dir)
        answers.write(root, {"f1": "needle one\n", "f2": "nobody told\n", "new": "needle\n"})
        rest()  # what was just written counts as dirty, be it indexed or not
        changed = self.changed(reader, {b"f1", b"f7"}, [b"f1", b"new"], removed=1)
        os.unlink(f"{root}/f7")
        report = commit_changed(root, reader, changed)
        assert (report.files_changed, report.files_removed, report.generation) == (2, 1, 2)
        assert (report.files_seen, report.files_indexed, report.rebuilt_full) == (10, 10, False)
        after = IndexReader.open(index_dir)
        assert after.views[1].names.all() == [b"f1", b"new"]
        assert report.text_bytes == after.text_bytes() == after.manifest.text_bytes
        indexed, scan = answers.both(root, index_dir)
        assert answers.ask(indexed, "needle") == answers.ask(scan, "needle")
        assert indexed.tree_diff().scan == [b"f2"]

    def test_without_a_tree_the_older_tables_stay_and_the_delta_has_none(self, tree):
        root, index_dir = tree
        reader = IndexReader.open(index_dir)
        answers.write(root, {"f1": "needle one\n"})
        commit_changed(root, reader, self.changed(reader, {b"f1"}, [b"f1"]))
        after = IndexReader.open(index_dir)
        assert after.manifest.tree == reader.manifest.tree == after.manifest.segments[0].id
        assert after.tree_scanned_ns == reader.tree_scanned_ns < after.scanned_ns[1]
        assert not os.path.exists(f"{after.views[1].segment.folder}/directories.arrow")
        assert check(index_dir, lambda *_: None)
        after.verify()

    def test_with_a_tree_its_tables_are_new(self, tree):
        root, index_dir = tree
        os.makedirs(f"{root}/empty")
        reader = IndexReader.open(index_dir)
        _, tables = survey(root, lambda *_: None)
        commit_changed(root, reader, self.changed(reader, tree=tables))
        after = IndexReader.open(index_dir)
        assert after.manifest.tree == after.manifest.segments[1].id
        assert after.directories.names("path").all() == [b"", b"empty"]

    def test_files_that_are_only_gone_need_no_file_to_be_read(self, tree):
        root, index_dir = tree
        for name in ("f3", "f4"):
            os.unlink(f"{root}/{name}")
            reader = IndexReader.open(index_dir)
            commit_changed(root, reader, self.changed(reader, {name.encode()}, removed=1))
        assert [len(view.names) for view in IndexReader.open(index_dir).views] == [10, 0, 0]
        assert len(alone(root, index_dir, "needle")) == 8
        assert check(index_dir, lambda *_: None)

    def test_hidden_places_are_told_apart(self, tree):
        root, index_dir = tree
        answers.write(root, {".github/w": "needle\n"})
        reader, path = IndexReader.open(index_dir), b".github/w"
        commit_changed(root, reader, self.changed(reader, (), [path], allowlisted={path}))
        assert ".github/w" not in alone(root, index_dir, "needle")
        scope = answers.ScopeSpec(allowlist=True)
        assert ".github/w" in alone(root, index_dir, "needle", scope=scope)

    def test_a_file_that_is_gone_before_it_is_read_is_no_error(self, tree):
        root, index_dir = tree
        reader = IndexReader.open(index_dir)
        report = commit_changed(root, reader, self.changed(reader, (), [b"never"]))
        assert [skipped.path for skipped in report.skipped] == [b"never"]
        assert len(alone(root, index_dir, "needle")) == 10

    def test_a_reader_that_is_not_the_newest_is_busy_and_changes_nothing(self, tree):
        root, index_dir = tree
        reader = IndexReader.open(index_dir)
        answers.write(root, {"f1": "needle one\n"})
        changed = self.changed(reader, {b"f1"}, [b"f1"])
        commit_changed(root, reader, changed)
        current = manifest.read(index_dir)
        with pytest.raises(errors.Busy):
            commit_changed(root, reader, changed)
        with lock.writer(index_dir), pytest.raises(errors.Busy):
            commit_changed(root, IndexReader.open(index_dir), changed)
        assert manifest.read(index_dir) == current


def test_a_file_that_only_moved_from_hidden_to_shown_is_indexed_anew(tree):
    """A bug: it went on being left out of a search that now lists it."""
    root, index_dir = tree
    answers.write(root, {".github/w": "needle\n"})
    rest()
    update(root, index_dir)
    assert ".github/w" not in alone(root, index_dir, "needle")
    answers.write(root, {".gitignore": "!.github\n"})
    rest()
    update(root, index_dir)
    assert ".github/w" in alone(root, index_dir, "needle")


def test_an_ignore_file_that_changes_nothing_is_learnt_all_the_same(tree):
    """A bug: every later search walked the whole tree, and no update helped."""
    root, index_dir = tree
    answers.write(root, {"s/x": "needle\n", "s/.gitignore": "# nothing\n"})
    rest()
    update(root, index_dir)
    answers.write(root, {"s/.gitignore": "# nothing more\n"})
    rest()
    report = update(root, index_dir)
    assert report.files_changed == 0
    assert answers.both(root, index_dir)[0].tree_diff().directories == []


def test_folders_alone_are_a_change(tree):
    root, index_dir = tree
    os.makedirs(f"{root}/empty/folder")
    update(root, index_dir)
    assert b"empty/folder" in IndexReader.open(index_dir).directories.names("path").all()


def test_without_an_index_or_with_a_broken_one_it_is_a_build(tree, tmp_path):
    root, index_dir = tree
    assert update(root, str(tmp_path / "other")).rebuilt_full
    with open(f"{index_dir}/CURRENT", "r+b") as file:
        file.truncate(20)
    assert update(root, index_dir).rebuilt_full
    assert len(alone(root, index_dir, "needle")) == 10


def test_a_second_writer_is_told_that_the_first_is_busy(tree):
    root, index_dir = tree
    answers.write(root, {"f1": "needle more\n"})
    with lock.writer(index_dir):
        with pytest.raises(errors.Busy):
            update(root, index_dir)
        with pytest.raises(errors.Busy):
            build(root, index_dir)
    assert update(root, index_dir).generation == 2


def test_searches_go_on_while_updates_come(tree):
    """Readers take no lock: each sees one whole generation."""
    root, index_dir = tree
    indexed, _ = answers.both(root, index_dir)
    wrong, stop = [], threading.Event()

    def search():
        while not stop.is_set():
            paths = answers.paths(answers.ask(indexed, "needle", mode="files"))
            if paths != [f"f{k}" for k in range(10)]:
                wrong.append(paths)

    thread = threading.Thread(target=search)
    thread.start()
    for k in range(12):
        path = f"{root}/.f.tmp"
        with open(path, "w") as file:
            file.write(f"needle {k}\n")
        os.replace(path, f"{root}/f{k % 10}")
        update(root, index_dir)
    stop.set()
    thread.join()
    assert wrong == []


def test_status_counts_what_is_live(tree):
    root, index_dir = tree
    answers.write(root, {"bin": b"x\0", "f1": "needle changed\n"})
    os.unlink(f"{root}/f2")
    update(root, index_dir)
    status = status_of(root, IndexReader.open(index_dir), dirty=0, fresh=True)
    assert (status.files, status.files_binary, status.segments, status.generation) == (9, 1, 2, 2)
    assert status.text_bytes == 8 * 9 + 15
    assert status.category == "small"
    assert status.index_bytes > 5_000
