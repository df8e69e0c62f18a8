from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.memory.dreaming.similarity import contains, profile

LONG = (
    "The payment service retries a failed charge after some seconds and then hands the order to"
    " the manual queue, where people of the finance team look at it every morning before they"
    " write to the customer"
)


def same(one: str, other: str) -> bool:
    """Whether `one` says all that `other` says; then they share a key."""
    first, second = profile(one), profile(other)
    result = contains(first, second)
    if result:
        assert set(first.keys) & set(second.keys)
    return result


@pytest.mark.parametrize(
    "other",
    [
        LONG,
        LONG.replace("The payment", "the payment") + ".",
        LONG.replace(" a failed", " the failed").replace(",", ""),
        f'"{LONG}"\n',
        LONG.replace(" ", "\n  "),
    ],
)
def test_texts_with_the_same_words_are_equal(other: str) -> None:
    assert same(LONG, other)
    assert same(other, LONG)


def test_a_text_contains_a_little_shorter_one() -> None:
    shorter = LONG.replace(" every morning", "")
    assert same(LONG, shorter)
    assert not same(shorter, LONG)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The port is 8080", "The port is 9090"),
        (LONG, LONG.replace("retries", "does not retry")),
        (LONG + " not", LONG),
        (LONG + " only", LONG),
        (LONG + " since 2024", LONG),
        (LONG + " in billing/retry.py", LONG),
        ("Orders calls Billing", "Billing calls Orders"),
        ("run it with -v", "run it with -V"),
        ("run it with -v", "run it with v"),
        ("write it in C", "write it in C++"),
        ("set NAME", "set name"),
        ("match *.py", "match .py"),
        ("do we retry?", "do we retry"),
        ("- [x] deploy", "- [ ] deploy"),
        ("a", "the"),
        ("if (!ready) wait", "if (ready) wait"),
        (LONG, ""),
    ],
)
def test_what_says_something_else_is_not_contained(one: str, other: str) -> None:
    assert not same(one, other)
    assert not same(other, one)


def test_texts_of_other_rooms_share_no_keys() -> None:
    assert not set(profile(LONG, "backend").keys) & set(profile(LONG, "frontend").keys)


WORDS = st.lists(
    st.sampled_from(["alpha", "beta", "gamma", "delta", "épsilon", "zeta", "7", "x.py", "not", "�"])
)


@given(words=WORDS, more=st.lists(st.tuples(st.integers(0, 60), st.sampled_from("ab"))))
def test_similar_texts_share_a_key(words: list[str], more: list[tuple[int, str]]) -> None:
    longer = list(words)
    for at, word in more[:3]:
        longer.insert(min(at, len(longer)), word)
    same(" ".join(longer), " ".join(words))
    assert same(" ".join(words), " ".join(words))


def test_a_huge_text_has_few_keys() -> None:
    text = " ".join(f"word{number % 977}" for number in range(20_000))
    assert len(profile(text).keys) <= 65
    assert same(text, text)
