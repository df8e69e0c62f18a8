"""Answers are remembered by who asked what, the newest of them."""

from __future__ import annotations

import threading

from triseek.engine.freshness.journal import Clock
from triseek.search.context import ANSWERS_MAX, Answers, RememberedAnswer

CLOCK = Clock("0123456789abcdef", 1, 0)


def answer(search_id="search-0001"):
    return RememberedAnswer(search_id, CLOCK, frozenset(), frozenset(), 0, 0)


def test_an_answer_is_found_by_who_asked_what_and_by_nothing_else():
    answers = Answers()
    answers.put(("me", "q"), answer())

    assert answers.get(("me", "q")) == answer()
    assert answers.get(("you", "q")) is None
    assert answers.get(("me", "other")) is None


def test_a_newer_answer_replaces_the_older():
    answers = Answers()
    answers.put(("me", "q"), answer())
    answers.put(("me", "q"), answer("search-0002"))

    assert answers.get(("me", "q")).search_id == "search-0002"


def test_what_holds_no_more_is_forgotten():
    answers = Answers()
    answers.put(("me", "q"), answer())
    answers.forget(("me", "q"))
    answers.forget(("me", "never there"))

    assert answers.get(("me", "q")) is None


def test_the_one_not_asked_for_longest_goes():
    answers = Answers()
    for number in range(ANSWERS_MAX):
        answers.put(("me", number), answer())
    answers.get(("me", 0))
    answers.put(("me", "one more"), answer())

    assert answers.get(("me", 0)) is not None
    assert answers.get(("me", 1)) is None
    assert answers.get(("me", 2)) is not None


def test_ids_are_the_contracts_and_no_two_are_alike():
    answers = Answers()
    assert [answers.next_id() for _ in range(2)] == ["search-0001", "search-0002"]

    given: list[str] = []
    threads = [
        threading.Thread(target=lambda: given.extend(answers.next_id() for _ in range(500)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(given)) == 2_000
    assert answers.next_id() == "search-2003"
