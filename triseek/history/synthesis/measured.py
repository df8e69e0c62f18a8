"""Rule: what a benchmark printed is kept: lines with a name, a number and a unit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from triseek.history.errors import plain
from triseek.history.synthesis.draft import TITLE_MAX, Draft, DraftEvidence, facts_of, one_line

if TYPE_CHECKING:
    from triseek.history.synthesis.session_events import SessionEvent, SessionView

RULE = "measured"
VALUES_MAX = 8
LONG_MS = 60_000
"""A command that takes longer is examined, too, whatever its name is."""

_UNIT = r"(?:ns|[uµμ]s|ms|s|sec|seconds|min|[KMG]i?B(?:/s)?|bytes|B/op|allocs/op|ns/op|%|ops/s(?:ec)?|req/s(?:ec)?|requests/sec|it/s|rows/s|/s|fps|x|×)"  # noqa: E501
_VALUE = re.compile(
    rf"^[ \t|]*(?P<name>[A-Za-z][\w ./()@:-]{{0,59}}?)[ \t]*(?:[:=|]|[ \t]{{2,}}|\t|[ ](?=\d))[ \t]*"  # noqa: E501
    rf"(?P<value>[\d][\d.,_]*)[ \t]*(?P<unit>{_UNIT})(?![\w/])",
    re.MULTILINE,
)
_NO_NAME = re.compile(
    r"(?:\b(?:in|after|within|its|first|for|took|objects|files|deltas|\d+m)|\s-\w.*)$",
    re.IGNORECASE,
)
"""Ends of sentences (`Finished in 3 s`), progress of git, and commands that a shell has timed."""


def measured(view: SessionView) -> list[Draft]:
    """Return a draft for each benchmark that printed figures."""
    drafts = []
    for event in view.events:
        run = event.run
        is_long = event.ended_ms - event.time_ms > LONG_MS and event.time_ms > 0
        if run is None or event.outcome == "failed" or run.is_test:
            continue
        if run.is_bench or is_long:
            values = values_of(event.output)
            if values:
                drafts.append(_draft(event, run.text, values))
    return drafts


def values_of(output: str) -> dict[str, str]:
    """Return the figures that an output names, with their units; at most `VALUES_MAX`."""
    values: dict[str, str] = {}
    for match in _VALUE.finditer(plain(output)):
        name = match["name"].strip(" :(")
        if not _NO_NAME.search(name):
            values.setdefault(name, match["value"] + " " + match["unit"])
        if len(values) == VALUES_MAX:
            break
    return values


def _draft(event: SessionEvent, command: str, values: dict[str, str]) -> Draft:
    shown = ", ".join(f"{name}={value}" for name, value in list(values.items())[:3])
    return Draft(
        rule=RULE, type="discovery",
        title=one_line(f"Measured {one_line(command, 60)}: {shown}", TITLE_MAX),
        facts=facts_of([f"{name}: {value}" for name, value in values.items()] + [command]),
        evidence=DraftEvidence(events=(event,)), prompt=event.prompt,
        time_ms=event.time_ms, value=1.5,
    )  # fmt: skip
