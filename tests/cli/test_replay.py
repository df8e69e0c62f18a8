"""triseek replay: every entry, in order, on any terminal, of a log of any length."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.render.audits import HOSTILE
from tests.cli.running import command, triseek
from tests.cli.test_brief import Work
from triseek import paths
from triseek.model.session import LogEntry
from triseek.sessions.action_log import ActionLog
from triseek.sessions.lifecycle import Sessions

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def own_home(home, monkeypatch):
    monkeypatch.setenv("TRISEEK_HOME", str(home))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.delenv("PAGER", raising=False)
    monkeypatch.delenv("LESS", raising=False)


@pytest.fixture
def log():
    """A session with one entry of each kind, at times that are known."""
    sessions = Sessions(paths.sessions(), lambda: 1_777_803_396)
    sessions.open("/repo", "Fix the retry", "mine")

    def note(kind: str, **payload: object) -> None:
        sessions.record("mine", kind, payload, 1_777_803_400)

    talk = {"harness": "claude_code", "conversation": "session/0123456789ab/explorer-1"}
    note("prompt", prompt="why does\nit fail?", **talk)
    note("search", tool="search_content", arguments={"query": "jitter", "mode": "regex"},
         total_line_matches=0, result_paths=[], harness="codex")  # fmt: skip
    note("search", query="back", result_paths=["a", "b", "c", "d"], total_line_matches=9)
    note("read", path="src/a.py", line_start=3, line_end=9, sha="a" * 64, harness="codex")
    note("read", outside=True, harness="codex")
    note("read_denied", path="src/a.py", tokens=1234, harness="codex")
    note("edit", path="src/a.py", sha="b" * 64, harness="codex")
    note("compact", source="auto", harness="codex")
    note("context_pack", tool="context_pack", arguments={"goal": "fix"}, harness="codex")
    sessions.close("mine", "resolved")
    return sessions


SHOWN = """\
     1  2026-05-03 10:16:36  session_open     -  opened: Fix the retry
     2  2026-05-03 10:16:40  prompt           claude_code/01234567/explorer  why does it fail?
     3  2026-05-03 10:16:40  search           codex  jitter (regex) → nothing
     4  2026-05-03 10:16:40  search           -  back (literal) → a, b, c and 1 more
     5  2026-05-03 10:16:40  read             codex  src/a.py:3-9
     6  2026-05-03 10:16:40  read             codex  (outside of the repository)
     7  2026-05-03 10:16:40  read_denied      codex  src/a.py, which was in view (1,234 tokens)
     8  2026-05-03 10:16:40  edit             codex  src/a.py
     9  2026-05-03 10:16:40  compact          codex  auto
    10  2026-05-03 10:16:40  context_pack     codex  goal fix
    11  2026-05-03 10:16:36  session_close    -  closed as resolved
