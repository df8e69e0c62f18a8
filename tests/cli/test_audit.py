"""triseek audit: as tables, as JSON, and as a page that runs nothing."""

from __future__ import annotations

import json
import re
import time
from datetime import datetime
from pathlib import Path

import pytest

from tests.cli.render.audits import EVIL, HOSTILE
from tests.cli.running import command, triseek
from tests.cli.test_brief import Work
from tests.cli.test_replay import many, peak
from triseek import paths
from triseek.cli.commands.audit import _moment
from triseek.errors import InvalidRequest


@pytest.fixture
def work(tmp_path, home, monkeypatch):
    monkeypatch.setenv("TRISEEK_HOME", str(home))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo/.git").mkdir()
    (tmp_path / "repo").rename(tmp_path / "kept")
    made = Work(tmp_path)
    (tmp_path / "kept/.git").rename(made.root / ".git")
    return made


def audit(work, *words):
    return triseek(["audit", *words], work.root)


def test_people_get_tables_and_programs_all_of_it(work):
    for number in range(40):
        work.note("read", path=f"src/{number}.py")

    said = audit(work)

    assert (said.status, said.err) == (0, "")
    assert said.out.decode().startswith(f"{work.root}: 44 entries of 1 session\n")
    assert "\nand 26 more: --json, --html\n" in said.out.decode()
    assert len(json.loads(audit(work, "--json").out)["files"]) == 41


def test_a_session_or_a_snapshot_can_be_named(work, tmp_path):
    name = work.snapshot()
    work.note("read", path="later.py")

    one = json.loads(triseek(["audit", "--session", "mine", "--json"], tmp_path).out)
    kept = json.loads(triseek(["audit", "--snapshot", name, "--json"], tmp_path).out)
    here = json.loads(triseek(["audit", str(work.root), "--json"], tmp_path).out)

    assert one["files"] == here["files"]
    assert [len(each["files"]) for each in (one, kept)] == [2, 1]
    assert kept["root"] == str(work.root)


def test_the_schema_is_stable(work):
    work.note("compact", source="auto", harness="codex", conversation="session/x/")
    work.note("prompt", prompt="p", harness="codex")
    told = json.loads(audit(work, "--json").out)
    counts = {"entries", "reads", "edits", "searches", "refused", "tokens_not_read", "prompts",
              "compactions"}  # fmt: skip
    of_one = {name: set(told[name][0]) for name in (
        "sessions", "harnesses", "conversations", "files", "searches", "dead_ends", "kinds",
        "prompts", "compactions",
    )}  # fmt: skip

    assert told["schema_version"] == 1
    assert set(told) == {"schema_version", "root", "since", "first_at", "last_at", "totals",
                         "omitted", *of_one}  # fmt: skip
    assert set(told["totals"]) == counts | {"files_read", "files_edited"}
    assert of_one == {
        "sessions": {"session_id", "goal", "status", "created_at", "updated_at", "entries"},
        "harnesses": counts | {"harness"},
        "conversations": counts | {"harness", "conversation", "first_at", "last_at"},
        "files": {"path", "reads", "edits", "refused", "tokens_not_read", "taken_back", "by",
                  "first_at", "last_at"},
        "searches": {"query", "kind", "times", "matches", "files", "by", "first_at", "last_at"},
        "dead_ends": {"what", "query", "kind", "entry_id", "at", "by"},
        "kinds": {"kind", "times"},
        "prompts": {"entry_id", "session_id", "at", "harness", "prompt"},
        "compactions": {"entry_id", "session_id", "at", "harness", "source"},
    }  # fmt: skip
    page = (Path(__file__).parents[2] / "docs/guides/audit.md").read_text(encoding="utf-8")
    fields = {*told, *counts, *(name for names in of_one.values() for name in names)}
    assert [name for name in sorted(fields) if f"`{name}`" not in page] == []


