"""The memo by way of real hooks, a real daemon and a real server.

The numbers are those of the reference's list of demonstrations.
"""

from __future__ import annotations

import json
import statistics
import threading
import time

import pytest

from tests.conftest import plant
from tests.e2e.agents import agent
from tests.e2e.hooking import Hooks
from tests.e2e.serving import daemon, environ, ready, triseek
from triseek.ipc import client

pytestmark = pytest.mark.long

LINE = "line {} of a file that is worth not reading twice\n"
TREE = {
    "long.py": "".join(map(LINE.format, range(400))),
    "short.py": "".join(map(LINE.format, range(40))),
    "src/auth/router.rs": "x" * 59 + "\n" + ("y" * 59 + "\n") * 6,
}
ROUTER = "src/auth/router.rs"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("memo-home")
    with daemon(home):
        yield home


@pytest.fixture
def root(tmp_path):
    root = (tmp_path / "repo").resolve()
    (root / ".git").mkdir(parents=True)
    plant(root, TREE)
    return root


@pytest.fixture
def hooks(home, root, request):
    hooks = Hooks(home, root, request.node.name)
    hooks.tell("SessionStart", source="startup")
    return hooks


def memo(home, *words):
    return json.loads(triseek(home, "memo", *map(str, words), "--json").stdout)


def test_4_lines_that_were_read_are_refused_and_others_are_not(hooks):
    assert hooks.read("long.py", 1, 50) is None
    assert hooks.read("long.py", 200) is None
    assert hooks.read("long.py", 1, 50) == (
        f"TriSeek memo: {hooks.root}/long.py (lines 1-50) is unchanged in this session. "
        "Reuse the content already in context instead of reading it again."
    )


def test_who_insists_gets_it(hooks):
    assert [hooks.read("short.py") is None for _ in range(4)] == [True, False, True, False]


def test_an_edit_by_anybody_makes_it_worth_reading(hooks):
    hooks.read("short.py")
    (hooks.root / "short.py").write_text(TREE["short.py"].replace("line 7 ", "line seven "))

    assert hooks.read("short.py") is None
    assert hooks.read("short.py") is not None


def test_a_sub_agent_has_nothing_of_what_its_session_has_and_the_other_way_round(hooks, home):
    other = Hooks(home, hooks.root, hooks.session, "helper")
    hooks.read("short.py")

    assert other.read("short.py") is None
    assert other.read("long.py") is None
    assert hooks.read("long.py") is None
    assert hooks.read("short.py") is not None


def test_what_is_in_nobodys_view_is_not_refused(hooks):
    hooks.read("short.py")
    hooks.in_view = []

    assert hooks.read("short.py") is None


@pytest.mark.parametrize(
    ("event", "more"),
    [
        ("PreCompact", {}), ("SessionStart", {"source": "clear"}),
        ("SessionStart", {"source": "resume"}), ("SessionEnd", {}), ("ContextChanged", {}),
    ],
)  # fmt: skip
def test_an_emptied_context_has_nothing(hooks, event, more):
    hooks.read("short.py")
    hooks.tell(event, **more)

    assert hooks.read("short.py") is None


def test_a_shell_that_only_shows_a_file_is_a_reading(hooks):
    hooks.read("short.py")
    shown = TREE["short.py"]

    assert hooks.use("bash", {"command": "cat short.py"}, shown) is not None
    assert hooks.use("bash", {"command": "cat short.py | wc -l"}, "40\n") is None


def test_the_older_name_of_the_hook_does_the_same(hooks):
    hooks.read("short.py")
    hooks.words = ("memo-observe", "--event", "pre_tool_use", "--harness", "OpenCode")

    assert hooks.read("short.py") is not None


def test_a_variable_names_the_session_of_a_payload_that_does_not(hooks):
    hooks.read("short.py")
    hooks.env["TRISEEK_SESSION_ID"], hooks.session = hooks.session, ""
    hooks.calls = 1

    assert hooks.read("short.py") is not None


def test_5_an_agent_is_answered_for_the_session_its_hooks_have(hooks, home):
    hooks.read(ROUTER)
    with agent(hooks.root, client="opencode", **environ(home)) as server:
        told = server.call("memo_check", path=ROUTER, meta={})
        assert told.pop("last_read_ago_seconds") < 60
        assert told == {
            "path": ROUTER, "status": "fresh", "recommendation": "skip_reread",
            "tokens_at_last_read": 120,
        }  # fmt: skip

        (hooks.root / ROUTER).write_text("z" * 461 + "\n")
        assert server.call("memo_status", files=[ROUTER], meta={}) == {
            "session_id": hooks.session,
            "results": [
                {
                    "path": ROUTER, "status": "stale", "tokens": 120, "read_count": 1,
                    "message": "Changed since last read (now ~132 tokens); re-read file.",
                    "current_tokens": 132,
                }
            ],
        }  # fmt: skip
        told = server.call("memo_session", meta={})
        assert (told["session_id"], told["tracked_files"], told["total_reads"]) == (
            hooks.session, 1, 1
        )  # fmt: skip
        assert server.call("memo_check", path="never.rs", meta={}) == {
            "path": "never.rs", "status": "unknown", "recommendation": "reread",
            "message": "There is no such file.",
        }  # fmt: skip


