"""Work handed over on the command line: the installed command, a real daemon, a scratch home.

The transcript in `tests/golden/cli/handoff.txt` has both walkthroughs of the reference's page;
`TRISEEK_GOLDEN=update pytest tests/e2e/test_handoff_cli.py` writes it anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import plant
from tests.e2e.living import Living
from triseek.agents.install.managed_block import BEGIN, END

pytestmark = pytest.mark.long

GOLDEN = Path(__file__).parents[1] / "golden" / "cli" / "handoff.txt"
GOAL = "Fix flaky integration test in auth_service"
FILES = {f"src/file_{n:02}.py": f"def f_{n}():\n    return {n}\n" for n in range(12)}
SNAP = re.compile(r"snap_\d+_session_123(-\d+)?")
GIT = ("git", "-c", "user.email=a@example.com", "-c", "user.name=a", "-c", "commit.gpgsign=false")


class Machine(Living):
    """A home with a daemon, and the command that a person types."""

    def __init__(self, home):
        super().__init__(home)
        programs = str(Path(sys.executable).parent)
        self.env |= {"PATH": f"{programs}{os.pathsep}{self.env['PATH']}", "TZ": "UTC"}
        self.env |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}

    def shell(self, line, cwd):
        """What a terminal shows of a line."""
        done = subprocess.run(
            ["bash", "-c", line], cwd=cwd, env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
        )  # fmt: skip
        return done.stdout + (f"[{done.returncode}]\n" if done.returncode else "")

    def document(self, *words, cwd):
        """What a command says as JSON."""
        done = subprocess.run(
            ["triseek", *words, "--json"], cwd=cwd, env=self.env, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    def say(self, *words, cwd):
        """Status, standard output and the lines of standard error."""
        done = subprocess.run(
            ["triseek", *words], cwd=cwd, env=self.env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr.splitlines()


@pytest.fixture
def machine(tmp_path):
    with Machine(tmp_path / "home") as machine:
        yield machine


@pytest.fixture
def repo(tmp_path):
    root = tmp_path.resolve() / "repo"
    root.mkdir()
    plant(root, {**FILES, "AGENTS.md": "# Rules\n\nBe kind.\n"})
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "Begin", "--date", "2026-01-01T00:00:00Z")
    return root


def git(root, *words):
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
           "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}  # fmt: skip
    subprocess.run([*GIT, *words], cwd=root, env=env, check=True)


def work(machine, root, files=12, searches=8):
    """What an agent does in a session: reads, and searches of which the last finds nothing."""
    reads = [
        {"kind": "read", "payload": {
            "path": name, "sha": hashlib.sha256(text.encode()).hexdigest(),
            "line_start": 1, "line_end": 2, "harness": "claude_code",
        }}
        for name, text in list(FILES.items())[:files]
    ]  # fmt: skip
    looks = [
        {"kind": "search", "payload": {
            "tool": "search_content", "arguments": {"query": f"f_{n}"}, "harness": "claude_code",
            "search_id": f"search-{n:04}", "result_paths": [f"src/file_{n:02}.py"] if n < 7 else [],
            "total_line_matches": int(n < 7),
        }}
        for n in range(searches)
    ]  # fmt: skip
    told = machine.ask("session_note", target_root=str(root), notes=reads + looks)
    assert told["recorded"] == files + searches


def opened(machine, root):
    machine.document("session", "open", "--session", "session_123", GOAL, cwd=root)
    work(machine, root)


def commands(transcript):
    """Comments and commands, each with the lines that go on."""
    lines = iter(transcript.splitlines())
    for line in lines:
        if line.startswith(("# ", "$ ")):
            whole = line
            while whole.endswith("\\"):
                whole += "\n" + next(lines)
            yield whole


def test_the_walkthroughs_are_as_reviewed(machine, repo):
    ids = []

    def named(text):
        """Texts with ids, times and paths as the page has them."""
        for found in SNAP.finditer(text):
            if found[0] not in ids:
                ids.append(found[0])
        text = SNAP.sub(lambda found: f"snap_174630000{ids.index(found[0])}_session_123", text)
        text = text.replace(str(repo.parent), "/home/me")
        text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "2026-05-03 19:20", text)
        text = re.sub(r"\b[0-9a-f]{40}\b", "0" * 40, text)
        text = re.sub(r"\d+ entries", "21 entries", text)
        return re.sub(r"exported \([\d.]+ kB\)", "exported (2.0 kB)", text)

    said = ""
    for line in commands(GOLDEN.read_text(encoding="utf-8")):
        said += line + "\n"
        if line.startswith("# ("):
            work(machine, repo)
        elif line.startswith("$ "):
            real = re.sub(
                r"snap_174630000(\d)_session_123", lambda found: ids[int(found[1])], line[2:]
            )
            wait_for_another_second(ids)
            said += named(machine.shell(real, repo))

    if os.environ.get("TRISEEK_GOLDEN") == "update":
        GOLDEN.write_text(said, encoding="utf-8")
    assert said == GOLDEN.read_text(encoding="utf-8")


def wait_for_another_second(ids):
    """Ids have the second in them; a second snapshot in one would be named another way."""
    while ids and int(ids[-1].split("_")[1]) >= int(time.time()):
        time.sleep(0.05)


def test_what_the_page_says_stands_there_to_the_letter(machine, repo):
    opened(machine, repo)
    shown = machine.shell("triseek handoff codex --from claude_code --no-write", repo)
    snap = SNAP.search(shown)
    assert snap is not None
    assert shown == (
        f"→ snapshot {snap[0]} created\n"
        "→ briefing.md written\n"
        "→ in Codex, paste:\n"
        f"  $triseek resume {snap[0]}\n"
    )
    assert machine.shell(f"triseek resume {snap[0]} --write-to AGENTS.md", repo) == (
        "→ memo primed (12 files)\n"
        "→ search reuse warmed (8 queries)\n"
        "→ frecency restored\n"
        "→ AGENTS.md updated with hydration payload\n"
    )

    made = machine.shell(
        "triseek snapshot create --session session_123 --source-harness claude_code . 2>/dev/null",
        repo,
    ).strip()
    assert machine.shell(f"triseek resume {made} --write-to CLAUDE.md", repo) == (
        "→ CLAUDE.md updated; ready to continue\n"
    )


def test_standard_output_is_what_was_asked_for(machine, repo):
    assert machine.say("session", "open", GOAL, "--session", "s", cwd=repo)[1] == "s\n"
    status, made, told = machine.say("snapshot", "create", cwd=repo)
    assert (status, told) == (0, [f"→ snapshot {made.strip()} created"])
    _, payload, told = machine.say("resume", made.strip(), "--print", cwd=repo)
    assert payload.startswith("# TriSeek Hydration Payload\n")
    assert payload == machine.document("resume", made.strip(), cwd=repo)["payload_markdown"]
    assert all(line.startswith("→ ") for line in told)
    work(machine, repo)
    _, paste, told = machine.say("handoff", "claude", cwd=repo)
    assert re.fullmatch(r"  /triseek resume snap_\d+_s(-\d+)?\n", paste)
    assert told[-1] == "→ in Claude, paste:"
    assert machine.document("session", "status", cwd=repo)["session"]["status"] == "open"


def test_a_second_resume_changes_no_byte(machine, repo):
    """Appendix B 7, where the file itself is one that was read, and one that git knows."""
    agents = repo / "AGENTS.md"
    before = agents.read_bytes()
    opened(machine, repo)
    sha = hashlib.sha256(before).hexdigest()
    note = {"kind": "read", "payload": {"path": "AGENTS.md", "sha": sha}}
    machine.ask("session_note", target_root=str(repo), notes=[note])
    _, made, _ = machine.say("snapshot", "create", cwd=repo)

    for name in ("AGENTS.md", "NOTES.md", "./AGENTS.md"):
        machine.document("resume", made.strip(), "--write-to", name, cwd=repo)
    first, number = agents.read_bytes(), agents.stat().st_ino
    machine.document("resume", made.strip(), "--write-to", "AGENTS.md", cwd=repo)

    assert (agents.read_bytes(), agents.stat().st_ino) == (first, number)
    assert first.startswith(before)
    assert first[len(before) :].strip().startswith(BEGIN)
    assert first.endswith(END + b"\n")


def test_a_block_of_an_earlier_hand_over_is_replaced_where_it_stands(machine, repo):
    opened(machine, repo)
    for _ in range(2):
        last = machine.document("handoff", "codex", cwd=repo)
        (repo / "AGENTS.md").write_bytes((repo / "AGENTS.md").read_bytes().rstrip() + b"\nAfter.\n")

    held = (repo / "AGENTS.md").read_text()
    assert held.count("TRISEEK:BEGIN") == 1
    assert last["snapshot_id"] in held
    assert held.startswith("# Rules\n\nBe kind.\n")
    assert held.count("After.\n") == 2


@pytest.mark.parametrize(
    ("target", "file", "paste"),
    [
        ("codex", "AGENTS.md", "$triseek resume {}"),
        ("claude", "CLAUDE.md", "/triseek resume {}"),
        ("gemini", "GEMINI.md", "/triseek resume {}"),
        ("cline", ".clinerules/triseek.md", "session_resume"),
    ],
)
def test_each_target_gets_the_block_where_it_reads(machine, repo, target, file, paste):
    opened(machine, repo)
    (repo / "inner").mkdir()
    told = machine.document("handoff", target, "--from", "claude", cwd=repo / "inner")

    assert told["written_to"] == file
    held = (repo / file).read_text()
    assert GOAL in held
    assert "- finds nothing: `f_7`" in held
    assert paste.format(told["snapshot_id"]) in told["paste"]
    assert (repo / file).is_file()
    assert list((repo / "inner").iterdir()) == []
    assert Path(told["briefing"]).read_text().startswith(f"## Goal\n\n{GOAL}\n")


def test_an_agent_is_enough_to_name_the_file(machine, repo):
    opened(machine, repo)
    (repo / "AGENTS.md").rename(repo / "CLAUDE.md")
    made = machine.document("handoff", "opencode", "--no-write", "--from", "claude", cwd=repo)
    snap = made["snapshot_id"]

    told = machine.document("resume", snap, "--for", "opencode", cwd=repo / "src")
    assert told["written_to"] == "../CLAUDE.md"
    assert (repo / "CLAUDE.md").read_text().startswith("# Rules\n\nBe kind.\n\n<!-- TRISEEK:BEGIN")
    _, _, said = machine.say("resume", snap, "--for", "claude", cwd=repo)
    assert said == ["→ CLAUDE.md updated; ready to continue"]
    _, out, said = machine.say("resume", snap, "--for", "pi", "--write-to", "x.md", cwd=repo)
    assert (out, len(said)) == ("", 1)


def test_a_file_that_cannot_be_written_costs_nothing_else(machine, repo):
    opened(machine, repo)
    (repo / "AGENTS.md").unlink()
    (repo / "AGENTS.md").symlink_to("../outside.md")
    status, out, told = machine.say("handoff", "codex", cwd=repo)

    assert status == 2
    assert out.startswith("  $triseek resume snap_")
    assert "leads out of the project" in told[-1]
    assert told[-1].startswith("triseek: ")
    assert not (repo.parent / "outside.md").exists()
    status, out, told = machine.say("resume", out.split()[-1], "--write-to", "AGENTS.md", cwd=repo)
    assert (status, out, len(told)) == (2, "", 1)


def test_mistakes_are_one_line_with_the_next_step(machine, repo):
    for words, said in [
        (["handoff", "codex"], "No open TriSeek session found. Open one first"),
        (["snapshot", "create"], "No open TriSeek session found. Open one first"),
        (["session", "status", "none"], "unknown session_id `none`"),
        (["session", "open", "x", "--session", "../x"], "is no id"),
        (["session", "close", "none"], "unknown session_id `none`"),
        (["session", "list", "--status", "done"], "Say open, resolved or abandoned"),
        (["handoff", "emacs"], "unsupported harness `emacs`; expected"),
        (["resume", "snap_none"], "unknown snapshot_id `snap_none`"),
        (["resume", "../x"], "is no id"),
        (["snapshot", "show", "snap_none"], "unknown snapshot_id `snap_none`"),
        (["snapshot", "list", "nowhere"], "nowhere: no such folder"),
        (["pack", "export", "snap_none"], "unknown snapshot_id `snap_none`"),
        (["pack", "import", "AGENTS.md"], "AGENTS.md: "),
        (["pack", "trust", "abc"], "is no public key"),
    ]:
        status, out, told = machine.say(*words, cwd=repo)
        assert (status, out, len(told)) == (2, "", 1), (words, status, out, told)
        assert told[0].startswith("triseek: ")
        assert said in told[0]
    machine.say("session", "open", GOAL, cwd=repo)
    for pin in ("src/file_01.py", "src/file_01.py:2-1", "../x:1-2", "/etc/passwd:1-2"):
        status, out, told = machine.say("snapshot", "create", "--pin", pin, cwd=repo)
        assert (status, out, len(told)) == (2, "", 1), (pin, told)


def test_lines_are_pinned_as_typed_here(machine, repo):
    machine.say("session", "open", GOAL, cwd=repo)
    told = machine.document(
        "snapshot", "create", "--pin", "file_01.py:1-2", "--pin", "../src/file_02.py:2",
        cwd=repo / "src",
    )  # fmt: skip
    shown = machine.document("snapshot", "show", told["snapshot_id"], cwd=repo)["snapshot"]

    assert [(pin["path"], pin["text"]) for pin in shown["pinned_snippets"]] == [
        ("src/file_01.py", "def f_1():\n    return 1"),
        ("src/file_02.py", "    return 2"),
    ]


def test_snapshots_and_packs_need_no_daemon(machine, repo):
    opened(machine, repo)
    _, made, _ = machine.say("snapshot", "create", cwd=repo)
    machine.run("daemon", "stop")
    made = made.strip()

    machine.say("pack", "export", made, "--sign", cwd=repo.parent)
    _, again, told = machine.say("pack", "import", "--verify", f"../{made}.tcp", cwd=repo)
    assert again.strip() == f"{made}-1"
    assert told[0].startswith("→ signed by ")
    listed = machine.document("snapshot", "list", cwd=repo)["snapshots"]
    assert {one["snapshot_id"] for one in listed} == {made, f"{made}-1"}
    assert not any(
        machine.document("snapshot", "diff", made, f"{made}-1", cwd=repo)["diff"].values()
    )
    assert not machine.document("daemon", "status", cwd=repo)["running"]
    status, _, told = machine.say("resume", made, cwd=repo)
    assert status == 0, told
    assert machine.document("daemon", "status", cwd=repo)["running"]


def test_no_daemon_is_started_where_none_may_be(machine, repo):
    machine.env["TRISEEK_NO_DAEMON"] = "1"

    status, _, told = machine.say("session", "open", GOAL, cwd=repo)
    assert status == 2
    assert " ".join(told) == (
        "triseek: no daemon is running. None is started because TRISEEK_NO_DAEMON is set: "
        "run `triseek daemon start`."
    )


def test_a_pack_is_resumed_on_another_machine_at_another_place(machine, repo, tmp_path):
    (repo / "src/file_03.py").write_text("changed = True\n")
    machine.document("session", "open", "--session", "session_123", GOAL, cwd=repo)
    work(machine, repo, files=3)
    told = machine.document("handoff", "codex", "--output", str(tmp_path / "x.tcp"), cwd=repo)
    assert told["pack"] == str(tmp_path / "x.tcp")
    snap = told["snapshot_id"]
    git(repo, "checkout", "-q", ".")
    there = tmp_path.resolve() / "elsewhere" / "clone"
    there.parent.mkdir()
    git(there.parent, "clone", "-q", str(repo), "clone")
    (there / "src/file_01.py").write_text("other = 1\n")

    with Machine(tmp_path / "other-home") as other:
        status, made, said = other.say("pack", "import", str(tmp_path / "x.tcp"), cwd=there)
        assert (status, made) == (0, f"{snap}\n")
        moved = f"→ differs: the repository was at {repo}, and is at {there} here"
        assert said == [f"→ snapshot {snap} imported", moved]
        status, _, said = other.say("resume", snap, "--write-to", "AGENTS.md", cwd=there)
        assert said[:3] == [
            "→ memo primed (2 files)", "→ search reuse warmed (8 queries)", "→ frecency restored",
        ]  # fmt: skip
        assert "→ stale: src/file_01.py (changed)" in said
        assert f"→ differs: the repository was at {repo}, and is at {there}" in said
        assert said[-1] == "→ AGENTS.md updated with hydration payload"
        held = (there / "AGENTS.md").read_text()
        assert held.startswith("# Rules\n\nBe kind.\n")
        assert GOAL in held
        assert f"the repository is now in `{there}`" in held
        listed = other.document("session", "list", cwd=there)["sessions"]
        assert [(one["session_id"], one["goal"]) for one in listed] == [("session_123", GOAL)]
        assert [one["snapshot_id"] for one in other.document("snapshot", "list", cwd=there)[
            "snapshots"]] == [snap]  # fmt: skip

        _, _, said = other.say("pack", "import", str(tmp_path / "x.tcp"), cwd=tmp_path)
        assert said[1:] == []  # the repository that it names is here
        bare = tmp_path.resolve() / "plain"
        repo.rename(bare)
        _, _, said = other.say("pack", "import", str(tmp_path / "x.tcp"), cwd=tmp_path)
        assert said[1:] == [f"→ differs: {repo} is not here; resume in a clone of that repository"]
        bare.rename(repo)
        plain = tmp_path.resolve() / "plain"
        plain.mkdir()
        git(plain, "init", "-q")
        plant(plain, {"a.txt": "a"})
        git(plain, "add", ".")
        git(plain, "commit", "-qm", "Other")
        _, _, said = other.say("pack", "import", str(tmp_path / "x.tcp"), cwd=plain)
        assert any("has another history" in line for line in said)
    assert machine.document("session", "status", cwd=repo)["session"]["repo_root"] == str(repo)


def test_nothing_recorded_is_no_success(machine, repo):
    machine.document("session", "open", "--session", "session_123", GOAL, cwd=repo)
    status, out, lines = machine.say("handoff", "codex", cwd=repo)
    assert status != 0
    assert out == ""
    assert "nothing is recorded in session_123" in lines[0]
    assert "TRISEEK" not in (repo / "AGENTS.md").read_text()
    assert machine.document("snapshot", "list", cwd=repo)["snapshots"] == []


def test_an_agents_latest_conversation_is_handed_over_and_the_log_says_so(machine, repo):
    machine.document("session", "list", cwd=repo)  # a hook starts no daemon
    for conversation, harness, prompt in (
        ("1", "claude-code", "Mend the parser"),
        ("2", "claude-code", "Write the release note"),
        ("3", "codex", "Look at the tests"),
    ):
        payload = {"session_id": conversation, "hook_event_name": "UserPromptSubmit",
                   "cwd": str(repo), "prompt": prompt}  # fmt: skip
        subprocess.run(
            ["triseek", "hook", "UserPromptSubmit", "--harness", harness], cwd=repo,
            env=machine.env, input=json.dumps(payload), text=True, check=True, timeout=60,
        )  # fmt: skip
    handed = machine.document("handoff", "gemini", "--from", "claude", "--no-write", cwd=repo)
    shown = machine.document("snapshot", "show", handed["snapshot_id"], cwd=repo)["snapshot"]
    assert shown["manifest"]["goal"] == "Write the release note"
    log = machine.document("replay", shown["manifest"]["session_id"], cwd=repo)["entries"]
    assert [entry["kind"] for entry in log][-1] == "session_handoff"
    assert log[-1]["payload"]["to"] == "gemini"
    status, _, lines = machine.say("handoff", "codex", "--from", "pi", cwd=repo)
    assert status != 0
    assert "nothing of pi is recorded" in lines[0]
