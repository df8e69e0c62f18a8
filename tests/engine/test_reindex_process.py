"""Indexing in a process of its own: what it says, and what it leaves behind."""

from __future__ import annotations

import os

import pytest

from tests.app.contexts import indexed
from triseek import errors
from triseek.engine import reindex_process
from triseek.engine.roots import index_dir
from triseek.store import manifest


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
    back = errors.named(kind.code, "what", next_step="do")

    assert (type(back), str(back), back.next_step) == (kind, "what", "do")


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
