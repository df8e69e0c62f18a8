"""What the daemon says is used; whatever else it says is as if it had said nothing."""

from __future__ import annotations

import pytest

from tests.engine import roads
from tests.service.desks import desk_on, indexed, lines, search, until
from triseek.engine.journal import Clock, Since
from triseek.errors import Busy, DaemonUnreachable
from triseek.index.update import update
from triseek.service import lending
from triseek.service.lending import Lending
from triseek.service.roots import index_dir

CLOCK = Clock("0123456789abcdef", 3, 1)
UNKNOWN = Since("unknown", "not_watched")


@pytest.fixture
def says(monkeypatch):
    """Make the daemon say something."""

    def say(answer):
        def ask(verb, params=None, timeout_s=5.0):
            if isinstance(answer, Exception):
                raise answer
            return {"target_root": "/repo", **answer}

        monkeypatch.setattr(lending.client, "ask", ask)
        return Lending("/repo")

    return say


def test_a_clock_and_what_happened_since(says):
    batch = {"generation": 3, "everything": False, "changes": {"a": "modified"}}
    since = {"kind": "changed", "reason": "changed", "batches": [batch]}
    clock, told = says({"clock": str(CLOCK), "since": since}).now(CLOCK)

    assert clock == CLOCK
    assert (told.kind, told.batches[0].generation) == ("changed", 3)
    assert (dict(told.batches[0].changes), told.batches[0].everything) == (
        {b"a": "modified"},
        False,
    )


@pytest.mark.parametrize("clock", [None, 5, "", "no clock", ["x"], "0:1:2"])
def test_what_is_no_clock_is_none(says, clock):
    assert says({"clock": clock}).now() == (None, UNKNOWN)


@pytest.mark.parametrize(
    "since",
    [
        None, 5, "unchanged", [], {}, {"kind": "changed"}, {"kind": "changed", "batches": 5},
        {"kind": "changed", "batches": [5]}, {"kind": "changed", "batches": [{}]},
        {"kind": "changed", "batches": [{"generation": 1, "changes": 5, "everything": False}]},
        {"kind": "changed", "batches": [{"generation": 1, "changes": {}}]},
        {"kind": "changed", "batches": [{"generation": "x", "changes": {}, "everything": False}]},
        {"kind": "changed", "batches": [{"generation": 1, "changes": {"\ud800": "x"},
                                         "everything": False}]},
        {"kind": "unknown"}, {"kind": "fresh", "reason": "x"},
    ],
    ids=str,
)  # fmt: skip
def test_whatever_else_it_says_of_the_past_nothing_is_known(says, since):
    assert says({"clock": str(CLOCK), "since": since}).now(CLOCK)[1].kind == "unknown"


def test_a_batch_that_does_not_say_that_it_is_whole_is_everything(says):
    batch = {"generation": 1, "changes": {}, "everything": 0}
    since = {"kind": "changed", "reason": "changed", "batches": [batch]}

    assert says({"since": since}).now(CLOCK)[1].batches[0].everything


def test_another_roots_answer_is_none(says):
    assert says({"target_root": "/", "clock": str(CLOCK)}).now() == (None, UNKNOWN)


def test_no_daemon_is_no_error(says):
    lent = says(DaemonUnreachable("none"))

    assert lent.ask("sync", {}) is None
    assert lent.now(CLOCK) == (None, UNKNOWN)


def test_a_daemon_that_is_slow_is_let_rest(says, monkeypatch):
    lent = says(DaemonUnreachable("none"))
    now = iter([100.0, 100.0, 103.0, 103.0, 104.0, 120.0, 120.0, 120.1])
    monkeypatch.setattr(lending.time, "monotonic", lambda: next(now))

    assert lent.ask("sync", {}) is None  # takes three seconds
    asked = []
    monkeypatch.setattr(lending.client, "ask", lambda *_, **__: asked.append(1) or {})
    lent.ask("sync", {})
    assert asked == []
    lent.ask("sync", {})
    assert asked == [1]


DIRTY = [
    None, 5, "x", [], {}, {"changed": []},
    {"changed": [[10**9]], "scan": [], "allowlisted": [], "removed": 0, "directories": [],
     "excluded": []},
]  # fmt: skip


@pytest.mark.parametrize("dirt", DIRTY, ids=str)
def test_dirt_that_means_nothing_costs_a_sweep_and_no_answer(repo, monkeypatch, dirt):
    root = indexed(repo, {"a.txt": "needle\n"})
    told = {"target_root": root, "dirt": dirt}
    monkeypatch.setattr(lending.client, "ask", lambda *_, **__: told)
    answer = search(desk_on(root), "needle")

    assert (lines(answer), answer["freshness"]) == ([("a.txt", 1)], "swept")


def test_a_search_borrows_what_the_daemon_knows_and_walks_nothing(repo, daemon, monkeypatch):
    from tests.engine import roads
    from triseek.engine.freshness import Sweeper

    root = indexed(repo, {"a.txt": "needle\n", "b.txt": "x\n"})
    daemon.watch(root)
    roads.write(root, {"b.txt": "needle too\n"})
    search(desk_on(root), "warm up")
    monkeypatch.setattr(Sweeper, "sweep", lambda self: pytest.fail("swept"))
    answer = search(desk_on(root), "needle")

    assert (lines(answer), answer["freshness"]) == ([("a.txt", 1), ("b.txt", 1)], "synced")
    assert answer["generation"] is not None


def test_without_its_daemon_a_search_sweeps(repo, daemon):
    from tests.engine import roads

    root = indexed(repo, {"a.txt": "needle\n"})
    daemon.watch(root)
    daemon.stop()
    roads.write(root, {"b.txt": "needle too\n"})
    answer = search(desk_on(root), "needle")

    assert (lines(answer), answer["freshness"]) == ([("a.txt", 1), ("b.txt", 1)], "swept")
    assert (answer["generation"], answer["context_epoch"]) == (None, None)


def updated(root):
    """Whether the index was brought up to date; the daemon may be doing that itself just now."""
    try:
        update(root, index_dir(root))
    except Busy:
        return False
    return True


def test_the_index_moving_on_under_a_server_costs_no_line(repo, daemon):
    """Dirt is of one generation; of another it would hide files or show them twice."""
    root = indexed(repo, {f"f{number}.txt": "needle\n" for number in range(9)})
    daemon.watch(root)
    desk = desk_on(root)
    for number in range(4):
        roads.write(root, {f"f{number}.txt": "gone\n", f"n{number}.txt": "needle\n"})
        if number % 2:
            until(lambda: updated(root))
        told = lines(search(desk, "needle"))
        expected = {f"f{n}.txt" for n in range(number + 1, 9)} | {
            f"n{n}.txt" for n in range(number + 1)
        }
        assert sorted(told) == sorted((name, 1) for name in expected)
