"""Work that is gone on with: what has changed is told, and nothing is kept from anybody.

The number is that of the reference's list of demonstrations. The agent that goes on is told of by
real hooks, and calls the daemon as the server does for it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.conftest import plant
from tests.e2e.agents import agent
from tests.e2e.hooking import Hooks
from tests.e2e.serving import daemon, environ, triseek
from triseek.ipc import client

pytestmark = pytest.mark.long

LINE = "def value_{0}(): return {0}\n"
QUOTED, KEPT, EDITED, GONE = "src/quoted.py", "src/kept.py", "src/edited.py", "src/gone.py"
TREE = {
    name: f"# {name}\n" + "".join(map(LINE.format, range(60)))
    for name in (QUOTED, KEPT, EDITED, GONE)
}
LINES = 61
WHO = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("resume-home")
    with daemon(home):
        yield home


@pytest.fixture
def ask(home, monkeypatch):
    monkeypatch.setenv("TRISEEK_HOME", str(home))
    return lambda verb, **params: client.ask(verb, params, timeout_s=60)


@pytest.fixture
def root(tmp_path):
    root = (tmp_path / "repo").resolve()
    root.mkdir()
    plant(root, TREE)
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*WHO, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


@pytest.fixture
def snapshot(home, root, ask):
    """What a first agent leaves: four files read, two of them changed after."""
    ask("session_open", target_root=str(root), goal="Fix the values")
    first = begun(home, root, "first")
    for name in TREE:
        assert first.read(name) is None
    made = ask(
        "session_snapshot", target_root=str(root), source_harness="opencode",
        pinned_snippet_paths=[{"path": QUOTED, "line_start": 1, "line_end": LINES}],
    )  # fmt: skip
    first.tell("SessionEnd", reason="exit")
    (root / EDITED).write_text(TREE[EDITED].replace("return 7\n", "return 8\n"))
    (root / GONE).unlink()
    return made["snapshot_id"]


def begun(home, root, name, harness="opencode"):
    hooks = Hooks(home, root, name)
    hooks.words = ("hook", "{}", "--harness", harness)
    hooks.tell("SessionStart", source="startup")
    return hooks


def resumed(ask, hooks, snapshot, **more):
    """The agent calls session_resume: its hooks tell of the call, the server asks the daemon."""
    hooks.calls += 1
    call = {
        "tool_name": "triseek_session_resume", "tool_input": {"snapshot_id": snapshot},
        "tool_use_id": f"{hooks.session}--{hooks.calls}",
    }  # fmt: skip
    assert hooks.tell("PreToolUse", **call, in_view=hooks.in_view) is None
    told = ask(
        "session_resume", target_root=str(hooks.root), snapshot_id=snapshot,
        call=call["tool_use_id"], **more,
    )  # fmt: skip
    hooks.tell("PostToolUse", **call, tool_response=told["payload_markdown"], in_view=hooks.in_view)
    hooks.in_view.append(call["tool_use_id"])
    return told


def write(home, root, snapshot):
    """A person writes the payload into CLAUDE.md; what the command says."""
    done = subprocess.run(
        [sys.executable, "-m", "triseek", "resume", snapshot, "--write-to", "CLAUDE.md"], cwd=root,
        env={**os.environ, **environ(home)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stderr


def check(ask, hooks, name):
    """What memo_check answers to this agent."""
    hooks.tell("UserPromptSubmit", prompt="go on", in_view=hooks.in_view)
    # The list of what is in view comes with the hooks of tools.
    hooks.use("glob", {"pattern": "*"}, "")
    told = ask("memo_check", target_root=str(hooks.root), path=name, session=hooks.session)
    return told["status"], told["recommendation"]


def test_8_what_has_changed_is_stale_and_what_has_not_is_primed(home, root, ask, snapshot):
    second = begun(home, root, "second")
    told = resumed(ask, second, snapshot)

    report = told["hydration_report"]
    assert sorted(map(tuple, map(dict.values, report["stale_files"]))) == [
        (EDITED, "changed"), (GONE, "missing"),
    ]  # fmt: skip
    assert report["files_primed"] == 2
    assert f"- `{EDITED}`: changed (read)\n" in told["payload_markdown"]
    assert f"- `{GONE}`: missing (read)\n" in told["payload_markdown"]
    assert TREE[QUOTED] in told["payload_markdown"]

    assert check(ask, second, QUOTED) == ("fresh", "skip_reread")
    assert check(ask, second, KEPT) == ("fresh", "reread")
    assert check(ask, second, EDITED) == ("unknown", "reread")
    assert check(ask, second, GONE) == ("unknown", "reread")
    for name in (QUOTED, KEPT, EDITED):
        assert second.read(name) is None
    assert second.read(KEPT) is not None  # now it has read it


def test_a_server_s_call_is_known_by_what_its_hook_announced(home, root, ask, snapshot):
    second = begun(home, root, "second")

    def called(tool, **asked):
        """A tool of the server, with hooks before and after it, as OpenCode uses one."""
        second.calls += 1
        name = f"second--{second.calls}"
        call = {"tool_name": f"triseek_{tool}", "tool_input": asked, "tool_use_id": name}
        second.tell("PreToolUse", **call, in_view=second.in_view)
        result = server.result(tool, meta={"triseek/toolUseId": name}, **asked)
        [block] = result.content
        second.tell("PostToolUse", **call, tool_response=block.text, in_view=second.in_view)
        second.in_view.append(name)
        return result.structured_content

    with agent(root, client="opencode", **environ(home)) as server:
        report = called("session_resume", snapshot_id=snapshot)["hydration_report"]
        assert report["files_primed"] == 2
        assert called("memo_check", path=QUOTED)["recommendation"] == "skip_reread"
        told = called("memo_check", path=KEPT)
        assert (told["status"], told["recommendation"]) == ("fresh", "reread")
        assert (told["primed"], told["snapshot_id"]) == (True, snapshot)
    assert second.read(QUOTED) is None


def test_another_agent_is_not_told_to_skip_and_refused_nothing(home, root, ask, snapshot):
    resumed(ask, begun(home, root, "second"), snapshot)
    third = begun(home, root, "third")

    assert check(ask, third, QUOTED) == ("fresh", "reread")
    assert check(ask, third, KEPT) == ("fresh", "reread")
    for name in (QUOTED, KEPT, EDITED):
        assert third.read(name) is None


def test_what_was_quoted_is_gone_with_a_compaction(home, root, ask, snapshot):
    second = begun(home, root, "second")
    resumed(ask, second, snapshot)
    second.compact()

    assert check(ask, second, QUOTED) == ("fresh", "reread")
    assert second.read(QUOTED) is None


def test_a_file_that_changes_after_the_resume_is_stale(home, root, ask, snapshot):
    second = begun(home, root, "second")
    resumed(ask, second, snapshot)
    (root / QUOTED).write_text("nothing of it\n")

    assert check(ask, second, QUOTED) == ("stale", "reread")
    assert second.read(QUOTED) is None


def test_a_payload_in_the_project_s_file_is_the_next_agent_s(home, root, ask, snapshot):
    before = begun(home, root, "before", "claude-code")
    assert "memo primed (2 files)" in write(home, root, snapshot)
    written = (root / "CLAUDE.md").read_bytes()
    assert TREE[QUOTED].encode() in written
    after = begun(home, root, "after", "claude-code")

    def checked(hooks, name):
        told = ask("memo_check", target_root=str(root), path=name, session=hooks.session)
        return told["status"], told["recommendation"]

    assert checked(after, QUOTED) == ("fresh", "skip_reread")
    assert checked(after, KEPT) == ("fresh", "reread")
    assert checked(before, QUOTED) == ("fresh", "reread")
    told = after.tell("PreToolUse", tool_name="Read", tool_use_id="toolu_1",
                      tool_input={"file_path": str(root / QUOTED)})  # fmt: skip
    assert told is None

    write(home, root, snapshot)
    assert (root / "CLAUDE.md").read_bytes() == written
    assert checked(after, QUOTED) == ("fresh", "skip_reread")


def test_it_outlives_the_daemon(home, root, ask, snapshot):
    second = begun(home, root, "second")
    resumed(ask, second, snapshot)
    triseek(home, "daemon", "stop")
    triseek(home, "daemon", "start")

    assert check(ask, second, QUOTED) == ("fresh", "skip_reread")
    assert check(ask, second, KEPT) == ("fresh", "reread")
    primed = ask("memo_session", target_root=str(root), session="second")
    assert primed["snapshot_id"] == snapshot
    assert [file["path"] for file in primed["primed_files"]] == [
        str(root / name) for name in (KEPT, QUOTED)
    ]
    told = json.loads(triseek(home, "memo", "forget", "--repo", str(root), "--json").stdout)
    assert told["forgotten"]
    assert check(ask, second, KEPT) == ("unknown", "reread")
