"""Which commands' exit statuses are looked for in an agent's record."""

from __future__ import annotations

from triseek.app.unended_commands import UnendedCommands
from triseek.model.hook_event import Context

ONE, OTHER = Context(harness="codex", session="1"), Context(harness="codex", session="2")


def test_a_command_is_looked_for_until_it_is_found():
    unended = UnendedCommands()
    unended.add(ONE, "a")
    unended.add(ONE, "b")
    unended.looked(ONE, ["a"])
    assert unended.of(ONE) == ["b"]
    assert unended.of(OTHER) == []


def test_it_is_not_looked_for_without_end():
    unended = UnendedCommands()
    unended.add(ONE, "a")
    for _ in range(100):
        unended.looked(ONE, [])
    assert unended.of(ONE) == []


def test_only_the_newest_are_looked_for():
    unended = UnendedCommands()
    for number in range(1_000):
        unended.add(ONE, str(number))
    calls = unended.of(ONE)
    assert calls[-1] == "999"
    assert len(calls) < 100
