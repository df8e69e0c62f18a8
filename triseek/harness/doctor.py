"""The doctor: runs checks, and lets none keep another from being run."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import TriseekError
from triseek.harness.checks.finding import Finding, fail, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


class Check(NamedTuple):
    """Something to be looked at."""

    what: str
    """Its subject, in a word or two."""
    look: Callable[[], Iterable[Finding]]


def examine(checks: Iterable[Check]) -> Iterator[Finding]:
    """Run checks one after the other. One that raises is a finding itself."""
    for check in checks:
        yield from _looked(check)


def examine_together(
    checks: Sequence[Check],
    until: float,
    waiting: Callable[[Sequence[str]], None] = lambda _: None,
) -> Iterator[Finding]:
    """Run checks at once, each in a thread, and give what they find in the checks' order.

    Args:
        checks: what they run has to end by itself, at that time.
        until: when not to wait any longer, by `time.monotonic`.
        waiting: told of the subjects that are waited for, whenever one is done.
    """
    done: queue.SimpleQueue[tuple[int, list[Finding]]] = queue.SimpleQueue()

    def work(number: int, check: Check) -> None:
        done.put((number, _looked(check)))

    for number, check in enumerate(checks):
        threading.Thread(target=work, args=(number, check), daemon=True).start()
    found: dict[int, list[Finding]] = {}
    while len(found) < len(checks):
        waiting([check.what for number, check in enumerate(checks) if number not in found])
        try:
            number, findings = done.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            break
        found[number] = findings
    for number, check in enumerate(checks):
        yield from found.get(number, [_late(check)])


def _looked(check: Check) -> list[Finding]:
    """What a check finds; what it found before it failed counts too."""
    found: list[Finding] = []
    try:
        found.extend(check.look())
    except TriseekError as error:
        found.append(fail(check.what, str(error), error.next_step))
    except Exception as error:  # noqa: BLE001 - a check that fails says nothing of the others
        told = f"{type(error).__name__}: {error}".replace("\n", " ")
        found.append(fail(check.what, f"could not be looked at: {told}", "triseek doctor --json"))
    return found


def _late(check: Check) -> Finding:
    return warn(check.what, "took too long to answer", "triseek doctor")


def tally(findings: Iterable[Finding]) -> dict[str, int]:
    """How many there are of each level."""
    counts = dict.fromkeys(("ok", "info", "warn", "fail"), 0)
    for finding in findings:
        counts[finding.level] += 1
    return counts
