"""The answers as text: lines for a terminal or an agent, from untrusted parts."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from triseek.history.commands_run import only_looks
from triseek.history.synthesis.draft import one_line
from triseek.model.plain_text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.history.answers.blame import Change
    from triseek.history.answers.conversation_ref import ConversationRef
    from triseek.history.answers.fix import Fix, FixAnswer
    from triseek.history.answers.friction import RecurringError
    from triseek.history.answers.how import HowAnswer, Variant
    from triseek.history.answers.later_events import Resolution
    from triseek.model.freshness import Freshness

_LINE = 200


def fix_text(answer: FixAnswer) -> str:
    """Return the lines of a `fix` answer, without a newline at the end."""
    if not answer.fixes:
        return f"No conversation has met this error: {_line(answer.error)}"
    kind = "This error" if answer.is_exact else "A similar error"
    count = answer.occurrences
    lines = [f"{kind} occurred in {count} {plural(count, 'conversation')}."]
    for fix in answer.fixes:
        lines += ["", *_fix_lines(fix, shows_error=True)]
    return "\n".join(lines)


def how_text(answer: HowAnswer) -> str:
    """Return the lines of a `how` answer, without a newline at the end."""
    if not answer.variants:
        if only_looks(answer.program):
            return f"{_line(answer.program)} only looks: runs of it are not kept for `how`."
        return f"No conversation has run {_line(answer.program)}."
    count = answer.runs
    lines = [f"{_line(answer.program)}: {count} {plural(count, 'run')}."]
    several = len({variant.conversation.project for variant in answer.variants}) > 1
    for variant in answer.variants:
        lines += ["", *_variant_lines(variant, names_project=several)]
    return "\n".join(lines)


def blame_text(path: str, changes: Sequence[Change]) -> str:
    """Return the lines of a `blame` answer, without a newline at the end."""
    if not changes:
        return f"No conversation has changed {_line(path)}."
    lines = []
    for change in changes:
        counts = f"(+{change.added}/−{change.removed}){_flag(change.freshness)}"
        lines.append(f"{_day(change.time_ms)} {_line(change.path)} {counts}")
        lines += [f"  defines: {_line(', '.join(change.symbols[:4]))}"] if change.symbols else []
        lines += [f"  asked: {_line(change.prompt)}"] if change.prompt else []
        lines += [f"  commit: {_line(change.reason)}"] if change.reason else []
        lines.append(f"  {_where(change.conversation)}")
    return "\n".join(lines)


def friction_text(errors: Sequence[RecurringError]) -> str:
    """Return the lines of a `friction` answer, without a newline at the end."""
    if not errors:
        return "No error came again."
    lines = []
    for error in errors:
        count, sessions = error.count, error.sessions
        lines.append(
            f"×{count} in {sessions} {plural(sessions, 'conversation')}, last"
            f" {_day(error.last_ms)}: {_line(error.error)}"
        )
        if error.fix is None:
            lines.append(f"  never passed again; last in {_where(error.conversation)}")
        else:
            lines += [f"  {line}" for line in _fix_lines(error.fix, shows_error=False)]
    return "\n".join(lines)


def _fix_lines(fix: Fix, *, shows_error: bool) -> Iterator[str]:
    if shows_error:
        yield f"{_day(fix.time_ms)} {_line(fix.error)}"
    if fix.resolution is None:
        yield "  did not go away"
    else:
        yield from _resolution_lines(fix.resolution)
    yield f"  {_where(fix.conversation)}"


def _resolution_lines(resolution: Resolution) -> Iterator[str]:
    yield f"  failed: {_line(resolution.failed_command)}"
    for file in resolution.files:
        yield f"  edited: {_line(file.path)} +{file.added}/−{file.removed}"
    for command in resolution.commands:
        yield f"  ran: {_line(command)}"
    ending = "passed" if resolution.passes else "another error"
    yield f"  {ending}: {_line(resolution.passed_command)}{_flag(resolution.freshness)}"


def _variant_lines(variant: Variant, *, names_project: bool) -> Iterator[str]:
    known = variant.passed + variant.failed
    rate = f"{variant.passed} of {known} passed" if known else "outcome unknown"
    took = f", {variant.median_ms / 1000:.1f} s" if variant.median_ms else ""
    yield f"{_line(variant.text)}{_flag(variant.freshness)}"
    project = variant.conversation.project if names_project else ""
    places = " of ".join(_line(place) for place in (variant.folder, project) if place)
    where = f" in {places}" if places else ""
    yield f"  {variant.runs} {plural(variant.runs, 'run')}{where}: {rate}{took}"
    if " ".join(variant.as_typed.split()) != variant.text:
        yield f"  as typed: {_line(variant.as_typed)}"
    yield f"  last {_day(variant.last_ms)}, {_where(variant.conversation)}"


def _where(of_session: ConversationRef) -> str:
    title = f" “{one_line(of_session.title, 60)}”" if of_session.title else ""
    return f"{_line(of_session.agent)} {_line(of_session.external_id)}{title}"


def _flag(freshness: Freshness | None) -> str:
    return f" [{freshness}]" if freshness is not None else ""


def _line(text: str) -> str:
    return one_line(text, _LINE)


def _day(time_ms: int) -> str:
    """Return a time as a day in UTC; `unknown day` for times out of range."""
    try:
        return f"{dt.datetime.fromtimestamp(time_ms / 1000, dt.UTC):%Y-%m-%d}"
    except (ValueError, OverflowError, OSError):
        return "unknown day"
