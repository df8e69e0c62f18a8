"""`triseek history …` as people type it, on conversations in the format of Claude Code."""

from __future__ import annotations

import json
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
    assert session not in {one["conversation"]["session"] for one in results}
    held = [path for path in (conversations / "history").rglob("*") if path.is_file()]
    assert not [path for path in held if prompt.encode() in path.read_bytes()]


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
        (["search", "x", "--by", "mood"], "session or message"),
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
    path = next(one["files"][0] for one in entries if one["text"].startswith("Edit"))
    text = triseek(["history", "blame", path], conversations).out.decode()
    assert session in text
    nobody = triseek(["history", "fix", "NoSuchError: never met"], conversations)
    assert (nobody.status, nobody.out[:15]) == (1, b"No conversation")
    assert triseek(["history", "friction"], conversations).status in (0, 1)
