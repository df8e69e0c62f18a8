"""The record of a call has what is needed to go on with the work, and no contents."""

from __future__ import annotations

import pytest

from triseek.app import call_record
from triseek.search.requests import SearchContentRequest


def test_a_record_has_arguments_paths_and_counts():
    envelope = {
        "results": [{"path": "a.py", "matches": ["secret"]}], "search_id": "search-1",
        "cache": "miss", "files_with_matches": 1, "total_line_matches": 2, "strategy": "x",
    }  # fmt: skip
    record = call_record.payload("/r", "search_content", {"query": "q"}, envelope, {})

    assert record == {
        "tool": "search_content", "arguments": {"query": "q"}, "result_paths": ["a.py"],
        "search_id": "search-1", "cache": "miss", "files_with_matches": 1, "total_line_matches": 2,
    }  # fmt: skip


def test_items_of_a_pack_are_results():
    envelope = {"items": [{"path": f"{number}.py"} for number in range(30)]}
    record = call_record.payload("/r", "context_pack", {}, envelope, {"harness": "codex"})

    assert record["result_paths"] == [f"{number}.py" for number in range(call_record.PATHS_MAX)]
    assert record["harness"] == "codex"


def test_results_that_are_no_files_have_no_paths():
    envelope = {"results": [{"session": "s1", "excerpt": "secret"}, {"path": "a.py"}]}
    record = call_record.payload("/r", "memory_search", {"query": "q"}, envelope, {})

    assert record["result_paths"] == ["a.py"]
    assert "secret" not in str(record)


def test_a_failed_call_is_recorded_with_its_code():
    envelope = {"error": {"code": "INVALID_QUERY", "message": "secret"}}
    record = call_record.payload("/r", "memo_check", {"path": "a.py"}, envelope, {})

    assert record["error"] == "INVALID_QUERY"
    assert record["path"] == "/r/a.py"
    assert "secret" not in str(record)


@pytest.mark.parametrize("value", [True, 3, 1.5, None, "short"])
def test_short_arguments_are_recorded_as_they_are(value):
    assert call_record.arguments({"a": value}) == {"a": value}


@pytest.mark.parametrize("value", ["x" * 1_000, ["x" * 1_000], {"a": ["x"] * 1_000}])
def test_long_arguments_are_cut(value):
    assert len(call_record.arguments({"a": value})["a"]) == call_record.ARGUMENT_MAX


def test_defaults_are_not_explicit_arguments():
    request = SearchContentRequest(query="q", limit=7)

    assert call_record.explicit_arguments(request) == {"query": "q", "limit": 7}


@pytest.mark.parametrize(
    ("envelope", "session"),
    [
        ({"session": {"session_id": "a"}}, "a"),
        ({"manifest": {"session_id": "b"}}, "b"),
        ({"session": "c"}, ""),
        ({"session": {}, "manifest": {"session_id": "d"}}, "d"),
        ({}, ""),
    ],
)
def test_an_answer_is_about_the_session_that_it_names(envelope, session):
    assert call_record.session_of(envelope) == session


def test_the_daemon_records_the_calls_that_change_sessions():
    assert call_record.is_noted_elsewhere("session_open", {})
    assert not call_record.is_noted_elsewhere("session_open", {"error": {}})
    assert not call_record.is_noted_elsewhere("session_status", {})


def test_a_secret_is_removed_before_an_argument_is_cut():
    key = "ghp_" + "Az9" * 12
    text = "x" * (call_record.ARGUMENT_MAX - 10) + " " + key

    recorded = call_record.arguments({"a": text, "b": [text], "api_key": "q1w2e3r4t5"})

    assert "ghp_" not in str(recorded)
    assert recorded["api_key"] == "[redacted: value]"


def test_results_without_a_path_are_left_out():
    envelope = {"items": [{"kind": "prompt", "id": 7}, {"path": "a.py"}]}

    assert call_record.payload("/r", "timeline", {}, envelope, {})["result_paths"] == ["a.py"]
