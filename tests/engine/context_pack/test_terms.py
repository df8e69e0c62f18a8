"""A goal in words, taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.engine.context_pack import terms
from triseek.engine.context_pack.terms import NamedPlace


def stems(goal: str) -> list[bytes]:
    return [term.stem for term in terms.read(goal).terms]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("getCookieJar", ["get", "cookie", "jar"]),
        ("HTTPServer", ["http", "server"]),
        ("max_retry_count", ["max", "retry", "count"]),
        ("kebab-case", ["kebab", "case"]),
        ("src/auth/router.py", ["src", "auth", "router", "py"]),
        ("", []),
    ],
)
def test_names_are_split_at_humps_and_underscores(name, words):
    assert terms.split(name) == words


@pytest.mark.parametrize(
    ("forms", "stem"),
    [
        (["cache", "caches", "cached", "caching"], "cach"),
        (["account", "accounts"], "account"),
        (["query", "queries"], "quer"),
        (["configure", "configuration", "configured"], "configur"),
        (["bus"], "bus"),
    ],
)
def test_forms_of_a_word_have_one_stem(forms, stem):
    assert {terms.stem(form) for form in forms} == {stem}


@given(st.from_regex(r"[a-z]{1,20}", fullmatch=True))
def test_a_stem_is_how_its_word_begins(word):
    assert word.startswith(terms.stem(word))
    assert terms.stem(word)


def test_words_that_say_nothing_are_left_out():
    assert stems("please fix the thing that should use our new cache") == [b"thing", b"cach"]
    goal = terms.read("the and for with it")
    assert (goal.texts, goal.places) == ([], ())


def test_a_name_is_looked_for_whole_and_in_parts():
    assert stems("resetCookieJar leaks") == [b"resetcookiejar", b"reset", b"cooki", b"leak", b"jar"]


def test_what_went_wrong_weighs_less_than_where():
    weights = {term.word: term.weight for term in terms.read("router panic").terms}

    assert weights["router"] > 2 * weights["panic"]


def test_words_side_by_side_are_pairs_but_not_over_a_filler():
    assert terms.read("service accounts of tenants").pairs == ((b"servic", b"account"),)


@pytest.mark.parametrize(
    ("goal", "place"),
    [
        (
            'File "/home/me/repo/src/a_b.py", line 12, in run',
            NamedPlace(b"home/me/repo/src/a_b.py", 12),
        ),
        ("at run (/app/lib/cli.js:45:17)", NamedPlace(b"app/lib/cli.js", 45)),
        ("\t/go/src/x/tsdb/head.go:128 +0x1d", NamedPlace(b"go/src/x/tsdb/head.go", 128)),
        ("at com.acme.Retry.next(Retry.java:7)", NamedPlace(b"Retry.java", 7)),
        ("  --> src/main.rs:4:5", NamedPlace(b"src/main.rs", 4)),
        (r"C:\repo\core\Retry.cs:33", NamedPlace(b"repo/core/Retry.cs", 33)),
        ("look at config.toml", NamedPlace(b"config.toml", 0)),
    ],
)
def test_traces_of_every_kind_name_places(goal, place):
    assert terms.read(goal).places == (place,)


@pytest.mark.parametrize("goal", ["e.g. this", "version 1.2.3", "call os.path.join", "end. Next"])
def test_what_only_looks_like_a_file_is_none(goal):
    assert terms.read(goal).places == ()


def test_quotes_and_messages_are_phrases():
    quoted = terms.read('it says "connection reset by peer" twice')
    raised = terms.read("ValueError: not enough values to unpack")

    assert list(quoted.phrases) == [b"connection reset by peer"]
    assert list(raised.phrases) == [b"not enough values to unpack"]


def test_numbers_of_issues_are_no_terms():
    assert stems("cache is stale (#12345)") == [b"cach", b"stal"]


@given(st.text(max_size=300))
def test_any_text_can_be_read(text):
    goal = terms.read(text)

    assert len(goal.terms) <= terms.TERMS_MAX
    assert all(term.stem == term.stem.lower() and term.stem for term in goal.terms)
    assert goal == terms.read(text)


def test_a_megabyte_is_read_at_its_ends():
    goal = terms.read("alphabet " + "x" * 1_000_000 + " omega_point")

    assert {b"alphabet", b"omega_point"} <= {term.stem for term in goal.terms}