def test_another_agent_is_not_answered_for_this_one(hooks, home):
    hooks.read("short.py")
    with agent(hooks.root, client="codex-mcp-client", **environ(home)) as server:
        assert server.call("memo_check", path="short.py", meta={})["status"] == "unknown"


def test_a_small_change_comes_as_a_diff(hooks, home):
    hooks.read("short.py")
    (hooks.root / "short.py").write_text(TREE["short.py"].replace("line 7 ", "line seven "))
    with agent(hooks.root, client="opencode", **environ(home)) as server:
        told = server.call("memo_check", path="short.py", meta={})

    assert (told["status"], told["recommendation"]) == ("stale", "reread_with_diff")
    assert "-line 7 of" in told["diff"]
    assert "+line seven of" in told["diff"]


def test_6_no_context_outlives_its_compaction_in_searches_either(hooks, home):
    root = hooks.root
    triseek(home, "build", str(root))
    with agent(root, **environ(home)) as server:
        ready(server)
        server.call("search_content", query="worth not")
        again = server.call("search_content", query="worth not")
        hooks.compact()
        after = server.call("search_content", query="worth not")

    assert (again["cache"], after["cache"]) == ("hit", "miss")
    assert after["context_epoch"] > again["context_epoch"]


def test_6_a_restart_of_the_daemon_loses_no_totals_and_believes_no_old_content(tmp_path, root):
    home = tmp_path / "home"
    with daemon(home):
        hooks = Hooks(home, root, "restarted")
        hooks.read("short.py")
        hooks.read("long.py", 1, 100)
        assert hooks.read("short.py") is not None
        triseek(home, "daemon", "restart")
        (root / "short.py").write_text("changed\n" * 40)

        told = memo(home, "session", "--repo", root)
        assert (told["session_id"], told["redundant_reads_prevented"]) == ("restarted", 1)
        assert hooks.read("short.py") is None
        assert hooks.read("long.py", 1, 100) is not None


def test_without_a_daemon_the_tools_say_what_to_do(tmp_path, root):
    with agent(root, client="claude-code", **environ(tmp_path / "home")) as server:
        for tool, asked in (
            ("memo_check", {"path": "a"}), ("memo_status", {"files": ["a"]}), ("memo_session", {}),
        ):  # fmt: skip
            result = server.result(tool, **asked, meta={})
            error = result.structured_content["error"]

            assert result.is_error is True
            assert (error["code"], error["retryable"]) == ("BACKEND_FAILURE", True)
            assert error["message"] == (
                "TriSeek daemon is not running; memo tools require `triseek daemon start`"
            )


def test_people_can_look_and_erase(hooks, home):
    root = hooks.root
    hooks.read("short.py")

    assert memo(home, "check", root / "short.py", "--repo", root)["status"] == "fresh"
    [known, other] = memo(
        home, "status", root / "short.py", root / "long.py", "--repo", root
    )["results"]  # fmt: skip
    assert (known["status"], other["status"]) == ("fresh", "unknown")
    assert memo(home, "forget", "--repo", root)["forgotten"] == 1
    assert memo(home, "session", "--repo", root)["tracked_files"] == 0
    assert hooks.read("short.py") is None


def test_eight_agents_at_once_are_each_told_their_own(home, root):
    wrong = []

    def work(number):
        hooks = Hooks(home, root, f"at-once-{number}")
        file = f"{number}.py"
        (root / file).write_text(TREE["short.py"].replace("line", f"row {number}"))
        told = [hooks.read(file) is None, hooks.read("short.py") is None, hooks.read(file) is None]
        if told != [True, True, False]:
            wrong.append((number, told))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


def test_a_hook_opens_no_folder(hooks, home, monkeypatch):
    monkeypatch.setenv("TRISEEK_HOME", str(home))
    before = client.ask("status", timeout_s=60)["active_roots"]
    hooks.read("short.py")
    hooks.use("edit", {"filePath": str(hooks.root / "short.py")}, "done")

    assert client.ask("status", timeout_s=60)["active_roots"] == before


@pytest.mark.slow
def test_12_a_hook_takes_no_time_that_anybody_would_notice(hooks):
    hooks.read("short.py")
    seconds = []
    for _ in range(60):
        began = time.perf_counter()
        hooks.tell("PreToolUse", tool_name="read", tool_input={"filePath": "/nowhere"})
        seconds.append(time.perf_counter() - began)

    assert statistics.median(seconds) < 0.06
