"""No check keeps another from being run."""

from __future__ import annotations

import threading
import time

from triseek.agents.doctor.checks import Check, examine, examine_together, ok, tally, warn
from triseek.errors import StateUnwritable


def fine():
    yield ok("fine", "yes")


def broken():
    yield ok("broken", "so far")
    raise ZeroDivisionError("a\nmistake")


def refused():
    raise StateUnwritable("the disk is full")


def test_a_check_that_raises_is_a_finding_and_the_others_are_run():
    checks = [Check("broken", broken), Check("refused", refused), Check("fine", fine)]

    found = list(examine(checks))

    assert [(finding.level, finding.what) for finding in found] == [
        ("ok", "broken"), ("fail", "broken"), ("fail", "refused"), ("ok", "fine"),
    ]  # fmt: skip
    assert found[1].detail == "could not be looked at: ZeroDivisionError: a mistake"
    assert found[2].mend == StateUnwritable.next_step


def test_checks_that_run_at_once_are_told_of_in_their_order():
    second = threading.Event()

    def slow():
        assert second.wait(60)
        yield ok("slow", "done")

    def quick():
        yield ok("quick", "done")
        second.set()

    waited = []
    found = examine_together(
        [Check("slow", slow), Check("broken", broken), Check("quick", quick)],
        time.monotonic() + 60,
        waited.append,
    )

    assert [finding.what for finding in found] == ["slow", "broken", "broken", "quick"]
    assert waited[0] == ["slow", "broken", "quick"]
    assert waited[-1] == ["slow"]


def test_a_check_that_does_not_end_is_not_waited_for():
    end = threading.Event()

    def endless():
        end.wait(60)
        yield ok("endless", "done")

    found = list(
        examine_together([Check("endless", endless), Check("fine", fine)], time.monotonic() + 0.5)
    )
    end.set()

    assert [(finding.level, finding.what) for finding in found] == [
        ("warn", "endless"), ("ok", "fine"),
    ]  # fmt: skip


def test_findings_are_counted():
    counts = tally([ok("a", "b"), warn("a", "b", "c"), warn("a", "b", "c")])

    assert counts == {"ok": 1, "info": 0, "warn": 2, "fail": 0}
