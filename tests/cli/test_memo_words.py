"""triseek memo where no daemon runs, and words that make no sense."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import triseek
from triseek import paths
from triseek.cli.commands.hook import Words, read


@pytest.mark.parametrize(
    "words", [["session"], ["check", "a.py"], ["status", "a.py"], ["forget", "--repo", "."]]
)
def test_without_a_daemon_it_says_how_to_start_one(words, tmp_path):
    done = triseek(["memo", *words], tmp_path)

    assert (done.status, done.out) == (2, b"")
    assert "triseek daemon start" in done.err
    assert done.err.count("\n") == 1


def test_what_is_kept_is_erased_without_a_daemon_too(tmp_path):
    folder = Path(paths.memo())
    (folder / "kept").mkdir(parents=True)
    (folder / "kept" / "something").write_text("secret")

    first = triseek(["memo", "forget", "--json"], tmp_path)
    again = triseek(["memo", "forget"], tmp_path)

    assert json.loads(first.out) == {"repo": None, "forgotten": 1}
    assert not folder.exists()
    assert (again.status, again.out) == (0, b"0 contexts forgotten\n")


def test_a_folder_that_is_not_there_is_named(tmp_path):
    done = triseek(["memo", "session", "--repo", "nowhere"], tmp_path)

    assert done.status == 2
    assert "nowhere: no such folder" in done.err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("hook PreToolUse", Words("PreToolUse")),
        ("hook PreToolUse --harness codex", Words("PreToolUse", "codex")),
        ("memo-observe --event pre_tool_use --repo=/r", Words("pre_tool_use", repo="/r")),
        ("hook --harness=pi --unknown x", Words("x", "pi")),
        ("hook", Words()),
        ("hook --harness", Words()),
    ],
)
def test_the_words_of_a_hook(words, meant):
    assert read(words.split()) == meant