@pytest.mark.parametrize(
    ("words", "code"), [([], 1), (["--json"], 1), (["--html", "-"], 1), (["--since", "1s"], 1)]
)
def test_where_nothing_was_done_the_status_is_1(words, code, tmp_path, home, monkeypatch):
    monkeypatch.setenv("TRISEEK_HOME", str(home))
    said = triseek(["audit", *words], tmp_path)

    assert (said.status, said.err) == (code, "")
    assert said.out
    assert not Path(paths.daemon()).exists()  # and nothing is made


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["/nowhere"], "/nowhere: no such folder"),
        (["--session", "none"], "unknown session_id `none`"),
        (["--snapshot", "none"], "unknown snapshot_id `none`"),
        (["--session", "../x"], "session_id '../x' is no id"),
        (["--session", "mine", "--snapshot", "x"], "exclude each other"),
        ([".", "--session", "mine"], "exclude each other"),
        (["--json", "--html", "x.html"], "exclude each other"),
        (["--since", "yesterday"], "--since: 'yesterday' is not a time. Write 30m, 12h"),
        (["--html", "/nowhere/at/all.html"], "cannot write /nowhere/at/all.html: No such file"),
        (["--html", "."], "cannot write .: "),
    ],
)
def test_a_mistake_is_one_line_and_2(words, said, work):
    found = audit(work, *words)

    assert found.status == 2
    assert said in found.err
    assert (found.err.count("\n"), found.out) == (1, b"")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("5m", 300), ("2h", 7_200), ("7d", 604_800), ("2w", 1_209_600)],
)
def test_a_moment_may_be_told_from_now(text, seconds):
    assert _moment(text, 2e9) == 2_000_000_000 - seconds


def test_or_as_a_date():
    assert _moment("2026-11-22", 0) == int(datetime(2026, 11, 22).timestamp())  # noqa: DTZ001
    assert _moment("2026-11-22T09:30+00:00", 0) == 1_795_339_800
    assert _moment("", 0) == 0
    assert _moment("999999999w", 2e9) == 1  # since ever
    for wrong in ("1y", "-1d", "9" * 20, "2026-13-01", "\x1b"):
        with pytest.raises(InvalidRequest, match="is not a time"):
            _moment(wrong, 2e9)


def test_since_leaves_out_what_is_older(work):
    work.sessions.record("mine", "read", {"path": "old.py"}, time.time() - 90_000)

    all_of_it = json.loads(audit(work, "--json").out)
    today = json.loads(audit(work, "--since", "1d", "--json").out)

    assert all_of_it["totals"]["entries"] - today["totals"]["entries"] == 1
    assert "old.py" not in json.dumps(today["files"])


# Whatever a log holds


def hostile(work):
    for text in (HOSTILE, EVIL, "\ud800", "\u202e'\"&"):
        work.note("prompt", prompt=text, harness=text, conversation=text)
        work.note("read", path=f"a/{text.replace('/', '_')}", harness=text)
        work.note("search", arguments={"query": text, "mode": text}, total_line_matches=0)
        work.note("compact", source=text, harness=text)
        work.note(text, tool=text)
    work.sessions.open(str(work.root), EVIL + HOSTILE, "mine")


def test_nothing_in_a_log_reaches_the_terminal_as_it_is(work):
    hostile(work)
    for words in ([], ["--json"], ["--html", "-"]):
        said = audit(work, *words)
        assert said.status == 0, said.err
        assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", said.out.decode()) is None


def test_a_report_is_replaced_whole(work, tmp_path):
    report = tmp_path / "report.html"
    report.write_text("older")
    said = audit(work, "--html", str(report))

    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert said.out.decode() == f"{report}\n"
    assert [path.name for path in tmp_path.iterdir() if "report" in path.name] == ["report.html"]


# Long logs


def test_memory_does_not_grow_with_the_log(tmp_path, home, monkeypatch):
    monkeypatch.setenv("TRISEEK_HOME", str(home))
    words = ["audit", "--session", "mine"]
    index = Path(paths.sessions(), "sessions.json")
    sums = []
    for count in (2_000, 60_000):
        many(count)
        session = {"schema_version": 1, "session_id": "mine", "goal": "", "repo_root": "/r",
                   "status": "open", "created_at": 1, "updated_at": 1}  # fmt: skip
        index.write_text(json.dumps(
            {"schema_version": 1, "sessions": [session], "next_entry_id": count + 1}
        ))  # fmt: skip
        sums.append(peak(words, tmp_path)[1])

    assert sums[1] < sums[0] + 12


def test_the_installed_command_audits(work, tmp_path):
    said = command(["audit", "--json"], work.root)

    assert (said.status, said.err) == (0, "")
    assert json.loads(said.out)["totals"]["entries"] == 4
