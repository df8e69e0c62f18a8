"""The tools of sessions and snapshots, by the contract's examples, with a real server and daemon.

What each is, and what it answers, is written down in `tests/golden/tools`, one file a tool.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import plant
from tests.e2e.agents import agent
from tests.e2e.serving import daemon, environ, ready, triseek
from tests.e2e.test_mcp_contract import GOLDEN, has
from triseek import __version__
from triseek.app.registry import chosen

ROUTER, PARSER = "src/auth/router.rs", "src/cli/parser.rs"
TREE = {
    ROUTER: "".join(f"// line {number}\n" for number in range(1, 91)) + "fn backoff() {}\n",
    PARSER: "fn parse() {}\n",
}
NAME = "session_1777803396000"
GOAL = "Debug retry backoff config"
PINS = [{"path": ROUTER, "line_start": 40, "line_end": 80}]
TOOLS = [verb.name for verb in chosen(["session"])]
RECORD = {
    "schema_version": 1, "session_id": NAME, "goal": GOAL, "repo_root": "/repo", "status": "open",
    "created_at": 1777803396, "updated_at": 1777803396,
}  # fmt: skip
MANIFEST = {
    "schema_version": 1, "snapshot_id": "snap_a", "session_id": NAME, "repo_root": "/repo",
    "repo_commit": "abc123", "repo_dirty_files": [], "source_harness": "claude_code",
    "source_model": "claude-sonnet-4.5", "generation": 42, "context_epoch": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("session-contract-home")


@pytest.fixture(scope="module")
def root(tmp_path_factory, home):
    root = (tmp_path_factory.mktemp("session-contract") / "repo").resolve()
    root.mkdir()
    plant(root, TREE)
    at = {"GIT_AUTHOR_DATE": "2026-05-03T10:00:00Z", "GIT_COMMITTER_DATE": "2026-05-03T10:00:00Z"}
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=root, env={**os.environ, **at}, check=True)
    triseek(home, "build", str(root))
    return root


class Asked:
    """Calls tools, and keeps what was asked and answered."""

    def __init__(self, client):
        self._client = client
        self.answers = {tool: [] for tool in TOOLS}

    def __call__(self, tool, **asked):
        result = self._client.result(tool, **asked)
        self.answers.get(tool, []).append((asked, result))
        return result.structured_content


@pytest.fixture(scope="module")
def told(home, root):
    """Everything that a piece of work asks; the tests look at the answers."""
    with daemon(home), agent(root, client="claude-code", **environ(home)) as client:
        ready(client)
        asked = Asked(client)
        asked.listed = {tool.name: tool for tool in client.tools()}
        asked("session_status")
        asked("session_close", status="resolved")
        asked("session_open", session_id="../elsewhere")
        asked("session_open", goal=GOAL, session_id=NAME)
        client.call("search_content", query="fn backoff")
        client.call("memo_check", path=ROUTER)
        asked("session_status")
        asked("session_status", session_id=NAME)
        asked("session_status", session_id="session-0")
        asked("session_list")
        asked("session_list", status="resolved")
        first = asked(
            "session_snapshot", session_id=NAME, source_harness="claude_code",
            source_model="claude-sonnet-4.5", pinned_snippet_paths=PINS,
        )  # fmt: skip
        asked("session_snapshot", pinned_snippet_paths=[{**PINS[0], "path": "../secret"}])
        (root / ROUTER).write_text(TREE[ROUTER] + "// edited\n", encoding="utf-8")
        client.call("memo_check", path=ROUTER)
        client.call("find_files", query="parser")
        second = asked(
            "session_handoff", session_id=NAME, source_harness="claude_code",
            pinned_snippet_paths=PINS,
        )  # fmt: skip
        asked("session_handoff")
        asked("session_handoff", session_id=NAME, output="src/auth/router.rs")
        asked("session_snapshot_list", session_id=NAME)
        asked("session_snapshot_list", session_id="session-0")
        asked("session_snapshot_get", snapshot_id=first["snapshot_id"])
        asked("session_snapshot_get", snapshot_id="snap_0")
        asked.ids = {"snapshot_a": first["snapshot_id"], "snapshot_b": second["snapshot_id"]}
        asked("session_snapshot_diff", **asked.ids)
        asked("session_snapshot_diff", snapshot_a=first["snapshot_id"], snapshot_b="/etc/passwd")
        asked("session_resume", snapshot_id=first["snapshot_id"], budget_tokens=8000)
        asked("session_resume", snapshot_id="snap_0")
        asked("session_close", session_id=NAME, status="resolved")
        asked("session_close", session_id=NAME, status="given up")
        asked.first, asked.second = first, second
        yield asked


def answer(told, tool, number=0):
    """An answer that is no error, of a tool."""
    return [
        result.structured_content for _, result in told.answers[tool] if not result.is_error
    ][number]  # fmt: skip


def test_session_open(told, root):
    session = answer(told, "session_open")["session"]

    assert has({"session": session}, {"session": RECORD}) == []
    times = {name: session[name] for name in ("created_at", "updated_at")}
    assert session == {**RECORD, "repo_root": str(root), **times}
    assert list(answer(told, "session_open")) == ["session"]


def test_session_status(told):
    status = answer(told, "session_status")

    assert has(status, {"session": RECORD, "action_log_size": 8}) == []
    assert list(status) == ["session", "action_log_size"]
    assert status["session"]["session_id"] == NAME
    assert status["action_log_size"] == 3  # it was opened, searched, checked
    assert answer(told, "session_status", 1)["action_log_size"] == 4  # and looked at


def test_session_list(told):
    assert has(answer(told, "session_list"), {"sessions": [RECORD]}) == []
    assert [one["session_id"] for one in answer(told, "session_list")["sessions"]] == [NAME]
    assert answer(told, "session_list", 1) == {"sessions": []}


def test_session_close(told):
    closed = answer(told, "session_close")

    assert has(closed, {"session": RECORD}) == []
    assert (closed["session"]["session_id"], closed["session"]["status"]) == (NAME, "resolved")


def test_session_snapshot(told, home):
    made = answer(told, "session_snapshot")
    folder = home / "daemon" / "snapshots" / made["snapshot_id"]

    assert has(made, {"snapshot_id": "", "snapshot_dir": "", "manifest": MANIFEST}) == []
    assert list(made) == ["snapshot_id", "snapshot_dir", "manifest"]
    assert re.fullmatch(rf"snap_\d{{10}}_{NAME}", made["snapshot_id"])
    assert made["snapshot_dir"] == str(folder)
    assert json.loads((folder / "manifest.json").read_text()) == made["manifest"]
    assert made["manifest"]["source_harness"] == "claude_code"
    assert made["manifest"]["source_model"] == "claude-sonnet-4.5"


def test_session_handoff_answers_as_session_snapshot_and_resolves(told):
    made = answer(told, "session_handoff")
    example = {
        "snapshot_id": "",
        "snapshot_dir": "",
        "manifest": {**MANIFEST, "source_model": None},
    }

    assert has(made, example) == []
    assert list(made)[:3] == list(example)
    assert made["manifest"]["repo_dirty_files"] == [ROUTER]
    assert made["session"]["status"] == "resolved"


def test_session_snapshot_list(told):
    example = {
        "schema_version": 1, "snapshot_id": "", "session_id": NAME, "source_harness": "claude_code",
    }  # fmt: skip
    listed = answer(told, "session_snapshot_list")

    assert has(listed, {"snapshots": [example]}) == []
    assert [one["snapshot_id"] for one in listed["snapshots"]] == [
        told.second["snapshot_id"], told.first["snapshot_id"]
    ]  # fmt: skip
    assert answer(told, "session_snapshot_list", 1) == {"snapshots": []}


def test_session_snapshot_get(told):
    held = answer(told, "session_snapshot_get")["snapshot"]
    example = {
        "manifest": {"schema_version": 1, "snapshot_id": ""},
        "working_set": {
            "schema_version": 1, "files_read": [], "searches_run": [], "frecency_top_n": [],
        },
        "action_log": [],
        "pinned_snippets": [],
    }  # fmt: skip

    assert has(held, example) == []
    assert held["manifest"] == told.first["manifest"]
    assert [one["path"] for one in held["working_set"]["files_read"]] == [ROUTER]
    assert [one["query"] for one in held["working_set"]["searches_run"]] == ["fn backoff"]
    assert [one["kind"] for one in held["action_log"]][:3] == [
        "session_open", "search", "memo_check"
    ]  # fmt: skip
    assert {**held["pinned_snippets"][0], **PINS[0]} == held["pinned_snippets"][0]


def test_session_snapshot_diff(told):
    assert answer(told, "session_snapshot_diff") == {
        "diff": {
            "added_files": [], "removed_files": [], "changed_files": [ROUTER],
            "added_searches": [last_search(told)], "removed_searches": [],
            "added_queries": ["parser"], "removed_queries": [],
        }
    }  # fmt: skip


def last_search(told):
    work = Path(told.second["snapshot_dir"], "working_set.json").read_text(encoding="utf-8")
    return json.loads(work)["searches_run"][0]["search_id"]


def test_session_resume(told, root):
    resumed = answer(told, "session_resume")
    example = {
        "session_id": NAME,
        "payload_markdown": "# TriSeek Hydration Payload\n...",
        "payload_token_estimate": 740,
        "hydration_report": {
            "files_primed": 12, "searches_warmed": 6, "frecency_entries_restored": 20,
            "stale_files": [],
        },
        "searches": [],
    }  # fmt: skip

    assert has(resumed, example) == []
    assert list(resumed) == list(example)
    assert resumed["payload_markdown"].startswith("# TriSeek Hydration Payload\n")
    assert GOAL in resumed["payload_markdown"]
    assert resumed["payload_token_estimate"] == -(-len(resumed["payload_markdown"].encode()) // 4)
    assert resumed["hydration_report"]["stale_files"] == [{"path": ROUTER, "reason": "changed"}]
    assert resumed["hydration_report"]["repo_root"] == str(root)


def test_whoever_reads_the_text_alone_goes_on_too(told):
    [(_, result), *_] = told.answers["session_resume"]

    assert result.structured_content["payload_markdown"].strip() in result.content[0].text


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_and_its_answers_are_what_is_written_down(told, root, home, tool):
    names = {
        str(root): "/repo", str(home): "/home/me/.triseek",
        # The second has a number only if both are of one second. Its name may begin as the first.
        told.second["snapshot_id"]: f"snap_1777803396_{NAME}-1",
    }  # fmt: skip
    answers = [
        {
            "arguments": masked(asked, names),
            "is_error": result.is_error,
            "structured_content": masked(abridged(result.structured_content), names),
            "text": masked(shown_of(result), names),
        }
        for asked, result in told.answers[tool]
    ]
    shown = {
        "tool": told.listed[tool].model_dump(mode="json", by_alias=True, exclude_none=True),
        "answers": answers,
    }
    text, path = json.dumps(shown, indent=2, ensure_ascii=False) + "\n", GOLDEN / f"{tool}.json"
    if os.environ.get("TRISEEK_GOLDEN") == "update":
        path.write_text(text, encoding="utf-8")

    assert path.read_text(encoding="utf-8") == text


def abridged(told):
    """An answer without what a resume is to read, of which other tests know."""
    if "payload_markdown" not in told:
        return told
    title, _, _ = told["payload_markdown"].partition("\n")
    return {**told, "payload_markdown": f"{title}\n...", "payload_token_estimate": 740}


def shown_of(result):
    lines = result.content[0].text.splitlines()
    return [*lines[:3], "..."] if "payload_markdown" in result.structured_content else lines


MASKS = {
    r"snap_\d{10}_": "snap_1777803396_",
    r"(?<![\w.])1[789]\d{8}(?![\w.])": "1777803396",
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ": "2026-05-03T10:16:36Z",
    r'("generation": )\d+': r"\g<1>42",
    r'("context_epoch": )\d+': r"\g<1>0",
    r"search-\d{4}": "search-0009",
    rf'("triseek_version": )"{re.escape(__version__)}"': r'\g<1>"0"',
    r"(, )0\.\d+(?=\])": r"\g<1>0.5",
}


def masked(document, names):
    """What differs from run to run, as it is in the contract."""
    text = json.dumps(document)
    for found, instead in names.items():
        text = text.replace(found, instead)
    for found, instead in MASKS.items():
        text = re.sub(found, instead, text)
    return json.loads(text)


def test_without_a_daemon_it_is_said_and_nothing_else_fails(tmp_path, repo):
    with agent(repo({"a.py": "needle\n"}), **environ(tmp_path)) as client:
        errors = [
            client.call("session_open", goal="x"),
            client.call("session_status"),
            client.call("session_resume", snapshot_id="snap_1"),
        ]
        found = client.call("search_content", query="needle")

    assert {error["error"]["code"] for error in errors} == {"BACKEND_FAILURE"}
    assert {error["error"]["message"] for error in errors} == {
        "TriSeek daemon is not running; session tools require `triseek daemon start`"
    }
    assert found["files_with_matches"] == 1
    assert not (tmp_path / "daemon" / "sessions").exists()
