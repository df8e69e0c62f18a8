"""`triseek doctor` as a process: its lines, its document, its exit status."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.e2e.living import RUN, Living
from tests.programs import SHELL_TRISEEK
from tests.zoekt import hosts
from tests.zoekt_programs import free_port

pytestmark = pytest.mark.long

LINE = re.compile(r"\[(ok|info|warn|fail)\] {1,3}(.+?) — (.+)")


@pytest.fixture
def living(home):
    with Living(home) as living:
        yield living


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A repository, and a PATH with `triseek` on it and no client but a broken one."""
    (tmp_path / "repo/.git").mkdir(parents=True)
    (tmp_path / "repo/a.py").write_text("needle\n")
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, script in {
        "triseek": SHELL_TRISEEK,
        "codex": 'echo "Error: No MCP server named triseek found." >&2; exit 1',
    }.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return tmp_path / "repo"


def doctor(living, place, *words, **more):
    return living.run("doctor", *words, cwd=place, PATH=os.environ["PATH"], **more)


def test_every_line_says_how_it_stands_and_how_it_is_mended(living, place):
    said = doctor(living, place, "--no-clients")

    head, rule, *lines, last = said.out.decode().splitlines()
    assert (said.status, said.err) == (0, "")
    assert (head, rule) == ("triseek doctor", "----")
    found = [LINE.fullmatch(line) for line in lines]
    levels = [match[1] if match else "→" for match in found]
    assert all(
        match or line.startswith("       → ") for match, line in zip(found, lines, strict=True)
    )
    for level, after in zip(levels, [*levels[1:], ""], strict=True):
        assert after == "→" or level not in ("warn", "fail")
    counts = {level: levels.count(level) for level in ("ok", "info", "warn", "fail")}
    told = ", ".join(f"{count} {level}" for level, count in counts.items())
    assert last == f"doctor checks complete: {told}"


def test_hosts_that_run_zoekt_are_asked_where_they_are_set(living, place):
    listing = hosts.routes(list=hosts.listed("a"), readyz=hosts.response(200, ""))
    gone = f"http://127.0.0.1:{free_port()}"

    with hosts.serving(listing) as host:
        outcome = doctor(living, place, "--no-clients", ZOEKT_API_URL=f"{host.url},{gone}")
    lines = [line for line in outcome.out.decode().splitlines() if " zoekt — " in line]
    assert lines == [
        f"[ok]   zoekt — {host.url[7:]} has 1 repository",
        f"[warn] zoekt — {gone[7:]}: it cannot be reached: Connection refused",
    ]
    assert " zoekt — " not in doctor(living, place, "--no-clients").out.decode()


def test_names_that_are_no_names_stay_on_their_line(living, place):
    folder = place / "a\nb\x1b[31m"
    (folder / ".git").mkdir(parents=True)

    said = doctor(living, folder, "--no-clients")

    assert said.status == 0
    assert b"\x1b" not in said.out
    lines = said.out.decode().splitlines()
    assert all(line.startswith(("[", "       → ")) for line in lines[2:-1])


