"""Segments become one without a look at the tree, and nothing that was in doubt is believed."""

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tests.engine import answers
from tests.index.contents import all_alive, contents, is_in_order
from triseek import errors
from triseek.engine.freshness.sweep import Sweeper
from triseek.index import merge, retimed, update
from triseek.index.build import build
from triseek.index.reader import IndexReader
from triseek.index.update import Changed
from triseek.kernels.fetch import STAT_CTIME
from triseek.model.index import no_progress
from triseek.store import lock, manifest
from triseek.store.check import check
from triseek.store.layout import FILES, TREE_TABLES


@pytest.fixture(autouse=True)
def short_racy_times(monkeypatch):
    answers.shorten_racy_times(monkeypatch)


@pytest.fixture
def tree(tmp_path):
    """A root of twenty files, and its index of four segments, each with something dead."""
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    os.makedirs(f"{root}/.git")
    answers.write(root, {f"s{k % 3}/f{k:02d}": f"needle {k}\n" * 20 for k in range(20)})
    rest()
    build(root, index_dir)
    for k in range(3):
        change(root, k)
        rest()
        update.update(root, index_dir)
    return root, index_dir


def change(root, k):
    answers.write(root, {f"s{k}/f{k:02d}": f"needle again {k}\n", f"new/{k}": f"needle new {k}\n"})
    answers.write(root, {f"s{k}/f{k + 3:02d}": b"needle\0", "new/x": f"needle {k}\n" * k})
    os.unlink(f"{root}/s{(k + 6) % 3}/f{k + 6:02d}")


def rest():
    time.sleep(2 * answers.TICK_S)


def merged(index_dir, which):
    return merge.merge(index_dir, IndexReader.open(index_dir), which)


SUBSETS = [[0], [3], [0, 1], [1, 2], [0, 3], [1, 3], [1, 2, 3], [0, 1, 2], [0, 1, 2, 3]]


def test_a_merge_of_all_segments_and_a_build_write_the_same_bytes(tree):
    root, index_dir = tree
    merged(index_dir, [0, 1, 2, 3])
    after_merge = files_of(index_dir)
    build(root, index_dir)
    assert files_of(index_dir) == after_merge


def files_of(index_dir):
    """The files of the only segment, without the one that names it and its times."""
    [segment] = (Path(index_dir) / "segments").iterdir()
    return {file.name: file.read_bytes() for file in segment.iterdir() if file.suffix != ".json"}


@pytest.mark.parametrize("which", SUBSETS, ids=str)
def test_a_merge_keeps_every_live_file_and_list_and_leaves_the_dead_behind(tree, which):
    root, index_dir = tree
    before, reader = contents(index_dir), IndexReader.open(index_dir)
    dead = sum(int((~reader.views[i].alive).sum()) for i in which)
    files = sum(len(reader.views[i].alive) for i in which)
    new = merged(index_dir, which)
    assert contents(index_dir) == before
    assert is_in_order(index_dir)
    assert (len(new.segments), new.generation) == (5 - len(which), 5)
    after = IndexReader.open(index_dir)
    assert after.manifest == new
    assert len(after.views[which[0]].alive) == files - dead
    assert all_alive(after.views[which[0]])
    assert after.manifest.text_bytes == reader.manifest.text_bytes
    assert check(index_dir, no_progress) > 0
    assert set(os.listdir(f"{index_dir}/segments")) == after.manifest.folders
    assert after.manifest.folders == {live.id for live in after.manifest.segments}
    indexed, scan = answers.both(root, index_dir)
    for pattern in ("needle", "again", "new 1"):
        said = answers.ask(indexed, pattern, sweep=False)
        assert said == answers.ask(scan, pattern)
        assert said == answers.ask(indexed, pattern)


def test_the_user_s_files_are_not_read(tree):
    root, index_dir = tree
    before = contents(index_dir)
    os.rename(root, f"{root}.away")
    merged(index_dir, [0, 1, 2, 3])
    assert contents(index_dir) == before


def test_after_a_merge_of_all_nothing_is_dirty_and_an_update_has_nothing_to_do(tree):
    root, index_dir = tree
    merged(index_dir, [0, 1, 2, 3])
    assert answers.both(root, index_dir)[0].tree_diff().count == 0
    report = update.update(root, index_dir)
    assert (report.files_changed, report.files_removed, report.generation) == (0, 0, 5)


def test_a_reader_of_the_old_generation_goes_on(tree):
    _, index_dir = tree
    reader = IndexReader.open(index_dir)
    before = contents(index_dir)
    merged(index_dir, [0, 1, 2, 3])
    assert len(reader.views) == 4
    alive = [view.names.take(np.flatnonzero(view.alive)) for view in reader.views]
    assert sorted(path for paths in alive for path in paths) == sorted(before)
    for view in reader.views:
        assert len(view.segment.postings.whole()) == int(view.segment.offsets[-1])


