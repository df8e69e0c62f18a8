"""A tree that takes longer than an answer may: what is found by then, and how to go on."""

from __future__ import annotations

import os
import time

import pytest

from tests.app.contexts import context_on, find, indexed, lines, paths, search, search_in
from triseek.engine.search.backends import ripgrep, scan
from triseek.errors import Cancelled
from triseek.files.tree import walk
from triseek.model.call import Call
from triseek.model.context_pack import ContextPackRequest
from triseek.search import envelopes, handlers, incomplete
from triseek.search.requests import FindFilesRequest

FOLDERS = 300
PAUSE_S = 0.01
"""For each folder: all of them take three seconds."""
DEADLINE_S = 1.0


@pytest.fixture
def slow(repo, monkeypatch):
    """A context on a tree whose listing takes three times as long as an answer may."""
    files = {f"d{number:03}/deep/needle.py": "needle = 1\n" for number in range(FOLDERS // 2)}
    root = os.path.realpath(repo({**files, "needle.py": "needle = 0\n"}))
    visit = walk._Walker._visit

    def visit_slowly(self, folder):
        time.sleep(PAUSE_S)
        return visit(self, folder)

    monkeypatch.setattr(walk._Walker, "_visit", visit_slowly)
    monkeypatch.setattr(envelopes, "DEADLINE_S", DEADLINE_S)
    monkeypatch.setattr(ripgrep, "find_rg", lambda *_: None)
    return context_on(root)


@pytest.mark.parametrize("query", ["needle", "*.py"])
def test_find_files_lists_what_is_nearest_to_the_root(slow, query):
    answer = find(slow, query)

    assert paths(answer)[0] == "needle.py"
    assert 0 < answer["files_with_matches"] < FOLDERS // 2
    assert incomplete.NARROW in answer["incomplete"]


def test_find_files_does_not_say_that_there_is_none(slow):
    answer = find(slow, "nowhere")

    assert answer["incomplete"]
    assert "next_step" not in answer


def test_a_glob_that_begins_with_a_folder_is_answered(slow):
    answer = find(slow, "d007/**/*.py")

    assert paths(answer) == ["d007/deep/needle.py"]
    assert "incomplete" not in answer


def test_a_search_reads_what_is_nearest_to_the_root(slow):
    answer = search(slow, "needle")

    assert ("needle.py", 1) in lines(answer)
    assert scan.PARTIAL in answer["incomplete"]
    assert incomplete.NARROW in answer["incomplete"]


def test_a_search_of_a_path_is_answered(slow):
    answer = search(slow, "needle", path="d007")

    assert lines(answer) == [("d007/deep/needle.py", 1)]
    assert "incomplete" not in answer


def test_a_search_by_glob_does_not_say_that_there_is_none(slow):
    answer = search_in(slow, "*.py", "nowhere")

    assert answer["incomplete"]
    assert not {"searched", "would_match"} & set(answer)


def pack(context, **call):
    request = ContextPackRequest(goal="what is the needle for")
    return handlers.context_pack(context.contexts["search"], request, Call(**call))


def test_a_pack_is_made_of_what_is_nearest_to_the_root(slow):
    answer = pack(slow)

    assert "needle.py" in [item["path"] for item in answer["items"]]
    assert answer["truncated"]
    assert answer["suggested_next_steps"][0].startswith("This is incomplete")
    assert incomplete.NARROW in answer["suggested_next_steps"][0]


def find_for(context, **call):
    request = FindFilesRequest(query="needle")
    return handlers.find_files(context.contexts["search"], request, Call(**call))


@pytest.mark.parametrize("ask", [pack, find_for])
def test_nobody_who_has_left_is_waited_for(slow, ask):
    until = time.monotonic() + 0.2
    with pytest.raises(Cancelled):
        ask(slow, cancelled=lambda: time.monotonic() > until)


def test_the_ways_to_go_on(repo, monkeypatch):
    root = os.path.realpath(repo({"a.py": ""}))
    assert "call `reindex`" in incomplete.way_on(context_on(root).contexts["search"])
    building = context_on(root, is_building=lambda _: True)
    assert "when the index is built" in incomplete.way_on(building.contexts["search"])
    monkeypatch.setenv("HOME", root)
    assert "start in the repository" in incomplete.way_on(context_on(root).contexts["search"])

    with_index = context_on(indexed(repo, {"a.py": ""})).contexts["search"]
    assert incomplete.way_on(with_index) == incomplete.NARROW
