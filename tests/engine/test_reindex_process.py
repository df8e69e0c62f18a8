"""Indexing in a process of its own: what it says, and what it leaves behind."""

from __future__ import annotations

import os
import time

import pytest

from tests.app.contexts import indexed
from tests.engine import answers
from triseek import errors
from triseek.engine import reindex_process
from triseek.engine.reindex_process import write_index
from triseek.engine.roots import index_dir
from triseek.index import merge
from triseek.index.reader import IndexReader
from triseek.model.index import no_progress
from triseek.store import lock, manifest
from triseek.store.check import check


def test_the_report_is_of_the_generation_that_was_made(repo):
    root = indexed(repo, {"a.txt": "x\n"})
    report = reindex_process.reindex(root, "full")

    assert (report.rebuilt_full, report.files_indexed) == (True, 1)
    assert report.generation == manifest.read(index_dir(root)).generation


def test_steps_are_told_in_order(repo):
    root, steps = indexed(repo, {"a.txt": "x\n"}), []
    reindex_process.reindex(root, "full", lambda stage, done, total: steps.append(stage))

    assert steps == sorted(steps, key=list(dict.fromkeys(steps)).index)
    assert len(set(steps)) > 1


def test_an_error_there_is_the_same_error_here(tmp_path):
    with pytest.raises(errors.RepoNotDetected) as error:
        reindex_process.reindex(str(tmp_path / "gone"), "incremental")

    assert "gone" in str(error.value)
    assert error.value.next_step


KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type)]


@pytest.mark.parametrize("kind", KINDS[1:], ids=lambda kind: kind.__name__)
def test_every_error_comes_back_as_itself(kind):
    back = errors.named(kind.code, "what", next_step="do", tool_step="call")

    assert (type(back), str(back)) == (kind, "what")
    assert (back.next_step, back.tool_step) == ("do", "call")


def test_a_process_that_ends_without_a_word_is_an_error(repo, monkeypatch):
    root = indexed(repo, {"a.txt": "x\n"})
    monkeypatch.setattr(reindex_process.sys, "executable", "/bin/false")

    with pytest.raises(errors.BackendFailure, match="ended with"):
        reindex_process.reindex(root, "full")


def test_a_state_folder_that_cannot_be_written_is_told(repo, home, monkeypatch):
    root = os.path.realpath(repo({"a.txt": "x\n"}))
    (home / "file").write_text("")
    monkeypatch.setenv("TRISEEK_HOME", str(home / "file"))

    with pytest.raises(errors.StateUnwritable):
        reindex_process.reindex(root, "full")


@pytest.fixture
def tree(tmp_path, monkeypatch):
    answers.shorten_racy_times(monkeypatch)
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    os.makedirs(f"{root}/.git")
    answers.write(root, {f"f{k}": f"needle {k}\n" * 9 for k in range(20)})
    time.sleep(2 * answers.TICK_S)
    write_index(root, index_dir, "incremental", no_progress)
    return root, index_dir


def edit(root, k):
    answers.write(root, {f"f{k}": f"needle again {k}\n"})
    time.sleep(2 * answers.TICK_S)


def test_an_update_merges_what_is_due_and_reports_the_generation_that_is_current(tree):
    root, index_dir = tree
    segments = []
    for k in range(5):
        edit(root, k)
        report = write_index(root, index_dir, "incremental", no_progress)
        reader = IndexReader.open(index_dir)
        assert (report.generation, report.files_changed) == (reader.generation, 1)
        segments.append(len(reader.views))
    assert segments == [2, 3, 4, 2, 3]
    indexed, scan = answers.both(root, index_dir)
    assert answers.ask(indexed, "needle", sweep=False) == answers.ask(scan, "needle")


def test_a_large_change_is_merged_with_all_in_the_same_call(tree):
    root, index_dir = tree
    answers.write(root, {f"f{k}": f"needle other {k}\n" * 9 for k in range(9)})
    report = write_index(root, index_dir, "incremental", no_progress)
    assert (report.rebuilt_full, report.files_changed, report.generation) == (False, 9, 3)
    assert len(IndexReader.open(index_dir).views) == 1


def test_a_list_that_only_a_merge_finds_damaged_is_mended_by_a_build(tree):
    root, index_dir = tree
    folder = IndexReader.open(index_dir).views[0].segment.folder
    with open(folder / "postings.npy", "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\xff")
    answers.write(root, {f"f{k}": f"needle other {k}\n" * 9 for k in range(9)})
    assert write_index(root, index_dir, "incremental", no_progress).rebuilt_full
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
    report = write_index(root, index_dir, "incremental", no_progress)
    holder.__exit__(None, None, None)
    assert (report.generation, report.files_changed) == (2, 1)
    assert IndexReader.open(index_dir).generation == 2