def test_the_tree_s_tables_and_their_time_move_with_the_segment_that_has_them(tree):
    _, index_dir = tree
    before = IndexReader.open(index_dir)
    merged(index_dir, [0, 3])
    after = IndexReader.open(index_dir)
    assert after.manifest.tree == after.manifest.segments[0].id
    assert after.tree_scanned_ns == before.tree_scanned_ns
    for name, schema in TREE_TABLES.items():
        old, new = getattr(before, name), getattr(after, name)
        for column, kind in schema:
            if kind == "binary":
                assert new.names(column).all() == old.names(column).all()
            else:
                assert new.numbers(column).tolist() == old.numbers(column).tolist()
    merged(index_dir, [1, 2])
    assert IndexReader.open(index_dir).manifest.tree == after.manifest.tree


class TestDoubt:
    """A file edited within the tick of its reading has the stat it had."""

    @pytest.fixture
    def young(self, tree, monkeypatch):
        """A file that was racy when it was read, merged with what was scanned long after it."""
        root, index_dir = tree
        answers.write(root, {"young": "needle\n"})
        monkeypatch.setattr(update, "RACY_NS", 60_000_000_000)
        update.update(root, index_dir)
        with open(f"{root}/young", "r+b") as file:
            file.write(b"noodle\n")
        view = IndexReader.open(index_dir).views[-1]
        (number,) = [i for i, path in enumerate(view.names.all()) if path == b"young"]
        os.utime(f"{root}/young", ns=(0, int(view.segment.files.numbers("mtime_ns")[number])))
        rest()
        answers.write(root, {"later": "needle\n"})
        reader = IndexReader.open(index_dir)
        update.commit_changed(root, reader, only_new(reader, [b"later"]))
        return root, index_dir

    def merge(self, root, index_dir):
        """As if the clock had stood still at the edit: the stat that is told is today's."""
        reader = IndexReader.open(index_dir)
        files = reader.views[-2].segment.files
        columns = {name: files.numbers(name).copy() for name, kind in FILES if "int" in kind}
        number = reader.views[-2].names.all().index(b"young")
        columns["ctime_ns"][number] = os.stat(f"{root}/young").st_ctime_ns
        files.numbers = columns.__getitem__
        merge.merge(index_dir, reader, [len(reader.views) - 2, len(reader.views) - 1])
        return IndexReader.open(index_dir).views[-1]

    def test_of_racy_files_the_change_time_is_forgotten_and_the_last_look_counts(self, young):
        view = self.merge(*young)
        assert view.stats[view.names.all().index(b"young"), STAT_CTIME] == 0
        facts = view.segment.facts
        assert facts["scanned_ns"] < facts["files_scanned_ns"] == view.scanned_ns

    def test_an_edit_that_no_stat_shows_is_found_after_the_merge(self, young):
        root, index_dir = young
        self.merge(root, index_dir)
        rest()
        diff = Sweeper(root, IndexReader.open(index_dir)).sweep()
        assert b"young" in diff.scan
        assert update.update(root, index_dir).files_changed >= 1
        assert b"young" in IndexReader.open(index_dir).views[-1].names.all()

    def test_what_is_as_it_was_is_compared_once_and_then_believed(self, tree, monkeypatch):
        root, index_dir = tree
        answers.write(root, {"young": "needle\n"})
        update.update(root, index_dir)
        monkeypatch.setattr(update, "RACY_NS", 60_000_000_000)
        merged(index_dir, [0, 1, 2, 3, 4])
        rest()
        (view,) = IndexReader.open(index_dir).views
        assert not view.stats[:, STAT_CTIME].any()
        assert Sweeper(root, IndexReader.open(index_dir)).sweep().count == 0
        again = IndexReader.open(index_dir)
        retimed.restore(again)
        assert again.views[0].stats[:, STAT_CTIME].all()


def only_new(reader, paths):
    return Changed(
        dead=[np.empty(0, np.int64) for _ in reader.views],
        paths=paths,
        allowlisted=set(),
        tree=None,
        scanned_ns=time.time_ns(),
        removed=0,
    )


def test_change_times_accepted_later_are_carried_over(tree):
    root, index_dir = tree
    os.chmod(f"{root}/s2/f11", 0o600)
    rest()
    assert Sweeper(root, IndexReader.open(index_dir)).sweep().count == 0
    merged(index_dir, [0, 1, 2, 3])
    (view,) = IndexReader.open(index_dir).views
    at = view.names.all().index(b"s2/f11")
    told = int(view.segment.files.numbers("ctime_ns")[at])
    assert told == os.stat(f"{root}/s2/f11").st_ctime_ns


