"""Rule: edits that follow each other closely are one change; names say what kind it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.history.synthesis.draft import TITLE_MAX, Draft, DraftEvidence, facts_of, one_line
from triseek.history.synthesis.edit_shape import shapes_of
from triseek.history.synthesis.prompts import asks_rework, reports_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.history.synthesis.draft import ObservationType
    from triseek.history.synthesis.edit_shape import FileShape
    from triseek.history.synthesis.session_events import SessionEvent, SessionView

RULE = "edits"
GAP_MS = 600_000
"""Edits further apart than this belong to different bursts."""
FEATURE_LINES = 10
"""Lines that an addition to existing files needs in order to be a feature."""
MOVED_SHARE = 2
"""Lines added for each that is removed up to which new files are taken for moved code."""


def edit_bursts(view: SessionView, covered: set[int]) -> list[Draft]:
    """Return a draft for each burst of edits.

    covered: The ids of events whose edits other drafts cover.
    """
    known = _known(view)
    bursts = _bursts([event for event in view.events if event.edits and event.id not in covered])
    return [_draft(view, burst, known) for burst in bursts]


def _known(view: SessionView) -> frozenset[str]:
    """Return the paths that were read before their first edit, so that they are not new."""
    known: set[str] = set()
    edited: set[str] = set()
    for event in view.events:
        known.update(use.path for use in event.reads if use.path not in edited)
        edited.update(use.path for use in event.edits)
    return frozenset(known)


def _bursts(events: list[SessionEvent]) -> Iterator[list[SessionEvent]]:
    burst: list[SessionEvent] = []
    for event in events:
        if burst and (
            event.prompt != burst[-1].prompt or event.time_ms - burst[-1].time_ms > GAP_MS
        ):
            yield burst
            burst = []
        burst.append(event)
    if burst:
        yield burst


def _draft(view: SessionView, burst: list[SessionEvent], known: frozenset[str]) -> Draft:
    uses = [use for event in burst for use in event.edits]
    shapes = shapes_of(uses, known)
    renamed = _renamed(shapes)
    kind = _kind(view, burst, shapes, renamed)
    return Draft(
        rule=RULE, type=kind, title=one_line(_title(shapes, renamed), TITLE_MAX),
        facts=facts_of(shape.fact() for shape in shapes), concepts=("what-changed",),
        evidence=DraftEvidence(events=tuple(burst), files=tuple(uses)), prompt=burst[-1].prompt,
        time_ms=burst[-1].time_ms, value=2.0 + min(len(burst), 10) / 20,
    )  # fmt: skip


def _renamed(shapes: list[FileShape]) -> tuple[str, str] | None:
    """Return the old and the new name if just one definition was replaced by one other."""
    lost = {name for shape in shapes for name in shape.lost_names}
    new = {name for shape in shapes for name in shape.new_names}
    if len(lost) != 1 or len(new) != 1 or lost == new:
        return None
    changed = [shape for shape in shapes if not shape.is_new]
    is_even = all(abs(shape.added - shape.removed) <= 1 for shape in changed)
    return (lost.pop(), new.pop()) if is_even and len(changed) == len(shapes) else None


def _kind(
    view: SessionView,
    burst: list[SessionEvent],
    shapes: list[FileShape],
    renamed: tuple[str, str] | None,
) -> ObservationType:
    source = [shape for shape in shapes if not shape.is_test]
    lost = {name for shape in source for name in shape.lost_names}
    new = {name for shape in source for name in shape.new_names}
    is_moved = bool(lost) and lost <= new
    # Moved: lost in one file and new in another, so no name is new to the whole.
    if (renamed or is_moved) and not _fails(view, burst) and len(source) == len(shapes):
        return "refactor"
    number = burst[-1].prompt
    if reports_problem(view, number) or asks_rework(view, number):
        return "change"
    code = [shape for shape in shapes if shape.is_source and not shape.path.startswith("/")]
    added, removed = (sum(getattr(shape, side) for shape in code) for side in ("added", "removed"))
    # A helper that replaces lines is as often a refactoring or a fix as a feature.
    is_added = bool(new) and not removed and added >= FEATURE_LINES
    is_new = any(shape.is_new and shape.touched for shape in code)
    return "feature" if is_added or (is_new and added > MOVED_SHARE * removed) else "change"


def _fails(view: SessionView, burst: list[SessionEvent]) -> bool:
    """Whether the last test of the prompt after the burst failed."""
    after = [
        event for event in view.events
        if event.prompt == burst[-1].prompt and event.id > burst[0].id
        and event.run is not None and event.run.is_check
    ]  # fmt: skip
    return bool(after) and after[-1].outcome == "failed"


def _title(shapes: list[FileShape], renamed: tuple[str, str] | None) -> str:
    if renamed:
        files = f"{len(shapes)} files" if len(shapes) > 1 else shapes[0].path
        return f"Renamed {renamed[0]} → {renamed[1]} in {files}"
    best = max(shapes, key=_weight)
    more = f" and {len(shapes) - 1} more" if len(shapes) > 1 else ""
    if best.is_new:
        names = f" ({len(best.touched)} symbols)" if len(best.touched) > 1 else ""
        return f"Added {best.path}{names}{more}"
    names = f"{', '.join(best.touched[:3])} in " if best.touched else ""
    return f"Edited {names}{best.path} ({best.counts}){more}"


def _weight(shape: FileShape) -> tuple[bool, bool, bool, int]:
    """Return by what the file is chosen that the title names: the project's code first."""
    is_own = not shape.path.startswith("/")
    return shape.is_source, is_own, bool(shape.touched), shape.added + shape.removed
