"""What two agents did, by their hooks, as replay, audit and brief tell it afterwards."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.model_server import answering, says
from tests.cli.running import triseek
from tests.e2e.living import RUN, Living
from triseek.sessions.brief import HEADERS, validate

pytestmark = pytest.mark.long

KEY = "sk-e2e-0123456789abcdef"


@pytest.fixture
def living(home):
    with Living(home) as found:
        yield found


class Work:
    """A repository with an open session, in which agents' hooks run as processes."""

    def __init__(self, living, folder):
        self.living = living
        self.root = os.path.realpath(folder / "repo")
        os.mkdir(self.root)
        Path(self.root, "retry.py").write_text("def retry():\n    return BODY_OF_A_FILE\n")
        Path(self.root, "net.py").write_text("import retry\n")
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first")):
            subprocess.run(
                ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
                cwd=self.root, check=True, capture_output=True,
            )  # fmt: skip
        living.start()
        opened = self.run("session", "open", "Fix the retry", "--json")
        self.session = json.loads(opened.out)["session"]["session_id"]

    def run(self, *words, **more):
        said = self.living.run(*words, cwd=self.root, **more)
        assert said.status in (0, 1), said
        return said

    def hook(self, harness, event, session, **more):
        payload = {"session_id": session, "hook_event_name": event, "cwd": self.root, **more}
        subprocess.run(
            [*RUN, "hook", event, "--harness", harness], input=json.dumps(payload).encode(),
            cwd=self.root, env=self.living.env, check=True, capture_output=True, timeout=60,
        )  # fmt: skip

    def tool(self, harness, session, call, name, given, response):
        told = {"tool_name": name, "tool_input": given, "tool_use_id": call}
        self.hook(harness, "PostToolUse", session, tool_response=response, **told)

    def read(self, harness, session, call, name):
        path = os.path.join(self.root, name)
        text = Path(path).read_text()
        file = {"filePath": path, "content": text, "numLines": text.count("\n"), "startLine": 1,
                "totalLines": text.count("\n")}  # fmt: skip
        self.tool(harness, session, call, "Read", {"file_path": path},
                  {"type": "text", "file": file})  # fmt: skip

    def edit(self, harness, session, call, name, before, after):
        path = Path(self.root, name)
        path.write_text(path.read_text().replace(before, after))
        given = {"file_path": str(path), "old_string": before, "new_string": after}
        self.tool(harness, session, call, "Edit", given, {"filePath": str(path)})


@pytest.fixture
def work(living, tmp_path):
    made = Work(living, tmp_path)
    made.hook("claude-code", "UserPromptSubmit", "talk-a", prompt="why does retry give up?")
    made.read("claude-code", "talk-a", "c1", "retry.py")
    made.edit("claude-code", "talk-a", "c2", "retry.py", "retry", "again")
    made.edit("claude-code", "talk-a", "c3", "retry.py", "again", "retry")
    made.tool("claude-code", "talk-a", "c4", "Grep",
              {"pattern": "jitter", "path": made.root, "output_mode": "files_with_matches"},
              "No files found")  # fmt: skip
    made.hook("codex", "UserPromptSubmit", "talk-b", prompt="and net?")
    Path(made.root, "net.py").write_text("import again\n")
    patch = (
        "*** Begin Patch\n*** Update File: net.py\n@@\n-import retry\n+import again\n*** End Patch"
    )
    made.tool("codex", "talk-b", "d1", "apply_patch", {"command": patch}, "Success.")
    return made


def test_replay_and_audit_tell_what_the_hooks_of_two_agents_told(work):
    replayed = [json.loads(line) for line in work.run("replay", work.session, "--jsonl").out
                .splitlines()]  # fmt: skip
    told = json.loads(work.run("audit", "--json").out)
    text = work.run("audit").out.decode()
    page = work.run("audit", "--html", "-").out.decode()

    assert [(one["kind"], one["payload"].get("harness")) for one in replayed] == [
        ("session_open", None), ("prompt", "claude_code"), ("read", "claude_code"),
        ("edit", "claude_code"), ("edit", "claude_code"), ("search", "claude_code"),
        ("prompt", "codex"), ("edit", "codex"),
    ]  # fmt: skip
    assert [(one["path"], one["reads"], one["edits"], one["taken_back"], one["by"])
            for one in told["files"]] == [
        ("retry.py", 1, 2, True, ["claude_code"]), ("net.py", 0, 1, False, ["codex"]),
    ]  # fmt: skip
    assert [(one["harness"], one["conversation"]) for one in told["conversations"]] == [
        ("claude_code", "session/talk-a/"), ("codex", "session/talk-b/"),
    ]  # fmt: skip
    assert {one["what"] for one in told["dead_ends"]} == {"search", "edit"}
    assert [one["prompt"] for one in told["prompts"]] == ["why does retry give up?", "and net?"]
    assert "retry.py (taken back)" in text
    assert "BODY_OF_A_FILE" not in page + text + json.dumps(replayed)