"""


def test_a_log_is_told_line_by_line(log, tmp_path):
    said = triseek(["replay", "mine"], tmp_path)

    assert (said.status, said.err) == (0, "")
    assert said.out.decode() == SHOWN


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (["--kind", "read"], [5, 6]),
        (["--kind", "read", "--kind", "edit"], [5, 6, 8]),
        (["--from", "9"], [9, 10, 11]),
        (["--from", "6", "--kind", "read"], [6]),
        (["--from", "12"], []),
        (["--kind", "nothing"], []),
    ],
)
def test_some_of_it_can_be_chosen(words, numbers, log, tmp_path):
    plain = triseek(["replay", "mine", *words], tmp_path)
    lines = triseek(["replay", "mine", "--jsonl", *words], tmp_path)
    document = triseek(["replay", "mine", "--json", *words], tmp_path)

    assert {plain.status, lines.status, document.status} == {0 if numbers else 1}
    assert [int(line.split()[0]) for line in plain.out.splitlines()] == numbers
    told = [json.loads(line) for line in lines.out.splitlines()]
    assert [entry["entry_id"] for entry in told] == numbers
    assert json.loads(document.out) == {
        "schema_version": 1, "id": "mine", "omitted": 0, "entries": told,
    }  # fmt: skip


def test_as_json_lines_it_is_the_log_itself(log, tmp_path):
    written = Path(paths.sessions(), "mine/action_log.jsonl").read_text()

    told = triseek(["replay", "mine", "--jsonl"], tmp_path).out.decode()

    assert list(map(json.loads, told.splitlines())) == list(map(json.loads, written.splitlines()))
    assert [LogEntry.read(json.loads(line)) for line in told.splitlines()] == list(log.log("mine"))


def test_a_snapshot_has_its_own_log(tmp_path):
    work = Work(tmp_path)
    name = work.snapshot()
    work.note("prompt", prompt="later")

    kept = triseek(["replay", name], tmp_path).out
    now = triseek(["replay", "mine"], tmp_path).out

    assert kept.count(b"\n") == 4
    assert now.startswith(kept)
    assert now.count(b"\n") == 5


def test_what_a_snapshot_left_out_is_said(tmp_path):
    work = Work(tmp_path)
    name = work.snapshot()
    manifest = Path(paths.snapshots(), name, "manifest.json")
    told = json.loads(manifest.read_text()) | {"action_log_omitted": 1_200}
    manifest.write_text(json.dumps(told))

    said = triseek(["replay", name], tmp_path).out.decode()

    assert said.startswith("(1,200 older entries are not in the snapshot)\n     1  ")
    assert json.loads(triseek(["replay", name, "--json"], tmp_path).out)["omitted"] == 1_200
    manifest.write_text("{")
    assert triseek(["replay", name], tmp_path).out.count(b"\n") == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nobody"], "there is no snapshot or session `nobody`. See `triseek snapshot list` and"),
        (["../daemon"], "id '../daemon' is no id"),
        (["mine", "--json", "--jsonl"], "--json and --jsonl are two forms"),
        (["mine", "--from", "-1"], "invalid value for '--from'"),
        ([], "missing argument 'SNAPSHOT|SESSION'"),
    ],
)
def test_a_mistake_is_one_line_and_2(words, said, log, tmp_path):
    found = triseek(["replay", *words], tmp_path)

    assert found.status == 2
    assert said in found.err.replace("Invalid", "invalid")
    assert (found.err.count("\n"), found.out) == (1, b"")


def test_nothing_in_a_log_reaches_the_terminal_as_it_is(tmp_path):
    work = Work(tmp_path)
    work.note("prompt", prompt=HOSTILE, harness=HOSTILE, conversation=HOSTILE)
    work.note("read", path=f"a/{HOSTILE}", line_start=HOSTILE, line_end=[])
    work.note(HOSTILE, tool=HOSTILE, arguments={HOSTILE: HOSTILE})
    work.note("search", arguments={"query": HOSTILE}, result_paths=[HOSTILE], search_id=HOSTILE)
    work.note("session_open", session=HOSTILE)
    work.note("compact", source={"x": HOSTILE}, harness=7, conversation=[])
    work.note("read_denied", path="x", tokens=True)
    folder = Path(paths.sessions(), "mine")
    with (folder / "action_log.jsonl").open("a") as file:
        entry = {"schema_version": 1, "session_id": "mine", "kind": "read", "payload": {}}
        for number, at in enumerate((10**400, -1, (1 << 53) - 1), 100):
            file.write(json.dumps({**entry, "entry_id": number, "ts": at}) + "\n")
        file.write(json.dumps({**entry, "entry_id": 104, "ts": 0, "payload": {"path": "\ud800"}}))
        file.write('\n{"torn": ')

    for words in ([], ["--json"], ["--jsonl"]):
        said = triseek(["replay", "mine", *words], tmp_path)
        assert said.status == 0, said.err
        assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", said.out.decode()) is None
        assert said.out.count(b"\n") == 13 + (2 if words == ["--json"] else 0)


# On a terminal


def on_a_terminal(words, folder, typed=b"", **more):
    """What a terminal shows, and the status; keys are typed when the first output is there."""
    ours, theirs = pty.openpty()
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **more}
    with subprocess.Popen(
        [sys.executable, "-m", "triseek", *words], cwd=folder, env=environ,
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
                if typed:
                    os.write(ours, typed)
                    typed = b""
        except OSError:
            pass  # nobody holds the other end any more
        os.close(ours)
    return shown.replace(b"\r\n", b"\n"), process.returncode


@pytest.fixture
def pagers(tmp_path):
    """A pager that says it was asked, with which LESS, then shows what it gets."""
    path = tmp_path / "my pager"
    path.write_text('#!/bin/sh\necho "PAGED $1 $LESS"\nexec cat\n')
    path.chmod(0o755)
    return str(path)


def test_a_terminal_gets_a_pager_and_colours(log, tmp_path, pagers):
    shown, code = on_a_terminal(["replay", "mine"], tmp_path, PAGER=f"'{pagers}' word")

    assert code == 0
    assert shown.startswith(b"PAGED word FRX\n")
    assert b"\x1b[33medit            \x1b[m codex  src/a.py\n" in shown
    assert re.sub(rb"\x1b\[\d*m", b"", shown).decode() == "PAGED word FRX\n" + SHOWN


@pytest.mark.parametrize(
    ("words", "more", "coloured"),
    [
        (["--no-pager"], {}, True),
        ([], {"PAGER": ""}, True),
        ([], {"PAGER": "cat"}, True),
        ([], {"PAGER": "/nowhere/pager"}, True),
        ([], {"PAGER": "an 'open quote"}, True),
        (["--no-pager"], {"NO_COLOR": "1"}, False),
        (["--no-pager"], {"NO_COLOR": ""}, False),
        (["--no-pager"], {"TERM": "dumb"}, False),
    ],
)
def test_without_a_pager_it_is_written_as_it_is(words, more, coloured, log, tmp_path):
    shown, code = on_a_terminal(["replay", "mine", *words], tmp_path, **more)

    assert code == 0
    assert (b"\x1b" in shown) is coloured
    assert re.sub(rb"\x1b\[\d*m", b"", shown).decode() == SHOWN


def test_own_settings_of_less_are_kept(log, tmp_path, pagers):
    shown, _ = on_a_terminal(["replay", "mine"], tmp_path, PAGER=f"'{pagers}'", LESS="S")

    assert shown.startswith(b"PAGED  S\n")


def test_whoever_leaves_the_pager_wants_no_more(tmp_path):
    many(20_000)
    shown, code = on_a_terminal(["replay", "mine"], tmp_path, PAGER="head -n 3")

    assert (code, shown.count(b"\n")) == (0, 3)


def test_what_is_piped_meets_no_pager_and_may_stop(tmp_path):
    many(20_000)
    done = subprocess.run(
        f"{shlex.quote(sys.executable)} -m triseek replay mine | head -n 2",
        shell=True, cwd=tmp_path, capture_output=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PAGER": "false"},
    )  # fmt: skip

    assert (done.stdout.count(b"\n"), done.stderr) == (2, b"")


# Long logs


def many(count: int) -> Path:
    """A log of so many entries, written as the daemon would."""
    log = ActionLog(Path(paths.sessions(), "mine"))
    entry = {"schema_version": 1, "session_id": "mine", "ts": 1_777_803_400, "kind": "read"}
    log.path.parent.mkdir(parents=True, exist_ok=True)
    with log.path.open("w") as file:
        for number in range(1, count + 1):
            payload = {"path": f"src/f{number % 997}.py", "sha": "a" * 64, "harness": "codex"}
            file.write(json.dumps({**entry, "entry_id": number, "payload": payload}) + "\n")
    return log.path


def peak(words, folder):
    """Lines that a command writes, and the most memory its process took, in MB."""
    # Not by getrusage: its figure is no less than what the process that forked held.
    code = (
        "import re, sys\nfrom triseek.cli import main\n"
        f"code = main.run({words!r})\n"
        "told = re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())\n"
        "print(int(told[1]) // 1024, file=sys.stderr)\n"
        "sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    return done.stdout.count(b"\n"), int(done.stderr)


@pytest.mark.parametrize("words", [[], ["--json"], ["--jsonl"]], ids=["text", "json", "jsonl"])
def test_memory_does_not_grow_with_the_log(words, tmp_path):
    many(2_000)
    few, before = peak(["replay", "mine", *words], tmp_path)
    many(100_000)
    lines, after = peak(["replay", "mine", *words], tmp_path)

    assert lines - few == 98_000
    assert after < before + 8


@pytest.mark.slow
def test_a_million_entries_stream(tmp_path):
    many(1_000_000)
    began = time.perf_counter()
    lines, most = peak(["replay", "mine"], tmp_path)
    print(f"\n1,000,000 entries: {time.perf_counter() - began:.1f} s, {most} MB at most")

    assert lines == 1_000_000
    assert most < 120


def test_the_installed_command_replays(log, tmp_path):
    said = command(["replay", "mine"], tmp_path)

    assert (said.status, said.out.decode(), said.err) == (0, SHOWN, "")
