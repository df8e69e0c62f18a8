"""What the tools of one root share."""

from __future__ import annotations

import os

import pytest

from tests.service.desks import bare_desk, desk_on, find, indexed, search
from triseek.errors import RepoNotDetected
from triseek.service import desk as module
from triseek.service import telling
from triseek.service.desk import CONNECTIONS_MAX, SNAPSHOTS_MAX, Call, Cancelled, patience
from triseek.service.tools import TOOLS

VERB = {verb.name: verb for verb in TOOLS}


@pytest.fixture
def desk(repo):
    return bare_desk(os.path.realpath(repo({"a.py": "needle\n"})))


def record(desk, tool, asked, envelope, who=None):
    desk.record(VERB[tool], asked, envelope, Call(conversation=who))
    return list(desk.sink)[-1]


def test_a_search_is_noted_with_what_it_found_and_no_contents(desk):
    envelope = search(desk, "needle")
    noted = record(desk, "search_content", {"query": "needle"}, envelope, "me")

    assert (noted.kind, noted.conversation) == ("search", "me")
    assert noted.payload == {
        "tool": "search_content", "arguments": {"query": "needle"}, "result_paths": ["a.py"],
        "search_id": "search-0001", "cache": "bypass", "files_with_matches": 1,
        "total_line_matches": 1,
    }  # fmt: skip


def test_an_error_is_noted_with_its_code(desk):
    noted = record(desk, "reindex", {}, {"version": "1", "error": {"code": "BACKEND_FAILURE"}})

    assert (noted.kind, noted.payload["error"]) == ("reindex", "BACKEND_FAILURE")


@pytest.mark.parametrize(
    "value", ["x" * 10**6, ["y" * 10**6], {"deep": "z" * 10**6}, 5, None, True], ids=type
)
def test_long_arguments_are_noted_in_short(desk, value):
    noted = record(desk, "find_files", {"query": value}, {"results": []})

    assert len(str(noted.payload["arguments"]["query"])) <= telling.ARGUMENT_MAX


def test_few_of_many_paths_are_noted(desk):
    results = [{"path": f"{number}.py"} for number in range(100)]
    noted = record(desk, "find_files", {"query": "py"}, {"results": results})

    assert len(noted.payload["result_paths"]) == telling.PATHS_MAX


def test_of_a_find_it_is_noted_how_many_files_there_are(desk):
    noted = record(desk, "find_files", {"query": "py"}, find(desk, "py"))

    assert noted.payload["files_with_matches"] == 1
    assert "total_line_matches" not in noted.payload  # it is 0, whatever was found


def test_an_answer_that_is_not_repeated_is_noted_with_the_paths_it_had(desk):
    known = {"search_id": "search-0007", "results": []}
    record(desk, "find_files", {}, {**known, "results": [{"path": "a.py"}]})
    noted = record(desk, "find_files", {}, {**known, "results_omitted": True})
    other = record(desk, "find_files", {}, {"search_id": "?", "results_omitted": True})

    assert noted.payload["result_paths"] == ["a.py"]
    assert other.payload["result_paths"] == []


def test_a_check_is_noted_with_its_file_and_what_it_came_to(desk):
    told = {"path": "a.py", "recommendation": "reread"}
    noted = record(desk, "memo_check", {"path": "a.py"}, told)

    assert noted.payload["path"] == os.path.join(desk.root, "a.py")
    assert noted.payload["recommendation"] == "reread"


@pytest.mark.parametrize("path", ["a\0b", "x" * 10**6, "../a", 5, None])
def test_whatever_path_is_checked_is_noted_in_short(desk, path):
    noted = record(desk, "memo_check", {"path": path}, {"error": {"code": "INVALID_QUERY"}})

    assert len(str(noted.payload)) < 2 * telling.PATH_MAX


def test_an_action_says_whose_it_is(desk):
    here = Call(connection="one", who={"harness": "codex", "session": "s"})
    desk.work_on("mine", here)
    for call in (here, Call(connection="two")):
        desk.record(VERB["index_status"], {}, {"version": "1"}, call)
    one, other = list(desk.sink)

    assert (one.session_id, one.payload["harness"]) == ("mine", "codex")
    assert other.session_id == ""
    assert "harness" not in other.payload


def test_an_action_about_a_session_is_that_sessions(desk):
    call = Call(connection="one")
    desk.work_on("mine", call)
    desk.record(VERB["session_status"], {}, {"session": {"session_id": "another"}}, call)
    desk.record(VERB["session_snapshot"], {}, {"manifest": {"session_id": "third"}}, call)

    assert [action.session_id for action in desk.sink] == ["another", "third"]


@pytest.mark.parametrize("tool", ["session_open", "session_close", "session_resume"])
def test_what_the_daemon_notes_itself_is_not_noted_twice(desk, tool):
    desk.record(VERB[tool], {}, {"session": {"session_id": "mine"}}, Call())
    assert list(desk.sink) == []

    record(desk, tool, {}, {"error": {"code": "INVALID_QUERY"}})
    assert len(desk.sink) == 1


def test_current_sessions_are_not_kept_for_ever(desk):
    for number in range(CONNECTIONS_MAX + 5):
        desk.work_on(f"s{number}", Call(connection=str(number)))

    assert desk.session(Call(connection="0")) == ""
    assert desk.session(Call(connection="6")) == "s6"


def test_later_pages_are_ordered_by_the_scores_of_the_first(repo, monkeypatch):
    desk = desk_on(indexed(repo, {"a.py": "", "b.py": "", "c.py": ""}))
    scores = iter([{b"c.py": 1.0}, {b"a.py": 9.0}])
    monkeypatch.setattr(type(desk.engine), "scores", lambda _: next(scores))

    first = find(desk, "py", limit=1)
    second = find(desk, "py", limit=1, offset=1)
    again = find(desk, "py", limit=1)

    assert [page["results"][0]["path"] for page in (first, second, again)] == [
        "c.py", "a.py", "a.py"
    ]  # fmt: skip


def test_snapshots_of_scores_are_not_kept_for_ever(desk):
    for number in range(SNAPSHOTS_MAX * 2):
        desk.scores(number, 0)

    assert len(desk._snapshots) == SNAPSHOTS_MAX


def test_patience_ends_with_the_time_or_with_whoever_waits(monkeypatch):
    assert patience(Call())() is False
    monkeypatch.setattr(module, "DEADLINE_S", -1.0)
    assert patience(Call())() is True
    with pytest.raises(Cancelled):
        patience(Call(cancelled=lambda: True))()


def test_a_root_may_come_later_and_go_again(tmp_path):
    root = tmp_path / "later"
    desk = desk_on(str(root))
    with pytest.raises(RepoNotDetected):
        desk.engine  # noqa: B018
    root.mkdir()
    assert desk.engine.root == str(root)
    root.rmdir()
    with pytest.raises(RepoNotDetected):
        desk.engine  # noqa: B018
