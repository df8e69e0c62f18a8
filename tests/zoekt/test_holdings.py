"""Lists of repositories, kept for a while."""

from __future__ import annotations

import time

from triseek.model.code_search import Repository
from triseek.zoekt.holdings import Holdings


def test_a_list_is_kept_until_it_is_old():
    holdings = Holdings(fresh_s=0.2)
    holdings.put("a", [Repository(name="x"), Repository(name="y")])
    holdings.put("b", [])
    holdings.drop("b")

    assert holdings.fresh() == {"a": frozenset(("x", "y"))}
    time.sleep(0.25)
    assert holdings.fresh() == {}


def test_a_later_list_takes_the_place_of_an_earlier_one():
    holdings = Holdings()
    holdings.put("a", [Repository(name="x")])
    holdings.put("a", [Repository(name="y")])

    assert holdings.fresh() == {"a": frozenset(("y",))}


def test_only_lists_that_are_missing_are_wanted():
    holdings = Holdings(put_off_s=0.2)
    holdings.put("a", [])
    holdings.put_off("b")

    assert holdings.wanted(("a", "b", "c")) == ["c"]
    time.sleep(0.25)
    assert holdings.wanted(("a", "b", "c")) == ["b", "c"]


def test_a_host_that_is_dropped_is_asked_again():
    holdings = Holdings()
    holdings.put_off("a")
    holdings.drop("a")

    assert holdings.wanted(("a",)) == ["a"]