def test_a_briefing_rules_out_what_led_nowhere_and_a_model_can_write_it(work):
    name = json.loads(work.run("snapshot", "create", "--json").out)["snapshot_id"]
    entries = [json.loads(line)["entry_id"] for line in work.run("replay", name, "--jsonl").out
               .splitlines()]  # fmt: skip
    text = work.run("brief", name, "--print").out.decode()

    validate(text, entries)
    ruled_out = text.split("## Ruled out\n")[1].split("## Open")[0]
    assert "An edit of `retry.py` was taken back" in ruled_out
    assert "`jitter` (literal) finds nothing" in ruled_out
    assert "## Goal\n\nFix the retry\n" in text
    assert "- Edited `net.py`" in text

    daemon = work.living.pid()
    answer = "\n\n".join(f"{header}\n\nby a model" for header in HEADERS)
    with answering(says(answer)) as server:
        said = work.run(
            "brief", name, "--mode", "cloud-model", "--json", TRISEEK_BRIEF_CLOUD_URL=server.url,
            TRISEEK_BRIEF_CLOUD_MODEL="m", TRISEEK_BRIEF_CLOUD_KEY=KEY,
        )  # fmt: skip
    told = json.loads(said.out)
    assert told["written_by"] == "cloud-model"
    assert "by a model" in Path(told["path"]).read_text()
    assert "BODY_OF_A_FILE" not in server.got[0].raw.decode()

    resumed = work.run("resume", name, "--print").out.decode()
    assert "by a model" in resumed
    # The daemon was there all the while, and has nothing to do with it.
    assert work.living.pid() == daemon
    log = "\n".join(map(json.dumps, work.living.log()))
    assert not re.search(rf"{KEY}|{server.url}|model", log)
    for path in Path(work.living.home).rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


HOSTILE = "\x1b]0;owned\x07\x1b[2J\r\u202egnp.exe\x9b1m"
"""For a terminal: a title, an empty screen, the line begun anew, text from right to left."""


def test_what_agents_and_repositories_say_reaches_no_terminal_as_it_is(
    living, tmp_path, monkeypatch
):
    (tmp_path / HOSTILE).mkdir()
    made = Work(living, tmp_path / HOSTILE)
    name = f"{HOSTILE}.py"
    Path(made.root, name).write_text("def retry():\n    return 1\n")
    made.run("session", "close", made.session)
    goal = f"{HOSTILE}\nsnap_9999999999_forged  a line of its own"
    session = json.loads(made.run("session", "open", goal, "--json").out)["session"]["session_id"]
    made.hook("claude-code", "UserPromptSubmit", "talk", prompt=f"{HOSTILE} why?")
    made.read("claude-code", "talk", "c1", name)
    made.edit("claude-code", "talk", "c2", name, "retry", HOSTILE)
    made.tool("claude-code", "talk", "c3", "Grep", {"pattern": HOSTILE, "path": made.root},
              "No files found")  # fmt: skip
    snapshot = json.loads(made.run("snapshot", "create", "--json").out)["snapshot_id"]
    settings = Path(made.root, ".claude", "settings.json")
    settings.parent.mkdir()
    settings.write_text(json.dumps({"note": HOSTILE}, ensure_ascii=False))
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    for variable in ("TRISEEK_HOME", "HOME"):
        monkeypatch.setenv(variable, living.env[variable])
    shown = {}
    for words in (
        ["session", "status"], ["session", "list"], ["session", "status", HOSTILE],
        ["session", "list", "--status", HOSTILE], ["session", "close", HOSTILE],
        ["audit"], ["audit", "--session", HOSTILE], ["audit", HOSTILE],
        ["replay", session], ["replay", HOSTILE], ["replay", session, "--kind", HOSTILE],
        ["snapshot", "create", "--pin", f"{HOSTILE}:1-2"], ["snapshot", "show", snapshot],
        ["brief", snapshot, "--print"], ["brief", HOSTILE], ["resume", snapshot],
        ["handoff", HOSTILE], ["handoff", "codex", "--session", HOSTILE],
        ["handoff", "codex", "--output", f"{HOSTILE}.tcp"],
        ["memo", "status", name, "--session", "talk"], ["memo", "check", name],
        ["memo", "session", "--session", HOSTILE], ["memo", "forget", "--repo", HOSTILE],
        ["install", HOSTILE], ["install", "claude-code", "--scope", HOSTILE],
        ["install", "claude-code", "--scope", "project", "--dry-run"],
        ["install", "claude-code", "--scope", "project"], ["uninstall", HOSTILE],
        ["uninstall", "claude-code", "--scope", "project"],
        ["index-status"], ["build"], ["update"], ["daemon", "status"],
        ["stats", "export", "--out", HOSTILE], ["doctor", "--no-clients"],
        ["daemon", "logs", "-n", "1000"],
    ):  # fmt: skip
        for more in ([], ["--json"]):
            done = triseek([*words, *more], Path(made.root), terminal=True)
            shown[*words, *more] = done
            text = done.out.decode() + done.err
            assert not set("\x1b\x07\r\u202e\x9b") & set(text), (words, more, text)

    assert "\\u202egnp.exe" in shown["session", "status"].out.decode()
    assert len(shown["session", "list"].out.decode().splitlines()) == 2  # two sessions
    assert json.loads(shown["session", "status", "--json"].out)["session"]["goal"] == goal
