"""`triseek history …` as people type it, on conversations in the format of Claude Code."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from bench.history import made_corpus
from tests.cli.running import triseek

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 400_000


@pytest.fixture
def conversations(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder in which Claude Code has some conversations."""
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    made_corpus.make(home / ".claude", SIZE)
    return home


def run(home: Path, *words: str) -> Any:
    done = triseek(["history", *words], home)
    assert done.status == 0, done.err
    return json.loads(done.out)


def first_prompt(home: Path) -> tuple[str, str]:
    """The id of a conversation, and the prompt that begins it."""
    transcript = min(home.glob(".claude/projects/*/*.jsonl"))
    row = json.loads(transcript.read_text().splitlines()[0])
    return row["sessionId"], row["message"]["content"]


def test_what_was_said_is_found_by_its_words(conversations: Path) -> None:
    session, prompt = first_prompt(conversations)
    report = run(conversations, "import", "claude-code", "--json")
    assert report["agents"]["claude-code"]["messages"] > 100
    reply = run(conversations, "search", prompt, "--json")
    assert reply["results"][0]["conversation"]["session"] == session
    messages = run(conversations, "search", prompt, "--by", "message", "--json")
    assert prompt[:40] in messages["results"][0]["excerpt"]


def test_a_dry_run_reads_nothing(conversations: Path) -> None:
    report = run(conversations, "import", "--all", "--dry-run", "--json")
    assert report["agents"]["claude-code"]["bytes"] > SIZE / 2
    assert run(conversations, "stats", "--json")["agents"] == []


def test_a_conversation_is_shown_whole_and_reopened(conversations: Path) -> None:
    session, prompt = first_prompt(conversations)
    run(conversations, "import", "--all", "--json")
    reply = run(conversations, "show", session[:13], "--json")
    assert reply["entries"][0]["text"] == prompt
    assert {entry["kind"] for entry in reply["entries"]} == {"user", "assistant", "tool"}
    done = triseek(["history", "resume", session], conversations)
    assert done.out.decode().strip().endswith(f"&& claude --resume {session}")
    text = triseek(["history", "show", session], conversations).out.decode()
    assert prompt in text
    assert "$ python /work/" in text


def test_a_conversation_is_forgotten(conversations: Path) -> None:
    session, prompt = first_prompt(conversations)
    run(conversations, "import", "--all", "--json")
    counted = run(conversations, "forget", session, "--dry-run", "--json")
    assert run(conversations, "forget", session, "--json") == counted
    run(conversations, "import", "--all", "--json")
    results = run(conversations, "search", prompt, "--json")["results"]
    assert session not in {result["conversation"]["session"] for result in results}
    held = [path for path in (conversations / "history").rglob("*") if path.is_file()]
    assert not [path for path in held if prompt.encode() in path.read_bytes()]


def test_without_a_history_the_first_step_is_named(home: Path) -> None:
    for words in (["search", "x"], ["fix", "x"], ["how", "x"], ["blame", "x"], ["friction"]):
        done = triseek(["history", *words], home)
        assert (done.status, "history import --all" in done.out.decode()) == (1, True), words


def test_the_command_line_names_no_pages_which_it_does_not_have(home: Path) -> None:
    for number in range(2):
        run(home, "remember", f"Prices are in cents {number}", "--json")
    words = ["history", "search", "cents", "--by", "observation", "--limit", "1"]
    text = triseek(words, home).out.decode()
    assert "(2 in all; --limit shows more)" in text
    assert "offset" not in text


def test_an_observation_that_a_search_names_is_shown(home: Path) -> None:
    kept = run(home, "remember", "Prices are in cents.\nSince October.", "--json")
    text = triseek(["history", "search", "cents", "--by", "observation"], home).out.decode()
    command = text.splitlines()[-1].rpartition("triseek ")[2]
    assert command == f"history show {kept['uri']}"
    for name in (kept["uri"], f"#{kept['id']}"):
        shown = triseek(["history", "show", name], home)
        assert (shown.status, "Since October." in shown.out.decode()) == (0, True)
    assert triseek(["history", "show", "#99"], home).status == 1


