"""Candidates: what is read of a tree, and how a file's evidence becomes its score."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.engine.context_pack import candidates, terms
from triseek.engine.context_pack.candidates import READ_BYTES, Candidate, Field, is_code

GOAL = terms.read("retry cookies")
WEIGHTS = [term.weight for term in GOAL.terms]


def rated(root, *paths, goal=GOAL, intent="bugfix"):
    weights = [term.weight for term in goal.terms]
    pool = candidates.read(os.fsencode(root), paths, goal, weights, lambda: False)
    candidates.rate(pool, goal, intent, weights, [1.0] * len(goal.phrases))
    return {candidate.path: candidate for candidate in pool}


def test_only_text_files_of_the_tree_are_read(repo):
    root = repo({"a.py": "x\n", "nul": "a\0b", "large": "y" * (READ_BYTES + 9)})
    os.symlink("a.py", os.path.join(root, "link"))
    os.mkfifo(os.path.join(root, "fifo"))
    paths = [b"nul", b"link", b"fifo", b"gone", b"a.py", b"large"]

    pool = candidates.read(os.fsencode(root), paths, GOAL, WEIGHTS, lambda: False)

    assert [candidate.path for candidate in pool] == [b"a.py", b"large"]
    assert pool[0].text == b"x\n"
    assert len(pool[1].text) == READ_BYTES


def test_reading_stops_when_asked_to(repo):
    root = repo({"a": "retry\n", "b": "retry\n"})
    asked = iter([False, True])

    pool = candidates.read(
        os.fsencode(root), [b"a", b"a", b"b"], GOAL, WEIGHTS, lambda: next(asked)
    )
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


FIELD = Field(weight=2.0, length_share=0.75)


def test_a_rare_term_tells_more_and_none_tells_less_than_nothing():
    values = [candidates.idf(1_000, containing) for containing in (0, 1, 10, 500, 1_000)]

    assert values == sorted(values, reverse=True)
    assert values[-1] >= 0


def test_it_is_bm25_where_there_is_one_field():
    """Robertson & Zaragoza, equation 3.15, less the constant k1 + 1."""
    occurrences, length, mean = 3, 200.0, 100.0
    by_hand = occurrences / (candidates.SATURATION * (0.25 + 0.75 * length / mean) + occurrences)

    worth = candidates.normalised(Field(1.0, 0.75), occurrences, length, mean)

    assert candidates.saturated(worth) == pytest.approx(by_hand)


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_more_occurrences_never_count_less_and_a_term_never_more_than_its_idf(few, more):
    few, more = sorted((few, more))

    assert 0 <= candidates.saturated(few) <= candidates.saturated(more) <= 1


def test_an_occurrence_in_a_longer_field_is_worth_less():
    assert candidates.normalised(FIELD, 1, 10, 100) > candidates.normalised(FIELD, 1, 1_000, 100)
    assert candidates.normalised(FIELD, 0, 10, 100) == 0
    assert candidates.normalised(FIELD, 1, 0, 0) == FIELD.weight


def test_two_fields_saturate_together():
    together = candidates.saturated(2.0 + 2.0)
    apart = candidates.saturated(2.0) + candidates.saturated(2.0)

    assert candidates.saturated(2.0) < together < apart
