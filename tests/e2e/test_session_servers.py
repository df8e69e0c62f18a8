"""Sessions and the servers of agents: what is called is noted, whoever calls and whatever ends."""

from __future__ import annotations

import json
import re
import threading
import time
from contextlib import ExitStack

import pytest

from tests.conftest import plant
from tests.e2e.agents import agent
from tests.e2e.hooking import Hooks
from tests.e2e.serving import daemon, environ, ready, triseek, until
from tests.mcp.speaking import SERVE, call
from tests.mcp.test_http import serving

pytestmark = pytest.mark.long

TREE = {"src/a.py": "needle = 1\n", "src/b.py": "use(needle)\n", "docs/c.md": "a needle\n"}


def planted(folder, home):
    """A repository with an index."""
    root = (folder / "repo").resolve()
    (root / ".git").mkdir(parents=True)
    plant(root, TREE)
    triseek(home, "build", str(root))
    return root


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("session-home")


@pytest.fixture(scope="module")
def root(tmp_path_factory, home):
    return planted(tmp_path_factory.mktemp("session-tree"), home)


@pytest.fixture(scope="module")
def servers(home, root):
    """Two agents' servers on one root, whose daemon follows it."""
    with ExitStack() as stack:
        stack.enter_context(daemon(home))
        servers = [
            stack.enter_context(agent(root, client=client, **environ(home)))
            for client in ("claude-code", "codex-mcp-client")
        ]
        for server in servers:
            ready(server)
        yield servers


@pytest.fixture
def two(servers):
    """The servers; no session is open before and after."""
    yield servers
    for server in servers:
        server.call("session_close", status="abandoned")
    for session in servers[0].call("session_list", status="open")["sessions"]:
        servers[0].call("session_close", session_id=session["session_id"], status="abandoned")


@pytest.fixture
def name(request):
    """A session of the test's own."""
    return re.sub(r"\W+", "-", request.node.name)[:100]


