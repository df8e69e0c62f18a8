"""Tools are called in this process or by the daemon, with the same answers."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import threading

import pytest

from tests.app.contexts import bare_context
from tests.cli.serving import pretending
from triseek.app import dispatch
from triseek.app.dispatch import VERB, Local, LocalSearches, Remote, digest
from triseek.app.registry import TOOLS
from triseek.daemon.server import Declined, Handlers, Server
from triseek.daemon.tool_calls import ToolCalls
from triseek.ipc import address, lock, wire
from triseek.model.call import Call

TOOL = {tool.name: tool for tool in TOOLS}
SEARCH = TOOL["search_content"]


@pytest.fixture
def local(home, repo):
    return Local(bare_context(os.path.realpath(repo({"a.py": "needle\n"}))))


@pytest.fixture
def remote(local):
    """The calls of a front; `begun` counts how often it began to work alone."""
    front = Remote(local, lambda: front.begun.append(1))
    front.begun = []
    return front


@contextlib.contextmanager
def daemon(contexts):
    """The daemon's server with the verb `tool`; `contexts` keeps the tool contexts it makes."""

    def context(root, _environ):
        contexts.append(bare_context(root))
        return contexts[-1]

    lock.ensure_folder()
    listener, _, token = address.listen()
    handlers = Handlers(lambda *_: Declined("no"), calls={VERB: ToolCalls(context)})
    server = Server(listener, handlers, token=token)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield
    finally:
        server.stop("the test is over")
        thread.join()
        address.remove_socket()


def paths(answered):
    return [result["path"] for result in answered.envelope["results"]]


def test_a_call_is_answered_and_recorded(local):
    answered = local(SEARCH, {"pattern": "needle"}, Call())

    assert (paths(answered), answered.error) == (["a.py"], None)
    assert answered.arguments["query"] == "needle"
    [action] = local.context.sink
    assert action.payload["arguments"] == {"query": "needle"}


def test_a_call_that_is_nobodys_work_is_not_recorded(local):
    local(SEARCH, {"query": "needle"}, Call(is_recorded=False))

    assert local.context.sink == []


def test_bad_arguments_are_an_answer(local):
    answered = local(SEARCH, {"nonsense": 1}, Call())

    assert answered.arguments == {"nonsense": 1}
    assert answered.envelope["error"]["code"] == answered.error.code == "INVALID_QUERY"
    assert "nonsense" in digest(SEARCH, answered.arguments, answered.envelope)


def test_a_bug_is_an_answer(local, caplog):
    def broken(*_):
        raise ZeroDivisionError

    answered = local(dataclasses.replace(SEARCH, answer=broken), {"query": "x"}, Call())

    assert answered.envelope["error"]["message"] == "internal error: ZeroDivisionError"
    assert "search_content failed" in caplog.text


def test_without_a_daemon_a_front_calls_the_tools_itself(remote, local):
    for _ in range(2):
        assert paths(remote(SEARCH, {"query": "needle"}, Call())) == ["a.py"]

    assert remote.begun == [1]
    assert len(local.context.sink) == 2


def test_a_running_daemon_calls_the_tools(remote, local):
    contexts = []
    with daemon(contexts):
        answered = remote(SEARCH, {"query": "needle"}, Call())
        failed = remote(SEARCH, {"query": "(", "mode": "regex"}, Call())

    assert paths(answered) == ["a.py"]
    assert failed.envelope["error"]["code"] == failed.error.code == "INVALID_QUERY"
    assert (remote.begun, local.context.sink) == ([], [])
    assert len(contexts[0].sink) == 2


def test_the_next_daemon_continues_the_session_of_a_connection(remote):
    contexts, call = [], Call(connection="one")
    with daemon(contexts):
        remote(SEARCH, {"query": "needle"}, call)
        contexts[0].session.work_on("mine", "one")
        remote(SEARCH, {"query": "needle"}, call)
    with daemon(contexts):
        remote(SEARCH, {"query": "needle"}, call)

    assert contexts[1].session.current("one") == "mine"


def test_a_call_that_a_daemon_has_lost_is_repeated_only_if_it_changes_nothing(remote):
    def leave(sock):
        wire.receive(sock, wire.REQUEST_LIMIT)
        sock.close()

    with pretending(leave):
        assert paths(remote(SEARCH, {"query": "needle"}, Call())) == ["a.py"]
        answered = remote(TOOL["session_open"], {"goal": "g"}, Call())

    assert "it may have been done or not" in answered.envelope["error"]["message"]


@pytest.fixture
def ensured(monkeypatch):
    """How often a daemon was to be started; it then runs, as far as `ensure` says."""
    times = []
    monkeypatch.setattr(dispatch.spawn, "ensure", lambda seconds: times.append(seconds) or True)
    return times


def test_a_tool_that_needs_the_daemon_has_one_started(remote, local, ensured):
    answered = remote(TOOL["session_open"], {"goal": "g"}, Call())

    assert "is not running" in answered.envelope["error"]["message"]
    assert len(ensured) == dispatch.ASKED_MAX - 1
    assert paths(LocalSearches(local, remote)(SEARCH, {"query": "needle"}, Call())) == ["a.py"]
    assert len(ensured) == dispatch.ASKED_MAX - 1


def test_a_call_that_daemons_were_lost_with_is_said_to_be_lost(remote, ensured):
    def leave(sock):
        wire.receive(sock, wire.REQUEST_LIMIT)
        sock.close()

    with pretending(leave):
        answered = remote(TOOL["session_status"], {}, Call())

    message = answered.envelope["error"]["message"]
    assert "3 daemons, one after the other, were lost during the call" in message
    assert "is not running" not in message


def test_beside_searches_in_this_process_the_daemon_answers_for_what_it_keeps(
    remote, local, ensured
):
    contexts, call = [], Call(connection="one")
    local.context.session.work_on("mine", "one")
    with daemon(contexts):
        LocalSearches(local, remote)(TOOL["session_status"], {}, call)
        LocalSearches(local, remote)(SEARCH, {"query": "needle"}, call)

    assert contexts[0].session.current("one") == "mine"
    assert [action.kind for action in local.context.sink] == ["search"]


def test_a_reply_that_is_no_answer_is_a_failure(remote):
    def reply(sock):
        wire.receive(sock, wire.REQUEST_LIMIT)
        wire.send(sock, b'{"ok": true, "result": {}}')

    with pretending(reply):
        answered = remote(SEARCH, {"query": "needle"}, Call())

    assert answered.error.code == "BACKEND_FAILURE"
    assert "invalid reply of the daemon" in str(answered.error)