class TestWhatIsDue:
    def of(self, sizes, dead=()):
        return merge.choose(sizes, [i in dead for i in range(len(sizes))])

    MIB = 1 << 20

    def test_nothing_for_one_segment_or_few_small_ones(self):
        assert self.of([100 * self.MIB]) is None
        assert self.of([0, 0]) is None
        assert self.of([100 * self.MIB, 9, 9, 9]) is None

    def test_four_of_a_tier_and_what_is_smaller(self):
        assert self.of([100 * self.MIB, 9, 0, self.MIB - 1, 3]) == [1, 2, 3, 4]
        sizes = [1000 * self.MIB, 5 * self.MIB, 6 * self.MIB, 9, 5 * self.MIB, 5 * self.MIB]
        assert self.of(sizes) == [1, 2, 3, 4, 5]
        sizes = [1000 * self.MIB, 60 * self.MIB, 9, 9, 9, 9]
        assert self.of(sizes) == [2, 3, 4, 5]

    def test_all_when_deltas_hold_more_than_a_quarter(self):
        assert self.of([75, 25]) is None
        assert self.of([74, 26]) == [0, 1]

    def test_a_segment_that_is_mostly_dead_alone_but_the_oldest_with_all(self):
        assert self.of([100, 9, 8], dead={2}) == [2]
        assert self.of([100, 9, 8], dead={0}) == [0, 1, 2]

    def test_the_smallest_when_there_are_too_many(self):
        sizes = [10_000 * self.MIB] + [2 * 4**k * self.MIB for k in range(5) for _ in range(2)]
        assert len(sizes) == 11
        assert self.of(sizes) == [1, 2, 3, 4, 5]

    def test_tiers_grow_by_four(self):
        mib = self.MIB
        edges = [0, mib - 1, mib, 4 * mib - 1, 4 * mib, 16 * mib - 1, 16 * mib, 4**10 * mib]
        assert [merge.tier(edge) for edge in edges] == [0, 0, 1, 1, 2, 2, 3, 11]


def test_a_long_history_of_small_edits_stays_few_segments(tree):
    root, index_dir = tree
    for k in range(12):
        answers.write(root, {"s0/f00": f"needle {'x' * k}\n"})
        update.update(root, index_dir)
        merge.merge_due(index_dir)
        reader = IndexReader.open(index_dir)
        assert merge.due(reader) is None
        assert len(reader.views) <= 4
    assert len(os.listdir(f"{index_dir}/segments")) == len(reader.views)


def test_a_segment_whose_files_are_mostly_dead_is_due(tree):
    root, index_dir = tree
    for k in range(20):
        if os.path.exists(f"{root}/s{k % 3}/f{k:02d}"):
            os.unlink(f"{root}/s{k % 3}/f{k:02d}")
    update.update(root, index_dir)
    reader = IndexReader.open(index_dir)
    assert merge.due(reader) == list(range(len(reader.views)))
    new = merge.merge_due(index_dir)
    assert new.generation == reader.generation + 1
    (view,) = IndexReader.open(index_dir).views
    assert (len(view.alive), len(new.segments)) == (4, 1)


def test_a_merge_that_is_told_to_stop_leaves_the_index_as_it_was(tree):
    _, index_dir = tree
    before, folders = manifest.read(index_dir), sorted(os.listdir(f"{index_dir}/segments"))
    reader = IndexReader.open(index_dir)
    assert merge.merge(index_dir, reader, [0, 1, 2, 3], stop=lambda: True) is None
    assert manifest.read(index_dir) == before
    assert sorted(os.listdir(f"{index_dir}/segments")) == folders


def test_two_writers_and_a_generation_that_has_passed_are_busy(tree):
    _, index_dir = tree
    reader = IndexReader.open(index_dir)
    with lock.writer(index_dir), pytest.raises(errors.Busy):
        merge.merge(index_dir, reader, [0, 1])
    merge.merge(index_dir, reader, [0, 1])
    with pytest.raises(errors.Busy):
        merge.merge(index_dir, reader, [0, 1])


def test_a_damaged_list_is_corrupt_and_nothing_is_written(tree):
    _, index_dir = tree
    before = manifest.read(index_dir)
    folder = f"{index_dir}/segments/{before.segments[0].id}"
    with open(f"{folder}/postings.npy", "r+b") as file:
        file.seek(140)
        byte = file.read(1)
        file.seek(140)
        file.write(bytes([byte[0] ^ 255]))
    with pytest.raises(errors.IndexCorrupt):
        merged(index_dir, [0, 1])
    assert manifest.read(index_dir) == before


def test_searches_are_right_while_merges_come(tree):
    root, index_dir = tree
    indexed, scan = answers.both(root, index_dir)
    wanted = answers.ask(scan, "needle")
    wrong, stop = [], threading.Event()

    def search():
        while not stop.is_set():
            found = answers.ask(indexed, "needle")
            if found != wanted:
                wrong.append(found)

    thread = threading.Thread(target=search)
    thread.start()
    for which in ([1, 2], [0, 2], [0, 1], [0], [0], [0]):
        merged(index_dir, which)
    stop.set()
    thread.join()
    assert wrong == []
