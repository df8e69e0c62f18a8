"""All rules in order, and which of their drafts are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.history.synthesis import commits, fixes
from triseek.history.synthesis.dead_ends import dead_ends
from triseek.history.synthesis.edit_bursts import edit_bursts
from triseek.history.synthesis.explored import explored
from triseek.history.synthesis.manifests import is_manifest, manifests
from triseek.history.synthesis.measured import measured
from triseek.history.synthesis.repeated_errors import repeated_errors

if TYPE_CHECKING:
    from triseek.history.synthesis.draft import Draft
    from triseek.history.synthesis.session_events import SessionView

PROMPT_MAX = 12
"""Observations of one prompt."""


def drafts_of(view: SessionView) -> list[Draft]:
    """Return the observations that a session's events amount to, in order of time."""
    fixed = fixes.fixes(view)
    reverted = dead_ends(view)
    of_commits = commits.commits(view)
    covered = fixes.covered_edits(fixed) | fixes.covered_edits(reverted)
    covered |= _only_manifests(view) | _committed(view, of_commits)
    failed = {event.id for draft in fixed for event in draft.evidence.events}
    drafts = [
        *of_commits, *fixed, *reverted, *edit_bursts(view, covered), *manifests(view),
        *repeated_errors(view, failed), *explored(view), *measured(view),
    ]  # fmt: skip
    return _kept(view, _distinct(view, drafts))


def _only_manifests(view: SessionView) -> set[int]:
    """Return the events that edit nothing but manifests, which have a rule of their own."""
    return {
        event.id for event in view.events
        if event.edits and all(is_manifest(use.path) for use in event.edits)
    }  # fmt: skip


def _committed(view: SessionView, drafts: list[Draft]) -> set[int]:
    """Return the events whose edits a later commit of the same prompt tells."""
    ends: dict[int, int] = {}
    for draft in drafts:
        event = draft.evidence.events[0]
        ends[event.prompt] = max(ends.get(event.prompt, 0), event.id)
    return {
        event.id for event in view.events if event.edits and event.id < ends.get(event.prompt, 0)
    }


def _distinct(view: SessionView, drafts: list[Draft]) -> list[Draft]:
    """Return the drafts without those that rest on the same events by the same rule."""
    return list({draft.row_hash(view): draft for draft in drafts}.values())


def _kept(view: SessionView, drafts: list[Draft]) -> list[Draft]:
    """Return the drafts of the highest value of each prompt, in order of time."""
    by_prompt: dict[int, list[Draft]] = {}
    for draft in drafts:
        by_prompt.setdefault(draft.prompt, []).append(draft)
    kept = [
        draft
        for group in by_prompt.values()
        for draft in sorted(group, key=lambda one: (-one.value, one.row_hash(view)))[:PROMPT_MAX]
    ]
    return sorted(kept, key=lambda one: (one.prompt, one.time_ms, one.rule, one.row_hash(view)))
