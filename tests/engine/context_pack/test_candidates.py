"""Candidates: what is read of a tree, and how a file's evidence becomes its score."""

from __future__ import annotations

import os

import pytest

from triseek.engine.context_pack import candidates, terms
from triseek.engine.context_pack.candidates import READ_BYTES, Candidate, Files, is_code

GOAL = terms.read("retry cookies")
WEIGHTS = [term.weight for term in GOAL.terms]


def rated(root, *paths, goal=GOAL, intent="bugfix"):
    weights = [term.weight for term in goal.terms]
    pool = candidates.read(paths, Files(root), goal, weights, lambda: False)
    candidates.rate(pool, goal, intent, weights, [1.0] * len(goal.phrases))
    return {candidate.path: candidate for candidate in pool}


def test_only_text_files_of_the_tree_are_read(repo):
    root = repo({"a.py": "x\n", "nul": "a\0b", "large": "y" * (READ_BYTES + 9)})
    os.symlink("a.py", os.path.join(root, "link"))
    os.mkfifo(os.path.join(root, "fifo"))
    files = Files(root)

    assert files.read(b"a.py") == b"x\n"
    assert len(files.read(b"large")) == READ_BYTES
    assert [files.read(path) for path in (b"nul", b"link", b"fifo", b"gone")] == [None] * 4


def test_reading_stops_when_asked_to(repo):
    root = repo({"a": "retry\n", "b": "retry\n"})
    asked = iter([False, True])

    pool = candidates.read([b"a", b"a", b"b"], Files(root), GOAL, WEIGHTS, lambda: next(asked))
    assert [candidate.path for candidate in pool] == [b"a"]


def test_a_definition_and_a_name_count_more_than_a_mention(repo):
    text = "x = retry\n" * 3
    root = repo({"a.py": text, "b.py": "def retry(): pass\n" + text, "retry.py": text})
    scores = {path: each.score for path, each in rated(root, b"a.py", b"b.py", b"retry.py").items()}

    assert scores[b"a.py"] < scores[b"b.py"]
    assert scores[b"a.py"] < scores[b"retry.py"]


def test_reasons_say_what_was_found(repo):
    root = repo({"src/retry.py": "def retry(): pass\n", "fixtures/config.json": "cookies\n"})
    found = rated(root, b"src/retry.py", b"fixtures/config.json")

    assert found[b"src/retry.py"].reasons == {"content_match", "definition", "path_match"}
    assert found[b"fixtures/config.json"].reasons == {
        "content_match",
        "config_like",
        "fixture_like",
    }


def test_tests_count_less_unless_the_goal_names_them(repo):
    root = repo({"tests/test_a.py": "retry\n", "a.py": "retry\n"})
    plain = rated(root, b"tests/test_a.py")[b"tests/test_a.py"].score
    named = rated(root, b"tests/test_a.py", goal=terms.read("retry spec"))

    assert rated(root, b"a.py")[b"a.py"].score > plain
    assert named[b"tests/test_a.py"].score > plain


@pytest.mark.parametrize(
    ("path", "code"), [(b"a.py", True), (b"a.toml", False), (b"b.JSON", False), (b"c.md", False)]
)
def test_code_is_what_defines_names(path, code):
    assert is_code(path) == code


def test_a_candidate_holds_a_text_in_its_path_or_its_text():
    candidate = Candidate(b"src/Retry.py", text=b"Cookie Jar")

    assert candidate.holds([b"retry"])
    assert candidate.holds([b"nothing", b"cookie"])
    assert not candidate.holds([b"nothing"])
