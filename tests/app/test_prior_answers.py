"""Which questions a resumed session had asked, and what it had found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from triseek.app import call_record
from triseek.app.prior_answers import PriorAnswers
from triseek.app.resume import Hydrated
from triseek.engine.roots import project
from triseek.engine.service import Service
from triseek.engine.tool_host import ToolHost
from triseek.errors import StateUnwritable
from triseek.model.snapshot import SearchRun

ROOT = "/nowhere/repo"


def run(arguments, kind="literal", paths=("a.py", "b.py"), search_id="search-0001"):
    return SearchRun(
        search_id=search_id, query="x", kind=kind, result_paths=list(paths), arguments=arguments,
        matches=2,
    )  # fmt: skip


class Told:
    """What the daemon says of the newest resume."""

    def __init__(self, *searches, root=ROOT):
        self.searches = list(searches)
        self.count = 0
        self.fails = False
        self.serial = 7
        self.repository = project(root)
        host = ToolHost(service=Service(), root=root, newest_resume=lambda _: self.serial)
        self.prior_answers = PriorAnswers(host, self)

    def hydrated(self, root):
        assert root == self.repository
        self.count += 1
        if self.fails:
            raise StateUnwritable("the disk is gone")
        return Hydrated(7, "snap_1", self.searches)

    def prior(self, tool, serial=7, **given):
        self.serial = serial
        return self.prior_answers.prior(tool, given)


def test_nobody_is_asked_where_nothing_was_resumed():
    told = Told(run({"query": "x"}))

    assert told.prior("search_content", serial=0, query="x") is None
    assert told.count == 0


def test_the_same_question_has_its_answer():
    told = Told(run({"query": "x", "type": "py", "force_refresh": True}))
    prior = told.prior("search_content", type="py", query="x")

    assert prior == ("snap_1", "search-0001", ["a.py", "b.py"])
    assert told.prior("search_content", type="py", query="x") == prior
    assert told.count == 1


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("search_content", {"query": "x", "type": "c"}),
        ("search_content", {"query": "x"}),
        ("search_content", {"query": "X", "type": "py"}),
        ("find_files", {"query": "x", "type": "py"}),
        ("search_path_and_content", {"content_query": "x", "path_query": "*.py"}),
    ],
)
def test_another_question_has_none(tool, given):
    told = Told(run({"query": "x", "type": "py"}))

    assert told.prior(tool, **given) is None


@pytest.mark.parametrize(
    ("tool", "kind", "given"),
    [
        ("find_files", "path", {"query": "x"}),
        ("search_content", "regex", {"query": "x", "mode": "regex"}),
        ("search_content", "literal", {"query": "x", "patterns": ("y", "z")}),
        ("search_path_and_content", "literal", {"path_query": "*.c", "content_query": "x"}),
    ],
)
def test_each_tools_questions_are_known_as_they_were_noted(tool, kind, given):
    told = Told(run(call_record.arguments(given), kind))

    assert told.prior(tool, **given) is not None


def test_a_later_resume_is_noticed_and_an_old_one_forgotten():
    told = Told(run({"query": "x"}))
    assert told.prior("search_content", query="x") is not None
    told.searches = [run({"query": "y"})]

    assert told.prior("search_content", serial=8, query="x") is None
    assert told.prior("search_content", serial=8, query="y") is not None
    told.searches = []
    assert told.prior("search_content", serial=0, query="y") is None


def test_a_daemon_that_cannot_be_asked_is_asked_with_the_next_search():
    told = Told(run({"query": "x"}))
    told.fails = True
    assert told.prior("search_content", query="x") is None
    told.fails = False

    assert told.prior("search_content", query="x") is not None


def test_a_question_of_which_not_all_was_noted_is_not_known():
    long = "x" * (call_record.ARGUMENT_MAX + 1)
    told = Told(run(call_record.arguments({"query": long})))

    assert told.prior("search_content", query=long) is None
    assert told.prior("search_content", query=long[:-1]) is None


@pytest.mark.parametrize(
    "strange",
    [
        {"result_paths": ["/", "../../x", "a\0b"]}, {"arguments": {"query": ["x"]}},
        {"arguments": {"content_query": {"a": [1]}}}, {"arguments": {}}, {"kind": "\n"},
    ],
    ids=str,
)  # fmt: skip
def test_a_snapshot_from_elsewhere_may_hold_anything(strange):
    told = Told(replace(run({"query": "y"}), **strange), run({"query": "x"}))

    assert told.prior("search_content", query="x") is not None


def test_paths_count_from_the_folder_that_is_served(tmp_path):
    root = tmp_path / "repo" / "part"
    root.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    told = Told(run({"query": "x"}, paths=["part/a.py", "b.py"]), root=str(root))

    assert told.prior("search_content", query="x").paths == ["a.py", "../b.py"]