def entries(home, session_id):
    text = (home / "daemon" / "sessions" / session_id / "action_log.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def asked(found, kind="search"):
    return [one["payload"]["arguments"]["query"] for one in found if one["kind"] == kind]


def lose_no_entry(two, home, name, count):
    for server in two:
        server.call("session_open", session_id=name)

    def work(number):
        for turn in range(count):
            two[number].call("find_files", query=f"{number}-{turn}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sizes = [server.call("session_status")["action_log_size"] for server in two]

    found = entries(home, name)
    assert sizes[0] >= 2 + count  # its own calls, before it asked
    assert sizes[1] == 2 + 2 * count + 1
    for number in range(2):
        assert [name for name in asked(found) if name.startswith(f"{number}-")] == [
            f"{number}-{turn}" for turn in range(count)
        ]
    ids = [one["entry_id"] for one in found]
    assert ids == sorted(set(ids))
    harnesses = {one["payload"]["arguments"]["query"][0]: one["payload"]["harness"]
                 for one in found if one["kind"] == "search"}  # fmt: skip
    assert harnesses == {"0": "claude_code", "1": "codex"}


def test_two_servers_on_one_session_lose_no_entry(two, home, name):
    lose_no_entry(two, home, name, 60)


@pytest.mark.slow
def test_two_servers_on_one_session_lose_none_of_many(two, home, name):
    lose_no_entry(two, home, name, 500)


def test_sessions_are_listed_by_when_they_were_used_last(two, name):
    first, second, third = (f"{name}-{number}" for number in range(3))
    for session in (first, second, third):
        two[0].call("session_open", session_id=session)
        time.sleep(1.1)  # their times are whole seconds
    two[0].call("session_close", session_id=second, status="abandoned")
    before = listed(two[1], name)
    time.sleep(1.1)
    two[1].call("session_open", session_id=first)

    assert before == [second, third, first]
    assert listed(two[1], name) == [first, second, third]
    assert listed(two[1], name, status="open") == [first, third]
    assert listed(two[1], name, status="abandoned") == [second]


def listed(server, name, **asked):
    """Those of a test's sessions that a server lists."""
    found = server.call("session_list", **asked)["sessions"]
    return [one["session_id"] for one in found if one["session_id"].startswith(name)]


def test_a_server_keeps_to_its_own_session(two, home):
    two[0].call("session_open", session_id="zero")
    two[1].call("session_open", session_id="one")
    for turn in range(3):
        for number, server in enumerate(two):
            server.call("find_files", query=f"{number}-{turn}")
    statuses = [server.call("session_status")["session"]["session_id"] for server in two]

    assert statuses == ["zero", "one"]
    assert asked(entries(home, "zero")) == ["0-0", "0-1", "0-2"]
    assert asked(entries(home, "one")) == ["1-0", "1-1", "1-2"]


def open_for_all(home, root, name):
    """Open a session from the command line: all conversations of the repository share it."""
    triseek(home, "session", "open", "a goal", "--session", name, "--repo", str(root))


def test_who_has_opened_none_works_in_the_one_that_a_person_opened(two, home, root, name):
    open_for_all(home, root, name)
    two[1].call("find_files", query="mine too")
    told = two[1].call("session_status")

    assert told["session"]["session_id"] == name
    assert asked(entries(home, name)) == ["mine too"]


def test_who_has_opened_none_does_not_work_in_that_of_another_agent(two, home, name):
    two[0].call("session_open", session_id=name)
    two[1].call("find_files", query="not there")
    two[0].call("session_status")

    assert asked(entries(home, name)) == []


def test_closing_clears_the_current_session(two):
    two[0].call("session_open", session_id="zero")
    two[1].call("session_open", session_id="one")
    two[0].call("session_close", status="resolved")
    after = two[0].call("session_status")
    two[1].call("session_close", status="resolved")
    none = two[0].call("session_status")

    assert after["session"]["session_id"] == "one"
    assert none["error"]["code"] == "INVALID_QUERY"
    assert "no session is open" in none["error"]["message"]


def test_what_a_tool_was_called_for_is_noted_once(two, home, root, name):
    server = two[0]
    server.call("session_open", session_id=name)
    server.call("search_content", pattern="needle", type="py")
    server.call("search_content", query="needle", type="py")
    server.call("search_content", query="(", mode="regex")
    server.call("memo_check", path=str(root / "src/a.py"))
    server.call("context_pack", goal="find it")
    server.call("session_status")
    server.call("session_close", status="resolved")

    kinds = [one["kind"] for one in entries(home, name)]
    found = [one["payload"] for one in entries(home, name)]
    assert kinds == [
        "session_open", "search", "search", "search", "memo_check", "context_pack",
        "session_status", "session_close",
    ]  # fmt: skip
    assert found[1]["arguments"] == found[2]["arguments"] == {"query": "needle", "type": "py"}
    assert found[1]["result_paths"] == ["src/a.py", "src/b.py"]
    assert (found[1]["files_with_matches"], found[1]["total_line_matches"]) == (2, 2)
    assert found[3]["error"] == "INVALID_QUERY"
    assert found[4]["path"] == "src/a.py"
    assert found[5]["arguments"] == {"goal": "find it"}


def test_an_answer_that_is_not_repeated_is_noted_with_its_paths(two, home, name):
    server = two[0]
    server.call("session_open", session_id=name)
    first = server.call("search_content", query="needle")
    again = server.call("search_content", query="needle")
    server.call("session_status")

    one, other = [entry["payload"] for entry in entries(home, name) if entry["kind"] == "search"]
    assert again["results_omitted"]
    assert one["result_paths"] == other["result_paths"] == [x["path"] for x in first["results"]]
    assert (one["cache"], other["cache"]) == ("miss", "hit")


def test_clients_of_one_server_by_http_each_have_their_own(two, home, root, name):
    names = [f"{name}-{number}" for number in range(2)]
    with serving(*SERVE, str(root), **environ(home)) as served:
        clients = [served.session() for _ in names]
        for client, session in zip(clients, names, strict=True):
            told = served.request(call(1, "session_open", session_id=session), client).message
            assert told["result"]["structuredContent"]["session"]["session_id"] == session
        for number, client in enumerate(clients):
            served.request(call(2, "find_files", query=str(number)), client)
        current = [served.request(call(3, "session_status"), client).message for client in clients]

    assert [one["result"]["structuredContent"]["session"]["session_id"] for one in current] == names
    assert [asked(entries(home, session)) for session in names] == [["0"], ["1"]]


def test_a_server_that_ends_has_told_everything(two, home, root, name):
    open_for_all(home, root, name)
    with agent(root, **environ(home)) as server:
        for turn in range(100):
            server.call("index_status" if turn % 2 else "memo_check", **PATH[turn % 2])
    kinds = [one["kind"] for one in entries(home, name)]

    assert kinds == ["session_open", *["memo_check", "index_status"] * 50]


PATH = ({"path": "src/a.py"}, {})


def test_what_happens_while_the_daemon_is_started_anew_is_noted_later(tmp_path):
    home, root = tmp_path, planted(tmp_path, tmp_path)
    with daemon(home), agent(root, **environ(home)) as server:
        server.call("session_open", session_id="mine")
        server.call("find_files", query="before")
        triseek(home, "daemon", "stop")
        server.call("find_files", query="meanwhile")
        down = server.call("session_status")
        triseek(home, "daemon", "start")
        server.call("find_files", query="after")
        until(lambda: "session" in server.call("session_status"))

        assert down["error"]["code"] == "BACKEND_FAILURE"
        assert asked(entries(home, "mine")) == ["before", "meanwhile", "after"]


def test_a_resumed_search_is_answered_in_full_beside_what_it_was(two, root, name):
    one, other = two
    one.call("session_open", session_id=name)
    first = one.call("search_content", query="needle", word=True)
    mine = other.call("search_content", query="needle", word=True, force_refresh=True)
    known = other.call("search_content", query="needle", word=True)
    made = one.call("session_handoff")
    one.call("session_resume", snapshot_id=made["snapshot_id"])
    same = other.call("search_content", pattern="needle", whole_word=True)
    again = other.call("search_content", query="needle", word=True)
    no_such_question = other.call("search_content", query="needle")
    plant(root, {"src/new.py": "needle = 2\n"})
    differs = other.call("search_content", query="needle", word=True)
    (root / "src/new.py").unlink()

    paths = [result["path"] for result in first["results"]]
    assert len(paths) == 3
    assert "reuse_status" not in mine
    assert known["reuse_status"] == "fresh_duplicate"
    assert same["results"] == first["results"]
    assert {name: same[name] for name in same if name.startswith(("prior", "reuse"))} == {
        "reuse_status": "hydrated",
        "prior_search_id": first["search_id"],  # of the conversation that was handed over
        "prior_snapshot_id": made["snapshot_id"],
        "prior_result_paths": paths,
        "prior_paths_differ": False,
    }
    assert again["reuse_status"] == "fresh_duplicate"
    assert "prior_snapshot_id" not in no_such_question
    assert differs["prior_result_paths"] == paths
    assert differs["prior_paths_differ"] is True


def test_each_kind_of_search_is_warmed_by_the_command_line_too(two, home, root, name):
    one, other = two
    questions = [
        ("find_files", {"query": "py"}),
        ("search_content", {"query": "use", "patterns": ["needle", "x"]}),
        ("search_path_and_content", {"path_query": "src/*.py", "content_query": "needle"}),
    ]
    one.call("session_open", session_id=name)
    for tool, arguments in questions:
        one.call(tool, **arguments)
    made = one.call("session_snapshot")
    triseek(home, "resume", made["snapshot_id"], "--repo", str(root))
    told = [other.call(tool, **arguments) for tool, arguments in questions]

    assert [one["reuse_status"] for one in told] == ["hydrated"] * 3
    assert not any(one["prior_paths_differ"] for one in told)


def test_the_hooks_of_an_agent_write_to_the_same_log(two, home, root, name):
    open_for_all(home, root, name)
    hooks = Hooks(home, root, "session-123")
    hooks.tell("SessionStart", source="startup")
    hooks.read("src/a.py")
    two[0].call("find_files", query="b.py")
    two[0].call("session_close", session_id=name, status="resolved")

    kinds = [one["kind"] for one in entries(home, name)]
    assert kinds == ["session_open", "read", "search", "session_close"]
