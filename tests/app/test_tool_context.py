"""What the tools of one root share."""

from __future__ import annotations

import os

import pytest

from tests.app.contexts import bare_context, context_on, find, search
from triseek.app import call_record
from triseek.app.registry import TOOLS
from triseek.errors import RepoNotDetected
from triseek.model.call import Call

VERB = {verb.name: verb for verb in TOOLS}


@pytest.fixture
def context(repo):
    return bare_context(os.path.realpath(repo({"a.py": "needle\n"})))


def record(context, tool, asked, envelope, who=None):
    context.record(VERB[tool], asked, envelope, Call(conversation=who))
    return context.sink[-1]


def test_a_search_is_noted_with_what_it_found_and_no_contents(context):
    envelope = search(context, "needle")
    noted = record(context, "search_content", {"query": "needle"}, envelope, "me")

    assert (noted.kind, noted.conversation) == ("search", "me")
    assert noted.payload == {
        "tool": "search_content", "arguments": {"query": "needle"}, "result_paths": ["a.py"],
        "search_id": "search-0001", "cache": "bypass", "files_with_matches": 1,
        "total_line_matches": 1,
    }  # fmt: skip


def test_an_error_is_noted_with_its_code(context):
    noted = record(context, "reindex", {}, {"version": "1", "error": {"code": "BACKEND_FAILURE"}})

    assert (noted.kind, noted.payload["error"]) == ("reindex", "BACKEND_FAILURE")


@pytest.mark.parametrize(
    "value", ["x" * 10**6, ["y" * 10**6], {"deep": "z" * 10**6}, 5, None, True], ids=type
)
def test_long_arguments_are_noted_in_short(context, value):
    noted = record(context, "find_files", {"query": value}, {"results": []})

    assert len(str(noted.payload["arguments"]["query"])) <= call_record.ARGUMENT_MAX


def test_few_of_many_paths_are_noted(context):
    results = [{"path": f"{number}.py"} for number in range(100)]
    noted = record(context, "find_files", {"query": "py"}, {"results": results})

    assert len(noted.payload["result_paths"]) == call_record.PATHS_MAX


def test_of_a_find_it_is_noted_how_many_files_there_are(context):
    noted = record(context, "find_files", {"query": "py"}, find(context, "py"))

    assert noted.payload["files_with_matches"] == 1
    assert "total_line_matches" not in noted.payload  # it is 0, whatever was found


def test_an_answer_that_is_not_repeated_is_noted_with_the_paths_it_had(context):
    known = {"search_id": "search-0007", "results": []}
    record(context, "find_files", {}, {**known, "results": [{"path": "a.py"}]})
    noted = record(context, "find_files", {}, {**known, "results_omitted": True})
    other = record(context, "find_files", {}, {"search_id": "?", "results_omitted": True})

    assert noted.payload["result_paths"] == ["a.py"]
    assert other.payload["result_paths"] == []


def test_a_check_is_noted_with_its_file_and_what_it_came_to(context):
    told = {"path": "a.py", "recommendation": "reread"}
    noted = record(context, "memo_check", {"path": "a.py"}, told)

    assert noted.payload["path"] == os.path.join(context.root, "a.py")
    assert noted.payload["recommendation"] == "reread"


@pytest.mark.parametrize("path", ["a\0b", "x" * 10**6, "../a", 5, None])
def test_whatever_path_is_checked_is_noted_in_short(context, path):
    noted = record(context, "memo_check", {"path": path}, {"error": {"code": "INVALID_QUERY"}})

    assert len(str(noted.payload)) < 2 * call_record.PATH_MAX


def test_an_action_says_whose_it_is(context):
    here = Call(connection="one", who={"harness": "codex", "session": "s"})
    context.session.work_on("mine", "one")
    for call in (here, Call(connection="two")):
        context.record(VERB["index_status"], {}, {"version": "1"}, call)
    one, other = context.sink

    assert (one.session_id, one.payload["harness"]) == ("mine", "codex")
    assert other.session_id == ""
    assert "harness" not in other.payload


def test_an_action_about_a_session_is_that_sessions(context):
    call = Call(connection="one")
    context.session.work_on("mine", "one")
    context.record(VERB["session_status"], {}, {"session": {"session_id": "another"}}, call)
    context.record(VERB["session_snapshot"], {}, {"manifest": {"session_id": "third"}}, call)

    assert [action.session_id for action in context.sink] == ["another", "third"]


@pytest.mark.parametrize("tool", ["session_open", "session_close", "session_resume"])
def test_what_the_daemon_notes_itself_is_not_noted_twice(context, tool):
    context.record(VERB[tool], {}, {"session": {"session_id": "mine"}}, Call())
    assert context.sink == []

    record(context, tool, {}, {"error": {"code": "INVALID_QUERY"}})
    assert len(context.sink) == 1


def test_a_root_may_come_later_and_go_again(tmp_path):
    root = tmp_path / "later"
    context = context_on(str(root))
    with pytest.raises(RepoNotDetected):
        context.host.engine  # noqa: B018
    root.mkdir()
    assert context.host.engine.root == str(root)
    root.rmdir()
    with pytest.raises(RepoNotDetected):
        context.host.engine  # noqa: B018
