"""The verb by which fronts have the daemon call a tool."""

from __future__ import annotations

import json
import os
import socket

import pytest

from tests.app.contexts import bare_context
from triseek.daemon.streams import Streams
from triseek.daemon.tool_calls import ToolCalls
from triseek.errors import DaemonUnreachable, InvalidRequest
from triseek.ipc import surroundings


@pytest.fixture
def streams():
    ours, client = socket.socketpair()
    with ours, client:
        yield Streams(ours)


@pytest.fixture
def contexts():
    """The tool contexts that were made, by their roots."""
    return {}


@pytest.fixture
def environments():
    """The environments in which they were made."""
    return []


@pytest.fixture
def call(home, repo, streams, contexts, environments):
    """Call a tool on a tree with one file; parameters may be replaced."""
    root = os.path.realpath(repo({"a.py": "needle\n"}))

    def context(folder, environ):
        contexts[folder] = bare_context(folder)
        environments.append(environ)
        return contexts[folder]

    calls = ToolCalls(context)

    def call(tool, given=None, /, **replaced):
        params = {
            **json.loads("{" + surroundings.place() + "}"),
            "front": "1", "root": root, "tool": tool, "arguments": given or {},
            "conversation": None, "connection": "stdio", "who": {}, "session": "", "record": True,
            **replaced,
        }  # fmt: skip
        return calls(params, streams)

    return call


def test_a_call_is_answered_with_the_arguments_as_they_were_understood(call):
    reply = call("search_content", {"pattern": "needle"})

    assert reply["arguments"]["query"] == "needle"
    assert [result["path"] for result in reply["envelope"]["results"]] == ["a.py"]
    assert reply["error"] is None


def test_an_error_is_reported_as_every_verb_reports_it(call):
    reply = call("search_content", {"query": "(", "mode": "regex"})

    assert reply["envelope"]["error"]["code"] == "INVALID_QUERY"
    assert reply["error"]["code"] == "INVALID_QUERY"
    assert set(reply["error"]) == {"code", "message", "retryable", "next_step", "tool_step"}


def test_the_calls_of_a_front_share_a_context(call, contexts):
    call("search_content", {"query": "needle"})
    [context] = contexts.values()
    call("search_content", {"query": "other"})
    call("search_content", {"query": "other"}, front="2")

    assert len(context.sink) == 2


def test_what_is_nobodys_work_is_not_recorded(call, contexts):
    call("search_content", {"query": "needle"}, record=False)

    [context] = contexts.values()
    assert context.sink == []


def test_the_session_of_a_connection_is_continued(call):
    assert call("index_status")["session"] == ""
    assert call("index_status", session="mine")["session"] == "mine"
    assert call("index_status", session="later")["session"] == "mine"
    assert call("index_status", connection="other")["session"] == ""


def test_an_unknown_tool_is_refused(call):
    with pytest.raises(InvalidRequest, match="there is no tool 'grep'"):
        call("grep")


@pytest.mark.parametrize(
    "replaced",
    [{"arguments": []}, {"who": {"agent": 1}}, {"who": None}, {"root": 1}, {"record": "yes"},
     {"cwd": "relative"}, {"connection": "\0"}],
    ids=str,
)  # fmt: skip
def test_malformed_parameters_are_refused(call, replaced):
    with pytest.raises(InvalidRequest, match="malformed"):
        call("index_status", **replaced)


def test_a_front_elsewhere_calls_its_tools_itself(call):
    with pytest.raises(DaemonUnreachable, match="other files"):
        call("index_status", space="mnt:[1]")
    with pytest.raises(DaemonUnreachable, match="other files"):
        call("index_status", environ={"HOME": "/other"})


def test_other_ignore_rules_keep_no_front_from_its_memo_and_sessions(call):
    reply = call("session_list", environ={"HOME": "/other"})
    assert "session tools require" in reply["envelope"]["error"]["message"]  # none are served here


def test_any_conversation_is_accepted(call):
    for conversation in (None, "context/one", "\0", 7):
        reply = call("search_content", {"query": "needle"}, conversation=conversation)
        assert reply["envelope"]["version"] == "1"


def test_workflows_go_by_the_variables_of_the_front(call, environments, monkeypatch):
    monkeypatch.setenv("ZOEKT_API_URL", "http://of-the-daemon")
    monkeypatch.setenv("OTHER", "of-the-daemon")
    ours = json.loads("{" + surroundings.place() + "}")["environ"]
    for variables in ({}, {"ZOEKT_API_URL": "http://of-the-front", "OTHER": "x"}, {}):
        call("index_status", environ={**ours, **variables})

    assert [environ.get("ZOEKT_API_URL") for environ in environments] == [
        None, "http://of-the-front",
    ]  # fmt: skip
    assert {environ["OTHER"] for environ in environments} == {"of-the-daemon"}
