"""Rule: an error that a session met twice or more, and that no edits fixed, is worth knowing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.history.synthesis.draft import TITLE_MAX, Draft, DraftEvidence, facts_of, one_line

if TYPE_CHECKING:
    from triseek.history.synthesis.session_events import SessionView

RULE = "repeated-error"
COMMANDS_MAX = 5


def repeated_errors(view: SessionView, covered: set[int]) -> list[Draft]:
    """Return a draft for each error that occurred at least twice.

    covered: The ids of events that drafts of fixed checks rest on: their errors are left out.
    """
    by_error: dict[str, list[int]] = {}
    solved = {event.error.key for event in view.events if event.id in covered and event.error.key}
    for at, event in enumerate(view.events):
        if event.error.key and event.error.key not in solved:
            by_error.setdefault(event.error.key, []).append(at)
    return [_draft(view, places) for places in by_error.values() if len(places) > 1]


def _draft(view: SessionView, places: list[int]) -> Draft:
    failures = [view.events[at] for at in places]
    last = failures[-1]
    passed = _pass_after(view, places[-1])
    between = [] if passed is None else list(view.between(places[-1], passed))
    commands = [event.run.text for event in between if event.run and event.outcome != "failed"]
    program = last.run.program if last.run else last.command.split(None, 1)[0]
    facts = [f"{program} failed ×{len(failures)}: {last.error.line}"]
    if passed is not None:
        facts += [f"then ran: {command}" for command in commands[-COMMANDS_MAX:]]
        again = view.events[passed].run
        facts.append(f"passed again: {again.text if again else program}")
    else:
        facts.append("not resolved in this session")
    return Draft(
        rule=RULE, type="discovery", title=one_line(f"{program}: {last.error.line}", TITLE_MAX),
        facts=facts_of(facts), concepts=("gotcha",),
        evidence=DraftEvidence(
            events=tuple(failures + ([view.events[passed]] if passed is not None else [])),
            is_resolved=passed is not None,
        ),
        prompt=last.prompt, time_ms=last.time_ms, value=1.0 + 0.1 * min(len(failures), 10),
    )  # fmt: skip


def _pass_after(view: SessionView, at: int) -> int | None:
    """Return the position of the next pass of the same program; None if there is none."""
    failed = view.events[at].run
    if failed is None:
        return None
    for later in range(at + 1, len(view.events)):
        event = view.events[later]
        if event.run and event.outcome == "passed" and event.run.covers(failed):
            return later
    return None