def test_a_folder_that_is_gone_is_one_clear_line(living, place):
    gone = place / "gone"
    gone.mkdir()
    script = f"rmdir {shlex.quote(str(gone))}; {SHELL_TRISEEK}"

    done = subprocess.run(
        ["sh", "-c", script, "sh", "doctor"], cwd=gone, capture_output=True, text=True, check=False,
        env={**living.env, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip

    assert done.returncode == 2
    assert done.stderr.startswith("triseek: the folder this was called in is gone.")
    assert len(done.stderr.splitlines()) == 1


def test_the_document_holds_what_the_lines_say(living, place):
    said = doctor(living, place, "--json")

    document = json.loads(said.out)
    by_name = {check["what"]: check for check in document["checks"]}
    assert set(by_name) >= {
        "triseek", "python", "kernels", "rg", "state folder", "settings", "daemon", "hook", "index",
        "MCP server",
        "Claude Code", "Codex", "OpenCode", "Pi", "Cursor", "Cline", "Gemini CLI", "VS Code", "Zed",
    }  # fmt: skip
    assert sum(document["summary"].values()) == len(document["checks"])
    assert by_name["daemon"]["mend"] == "triseek daemon start"
    assert by_name["index"]["mend"] == f"triseek build {os.path.realpath(place)}"
    assert by_name["Codex"]["mend"] == "triseek install codex"
    assert by_name["Claude Code"]["level"] == "info"


def test_strict_is_a_status_and_what_is_mended_stays_mended(living, place):
    assert doctor(living, place, "--strict", "--no-clients").status == 1
    before = sorted(path for path in Path(living.home).rglob("*") if "logs" not in path.parts)
    assert living.run("build", cwd=place).status == 0
    living.start()
    living.wait_watched(os.path.realpath(place))

    said = json.loads(doctor(living, place, "--strict", "--json", "--no-clients").out)

    levels = {check["what"]: check["level"] for check in said["checks"]}
    assert (levels["daemon"], levels["index"], levels["watching"]) == ("ok", "ok", "ok")
    assert before == []  # the first one looked, and changed nothing


def test_a_terminal_is_told_who_is_waited_for(living, place):
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*RUN, "doctor"], cwd=place, env={**living.env, "PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
    ) as process:  # fmt: skip
        os.close(theirs)
        told = b""
        try:
            while piece := os.read(ours, 4096):
                told += piece
        except OSError:
            pass  # nobody holds the other end any more
        os.close(ours)

    assert process.returncode == 0
    assert b"asking Claude Code, Codex" in told
    assert told.endswith(b"\r\x1b[K")


@pytest.mark.slow
def test_real_clients_say_of_themselves_that_they_know_us(living, place, programs, tmp_path):
    os.unlink(tmp_path / "bin/codex")
    path = f"{programs}:{os.environ['PATH']}"

    def looked(what):
        for _ in range(5):  # on a machine without time ten seconds may be too short for a client
            said = living.run("doctor", "--json", "--wait", "60", cwd=place, PATH=path)
            found = [
                (check["level"], check["detail"].partition(":")[0])
                for check in json.loads(said.out)["checks"]
                if check["what"] == what
            ]
            if not any(detail.startswith("`") for _, detail in found):
                break
        return found

    before = looked("Claude Code"), looked("Codex")
    for client in ("claude-code", "codex"):
        said = living.run("install", client, cwd=place, PATH=path)
        assert said.status == 0, said

    assert [found[1] for found in before] == [("info", "does not list triseek")] * 2
    assert looked("Claude Code")[1] == ("ok", "lists triseek, connected")
    assert looked("Codex")[1] == ("ok", "lists triseek")
    assert looked("Codex hooks")[0][0] == "warn"  # nobody has approved them


@pytest.mark.slow
def test_a_real_codex_is_understood_in_a_folder_that_it_does_not_trust(
    living, place, programs, tmp_path
):
    os.unlink(tmp_path / "bin/codex")
    path = f"{programs}:{os.environ['PATH']}"
    said = living.run("install", "codex", "--scope", "project", cwd=place, PATH=path)
    assert said.status == 0, said

    def looked():
        said = living.run("doctor", "--json", "--wait", "60", cwd=place, PATH=path)
        checks = json.loads(said.out)["checks"]
        return [check for check in checks if check["what"] == "Codex"][-1]

    untrusting = looked()
    assert untrusting["level"] == "warn"
    assert "does not trust" in untrusting["detail"]
    file, _, setting = untrusting["mend"].removeprefix("in ").partition(": ")
    table, _, level = setting.partition("   #")[0].partition("] ")
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text(f"{table}]\n{level}\n")

    assert (looked()["level"], looked()["detail"]) == ("ok", "lists triseek")


@pytest.mark.slow
def test_a_real_opencode_is_understood_where_the_path_has_a_space(
    living, place, programs, tmp_path
):
    folder = tmp_path / "my programs"
    os.rename(tmp_path / "bin", folder)
    path = f"{folder}:{programs}:/usr/bin:/bin"
    said = living.run("install", "opencode", cwd=place, PATH=path)
    assert said.status == 0, said

    said = living.run("doctor", "--json", "--wait", "60", cwd=place, PATH=path)

    checks = [check for check in json.loads(said.out)["checks"] if check["what"] == "OpenCode"]
    assert [check["level"] for check in checks] == ["ok", "ok"], checks


VOLATILE = {
    "daemon.log": "what the daemon did, with times",
    "start.log": "what a daemon says before it has a log",
    "lock": "the daemon's process",
    "starting": "when a daemon was started",
    "frecency.lock": "empty; made when a root is opened",
    "journal.json": "the clock of a root's events; goes on when a root is opened",
}
"""Names of files that differ after a daemon has opened a root, whoever asked it to."""


def state(living):
    """The files of the state folder; of the memo what it says, since its members have no order."""
    files = (path for path in Path(living.home).rglob("*") if path.is_file())
    return {
        str(path): json.loads(data)["body"]["contexts"] if path.name == "memo.json" else data
        for path in files
        if "kernels" not in path.parts and path.name not in VOLATILE
        for data in (path.read_bytes(),)
    }


def test_its_own_probes_leave_no_trace(living, place):
    payload = {
        "session_id": "work", "hook_event_name": "PostToolUse", "cwd": str(place),
        "tool_name": "read", "tool_input": {"path": str(place / "a.py")}, "tool_use_id": "c1",
        "tool_response": "needle\n", "in_view": ["c1"],
    }  # fmt: skip
    assert living.run("build", cwd=place).status == 0
    living.start()
    living.wait_watched(os.path.realpath(place))
    subprocess.run(
        [*RUN, "hook", "PostToolUse", "--harness", "pi"], cwd=place, env=living.env,
        input=json.dumps(payload).encode(), check=True,
    )  # fmt: skip
    assert living.run("session", "open", "mend", cwd=place).status == 0
    session = json.loads(living.run("memo", "session", "--json", cwd=place).out)
    assert session["session_id"] == "work"
    assert living.run("daemon", "stop").status == 0
    before = state(living)
    living.start()

    said = json.loads(doctor(living, place, "--json").out)

    levels = {check["what"]: check["level"] for check in said["checks"]}
    assert [levels[what] for what in ("hook", "memo", "MCP server")] == ["ok"] * 3
    after = json.loads(living.run("memo", "session", "--json", cwd=place).out)
    assert after["session_id"] == session["session_id"]
    assert living.run("daemon", "stop").status == 0
    assert state(living) == before
