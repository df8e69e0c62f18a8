"""Which host is asked for what."""

from __future__ import annotations

from triseek.zoekt import plan
from triseek.zoekt.addresses import parse
from triseek.zoekt.plan import Ownership, Task

HOSTS = parse("http://a,http://b,http://c")
SHARED = frozenset(f"shared{number}" for number in range(12))


def ownership(**holdings):
    return Ownership(HOSTS, {name: frozenset(names) for name, names in holdings.items()})


def test_each_repository_is_searched_once():
    held = ownership(a=SHARED | {"one"}, b=SHARED, c={"three"})
    tasks = plan.first_tasks("x", held)

    searched = [name for task in tasks for name in task.repositories]
    assert sorted(searched) == sorted(SHARED | {"one", "three"})
    by_host = {task.host: task for task in tasks}
    assert by_host["c"] == Task("c", "x", frozenset(("three",)), has_substitutes=False)
    assert by_host["b"].has_substitutes
    assert not by_host["a"].has_substitutes
    assert 0 < len(by_host["b"].repositories) < len(SHARED)


def test_a_host_whose_list_is_not_known_is_asked_for_all():
    tasks = plan.first_tasks("r:three x", ownership(a={"one"}, c={"three"}))

    assert [(task.host, task.query) for task in tasks] == [("b", "r:three x"), ("c", "r:three x")]


def test_what_a_failed_host_was_to_search_goes_to_the_next():
    held = ownership(a=SHARED, b=SHARED, c=SHARED | {"only"})
    lost = held.owned["c"]
    tasks = plan.substitutes("x", held, failed={"c"}, lost=lost)

    assert {name for task in tasks for name in task.repositories} == lost - {"only"}
    assert {task.host for task in tasks} <= {"a", "b"}
    assert plan.substitutes("x", held, failed={"a", "b", "c"}, lost=lost) == []


def test_more_names_than_a_query_takes_are_not_left_out():
    many = frozenset(f"r{number}" for number in range(3 * plan.NAMES_MAX))
    tasks = plan.first_tasks("x", ownership(a=many, b=many, c=()))

    assert [task.query for task in tasks] == ["x", "x"]
    assert len(tasks[0].repositories | tasks[1].repositories) == len(many)
