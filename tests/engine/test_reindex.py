"""What `triseek update` does beyond the update: merging, and mending what only a merge finds."""

import os
import time

import pytest

from tests.engine import answers
from triseek.engine.reindex import reindex
from triseek.index import merge
from triseek.index.reader import IndexReader
from triseek.model.index import no_progress
from triseek.store import lock
from triseek.store.check import check


@pytest.fixture
def tree(tmp_path, monkeypatch):
    answers.shorten_racy_times(monkeypatch)
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    os.makedirs(f"{root}/.git")
    answers.write(root, {f"f{k}": f"needle {k}\n" * 9 for k in range(20)})
    time.sleep(2 * answers.TICK_S)
    reindex(root, index_dir, "incremental", no_progress)
    return root, index_dir


def edit(root, k):
    answers.write(root, {f"f{k}": f"needle again {k}\n"})
    time.sleep(2 * answers.TICK_S)


def test_an_update_merges_what_is_due_and_reports_the_generation_that_is_current(tree):
    root, index_dir = tree
    segments = []
    for k in range(5):
        edit(root, k)
        report = reindex(root, index_dir, "incremental", no_progress)
        reader = IndexReader.open(index_dir)
        assert (report.generation, report.files_changed) == (reader.generation, 1)
        segments.append(len(reader.views))
    assert segments == [2, 3, 4, 2, 3]
    indexed, scan = answers.both(root, index_dir)
    assert answers.ask(indexed, "needle", sweep=False) == answers.ask(scan, "needle")


def test_a_large_change_is_merged_with_all_in_the_same_call(tree):
    root, index_dir = tree
    answers.write(root, {f"f{k}": f"needle other {k}\n" * 9 for k in range(9)})
    report = reindex(root, index_dir, "incremental", no_progress)
    assert (report.rebuilt_full, report.files_changed, report.generation) == (False, 9, 3)
    assert len(IndexReader.open(index_dir).views) == 1


def test_a_list_that_only_a_merge_finds_damaged_is_mended_by_a_build(tree):
    root, index_dir = tree
    folder = IndexReader.open(index_dir).views[0].segment.folder
    with open(folder / "postings.npy", "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\xff")
    answers.write(root, {f"f{k}": f"needle other {k}\n" * 9 for k in range(9)})
    assert reindex(root, index_dir, "incremental", no_progress).rebuilt_full
    assert check(index_dir, no_progress)
    assert len(IndexReader.open(index_dir).views) == 1


def test_another_writer_behind_the_update_does_not_undo_it(tree, monkeypatch):
    root, index_dir = tree
    due = merge.due

    def taken(reader):
        monkeypatch.setattr(merge, "due", due)
        holder.__enter__()
        return [0, 1]

    holder = lock.writer(index_dir)
    monkeypatch.setattr(merge, "due", taken)
    edit(root, 1)
    report = reindex(root, index_dir, "incremental", no_progress)
    holder.__exit__(None, None, None)
    assert (report.generation, report.files_changed) == (2, 1)
    assert IndexReader.open(index_dir).generation == 2
