from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from triseek.errors import InvalidRequest
from triseek.memory import graph

if TYPE_CHECKING:
    from triseek.store.sqlite import Database

SERVICE = "auth-service"


def test_a_fact_replaces_what_held_before(database: Database, palace: int) -> None:
    with database.write() as connection:
        graph.assert_fact(
            connection, palace, (SERVICE, "version", "2.4.0"), 100, confidence=7, provenance="log"
        )
        graph.assert_fact(connection, palace, (SERVICE, "owner", "ana"), 150)
        graph.assert_fact(connection, palace, (SERVICE, "version", "2.4.1"), 200)
        now = graph.facts(connection, palace, SERVICE)
        history = graph.history(connection, palace, SERVICE)
    assert [(one.predicate, one.object, one.valid_to) for one in now] == [
        ("owner", "ana", None), ("version", "2.4.1", None),
    ]  # fmt: skip
    first = history[0]
    assert (first.object, first.valid_from, first.valid_to) == ("2.4.0", 100, 200)
    assert (first.confidence, first.provenance) == (1.0, "log")
    assert len(history) == 3


@pytest.mark.parametrize(
    ("at", "version"), [(99, []), (100, ["1"]), (199, ["1"]), (200, ["2"]), (10**15, ["2"])]
)
def test_what_held_at_a_time(database: Database, palace: int, at: int, version: list[str]) -> None:
    with database.write() as connection:
        for number, when in (("1", 100), ("2", 200)):
            graph.assert_fact(connection, palace, (SERVICE, "version", number), when)
        held = graph.facts(connection, palace, SERVICE, as_of_ms=at)
    assert [one.object for one in held] == version


def test_several_objects_hold_beside_each_other_where_that_was_said(
    database: Database, palace: int
) -> None:
    def objects() -> list[str]:
        return sorted(one.object for one in graph.facts(connection, palace, "ana"))

    with database.write() as connection:
        for name in ("bo", "cy", "bo"):
            graph.assert_fact(connection, palace, ("ana", "knows", name), 1, multi=True)
        assert objects() == ["bo", "cy"]
        graph.assert_fact(connection, palace, ("ana", "knows", "di"), 2)
        assert objects() == ["di"]
        assert graph.retract(connection, palace, ("ana", "knows", ""), 3) == 1
        assert objects() == []


def test_time_never_runs_backwards_in_a_fact(database: Database, palace: int) -> None:
    with database.write() as connection:
        graph.assert_fact(connection, palace, ("a", "b", "old"), 500)
        graph.assert_fact(connection, palace, ("a", "b", "new"), 400)
        times = [(one.valid_from, one.valid_to) for one in graph.history(connection, palace, "a")]
        assert times == [(500, 500), (500, None)]
        assert [one.object for one in graph.facts(connection, palace, "a", as_of_ms=500)] == ["new"]


@pytest.mark.parametrize(
    "fact", [("", "p", "o"), ("s", " ", "o"), ("s", "p", "a\x00b"), ("s" * 1_001, "p", "o")]
)
def test_bad_facts_are_refused_and_close_nothing(
    database: Database, palace: int, fact: tuple[str, str, str]
) -> None:
    with database.write() as connection:
        graph.assert_fact(connection, palace, ("s", "p", "kept"), 1)
    with pytest.raises(InvalidRequest), database.write() as connection:
        graph.assert_fact(connection, palace, fact, 2)
    with database.read() as connection:
        assert [one.object for one in graph.facts(connection, palace, "s")] == ["kept"]