def test_everything_is_exported_as_json_lines(conversations: Path) -> None:
    run(conversations, "import", "--all", "--json")
    target = conversations / "all.jsonl"
    assert triseek(["history", "export", str(target)], conversations).status == 0
    documents = [json.loads(line) for line in target.read_text().splitlines()]
    stats = run(conversations, "stats", "--json")
    assert len(documents) == stats["agents"][0]["conversations"]
    assert target.stat().st_mode & 0o777 == 0o600


def test_stats_count_by_agent_project_and_month(conversations: Path) -> None:
    assert b"history import --all" in triseek(["history", "stats"], conversations).out
    run(conversations, "import", "--all", "--json")
    text = triseek(["history", "stats"], conversations).out.decode()
    assert "claude-code" in text
    assert "project-0" in text


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["import"], "--all"),
        (["import", "nobody"], "claude-code"),
        (["import", "--all", "--since", "soon"], "30d"),
        (["search", " "], "empty"),
        (["search", "x", "--limit", "0"], "limit"),
        (["search", "x", "--by", "mood"], "session, message or"),
        (["show", "nothing"], "no conversation"),
        (["forget"], "nothing is named"),
    ],
)
def test_bad_input_is_one_line_with_a_next_step(words: list[str], reason: str, home: Path) -> None:
    done = triseek(["history", *words], home)
    assert done.status == 2
    assert done.err.count("\n") == 1
    assert reason in done.err


def test_nothing_found_is_status_1(conversations: Path) -> None:
    run(conversations, "import", "--all", "--json")
    done = triseek(["history", "search", "xyzzyqwerty"], conversations)
    assert (done.status, done.out) == (1, b"Nothing was found.\n")


def test_uses_of_tools_answer_fix_how_blame_and_friction(conversations: Path) -> None:
    run(conversations, "import", "--all", "--json")
    variants = run(conversations, "how", "python", "--json")["variants"]
    assert variants[0]["text"].startswith("python /work/")
    session, _ = first_prompt(conversations)
    entries = run(conversations, "show", session, "--json")["entries"]
    path = next(entry["files"][0] for entry in entries if entry["text"].startswith("Edit"))
    text = triseek(["history", "blame", path], conversations).out.decode()
    assert session in text
    nobody = triseek(["history", "fix", "NoSuchError: never met"], conversations)
    assert (nobody.status, nobody.out[:15]) == (1, b"No conversation")
    assert triseek(["history", "friction"], conversations).status in (0, 1)


def test_the_year_is_drawn_as_text_and_as_a_picture(conversations: Path) -> None:
    session = "0f9c2d1a-0000-4000-8000-000000000001"
    folder = conversations / ".claude" / "projects" / "-work-today"
    folder.mkdir(parents=True)
    row = {
        "type": "user", "uuid": "1", "sessionId": session, "cwd": "/work/today",
        "timestamp": datetime.now(tz=UTC).isoformat(), "version": "2.1.330",
        "message": {"role": "user", "content": "a prompt of today"},
    }  # fmt: skip
    (folder / f"{session}.jsonl").write_text(json.dumps(row) + "\n")
    run(conversations, "import", "--all", "--json")
    days = run(conversations, "stats", "--json")["days"]
    assert days[datetime.now().astimezone().date().isoformat()] == 1
    plain = triseek(["history", "stats", "--plain"], conversations).out.decode()
    assert "claude-code" in plain
    assert "  today" in plain
    assert plain.isascii()
    last_row = next(line for line in plain.splitlines() if "messages a day" in line)
    assert last_row.split()[:4] == [".", "0", "-", "1"]
    picture = conversations / "year.png"
    picture.symlink_to(conversations / "elsewhere")
    triseek(["history", "stats", "--png", str(picture)], conversations)
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert not (conversations / "elsewhere").exists()


@pytest.mark.parametrize("target", ["missing/year.png", ".", "pipe"])
def test_a_picture_that_cannot_be_written_gets_one_line(home: Path, target: str) -> None:
    os.mkfifo(home / "pipe")
    done = triseek(["history", "stats", "--png", target], home)
    assert done.status == 2
    assert done.err.splitlines()[0].startswith(f"triseek: cannot write {target}: ")
    assert len(list(home.glob("*.partial"))) == 0
