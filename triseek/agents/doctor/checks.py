"""The checks of the doctor and their findings: one that fails does not stop the others."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from triseek.errors import TriseekError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Level: TypeAlias = Literal["ok", "info", "warn", "fail"]
"""info: nothing is wrong. warn: works, but worse than it could. fail: does not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's output."""

    level: Level
    what: str
    """The subject of the check, in a word or two."""
    detail: str
    """The state of the subject, one line."""
    mend: str = ""
    """The command that fixes it, or what to do where no command can; "" if nothing is wrong."""


def ok(what: str, detail: str) -> Finding:
    """Return a finding that all is well."""
    return Finding("ok", what, detail)


def info(what: str, detail: str, mend: str = "") -> Finding:
    """Return a finding that is worth knowing, though nothing is wrong."""
    return Finding("info", what, detail, mend)


def warn(what: str, detail: str, mend: str) -> Finding:
    """Return a finding that something works, but worse than it could."""
    return Finding("warn", what, detail, mend)


def fail(what: str, detail: str, mend: str) -> Finding:
    """Return a finding that something does not work."""
    return Finding("fail", what, detail, mend)


class Check(NamedTuple):
    """A check: its subject and the function that makes it."""

    what: str
    """The subject, in a word or two."""
    look: Callable[[], Iterable[Finding]]


def examine(checks: Iterable[Check]) -> Iterator[Finding]:
    """Run checks one after the other. An exception in a check becomes a finding."""
    for check in checks:
        yield from _findings(check)


def examine_together(
    checks: Sequence[Check],
    until: float,
    waiting: Callable[[Sequence[str]], None] = lambda _: None,
) -> Iterator[Finding]:
    """Run checks at once, each in a thread, and yield their findings in the order of the checks.

    Args:
        checks: the checks; what they run has to end by itself at `until`.
        until: the time after which not to wait any longer, by `time.monotonic`.
        waiting: called with the subjects still running, at the start and whenever one is done.
    """
    done: queue.SimpleQueue[tuple[int, list[Finding]]] = queue.SimpleQueue()

    def work(number: int, check: Check) -> None:
        done.put((number, _findings(check)))

    for number, check in enumerate(checks):
        threading.Thread(target=work, args=(number, check), daemon=True).start()
    findings_of: dict[int, list[Finding]] = {}
    while len(findings_of) < len(checks):
        waiting([check.what for number, check in enumerate(checks) if number not in findings_of])
        try:
            number, findings = done.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            break
        findings_of[number] = findings
    for number, check in enumerate(checks):
        late = warn(check.what, "took too long to answer", "triseek doctor")
        yield from findings_of.get(number, [late])


def _findings(check: Check) -> list[Finding]:
    """Run a check and return its findings, including those from before a failure."""
    findings: list[Finding] = []
    try:
        findings.extend(check.look())
    except TriseekError as error:
        findings.append(fail(check.what, str(error), error.next_step))
    except Exception as error:  # noqa: BLE001 - a check that fails says nothing of the others
        text = f"{type(error).__name__}: {error}".replace("\n", " ")
        findings.append(
            fail(check.what, f"could not be looked at: {text}", "triseek doctor --json")
        )
    return findings


def tally(findings: Iterable[Finding]) -> dict[str, int]:
    """Count the findings of each level."""
    counts = dict.fromkeys(("ok", "info", "warn", "fail"), 0)
    for finding in findings:
        counts[finding.level] += 1
    return counts
