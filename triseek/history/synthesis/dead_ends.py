"""Rule: edits of the session that were taken back are a dead end.

They are taken back by git (`restore`, `checkout -- FILE`, `reset --hard`, `stash` without `pop`,
`revert` of the session's own commit), or by an edit that puts back the text that was there before.
Edits that are made again afterwards are not: agents take a fix back to see a test fail without it.
Nor is a line that is put back, such as an import that was still needed, or prints that were there
to look for a fault. Nor what is taken back in order to be committed apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from triseek.history.synthesis.commits import commit_of
from triseek.history.synthesis.draft import TITLE_MAX, Draft, DraftEvidence, facts_of, one_line
from triseek.history.synthesis.edit_shape import shapes_of
from triseek.history.synthesis.prompts import asks_commit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.history.commands_run import Run
    from triseek.history.synthesis.edit_shape import FileShape
    from triseek.history.synthesis.session_events import EventFile, SessionEvent, SessionView

RULE = "dead-end"
SLIP_LINES = 2
"""Lines, added and removed, of an edit that is too small to be an attempt."""
_PRINT = re.compile(r"DEBUG|\bdbg!|\be?print(?:ln|f)?\b|\bFprint|\bconsole\.\w+\(|\bt\.Logf?\(")


@dataclass(frozen=True, slots=True)
class _Edit:
    at: int
    event: SessionEvent
    use: EventFile


def dead_ends(view: SessionView) -> list[Draft]:
    """Return a draft for each event that took edits back for good."""
    drafts: list[Draft] = []
    standing: list[_Edit] = []
    """Edits that are neither committed nor taken back."""
    committed: list[_Edit] = []
    for at, event in enumerate(view.events):
        taken: list[_Edit] = []
        if (event.outcome != "failed" and not event.failed) or not event.command:
            taken = list(_taken_back(view, at, event, standing, committed))
        if taken:
            standing = [edit for edit in standing if edit not in taken]
            drafts += _draft(view, at, taken)
        # What puts the old text back is no edit that could be taken back in turn.
        restored = {edit.use.path for edit in taken}
        standing += [_Edit(at, event, use) for use in event.edits if use.path not in restored]
        if event.command and commit_of(event) is not None:
            committed, standing = standing, []
    return drafts


def _taken_back(
    view: SessionView,
    at: int,
    event: SessionEvent,
    standing: list[_Edit],
    committed: list[_Edit],
) -> Iterator[_Edit]:
    """Yield the edits that an event takes back."""
    for run in event.runs:
        if _may_have_failed(event, run):
            continue
        if run.program == "git revert" and "--abort" not in run.text and event.outcome == "passed":
            yield from committed
        elif _reverts_all(run) and not _is_popped(view, at, run):
            yield from standing
        elif _reverts_files(run):
            yield from (edit for edit in standing if _names(run, edit.use.path))
    for use in event.edits:
        yield from _put_back(use, standing)


def _may_have_failed(event: SessionEvent, run: Run) -> bool:
    """Whether a command goes on if git takes nothing back: `git checkout FILE || echo none`."""
    pattern = rf"{re.escape(run.program)}\b[^|;&\n]*\|\|"
    return run.is_filtered and re.search(pattern, event.command) is not None


def _put_back(use: EventFile, standing: list[_Edit]) -> list[_Edit]:
    """Return the edits of a file that the next edit of it undoes: all since the text was so."""
    if not use.is_whole or use.before == use.after:
        return []
    own = [edit for edit in standing if edit.use.path == use.path]
    for edit in own:
        if not edit.use.is_whole or edit.use.before != use.after:
            continue
        later = own[own.index(edit) :]
        if later[-1].use.after == use.before and edit.use.before:
            return later
    return []


def _reverts_all(run: Run) -> bool:
    if run.program == "git reset":
        return "--hard" in run.text
    if run.program == "git stash":
        return re.fullmatch(r"git stash(?: (?:push|save|-u|--include-untracked|-m|--message)\b.*)?", run.text) is not None  # fmt: skip  # noqa: E501
    if run.program in ("git checkout", "git restore"):
        return "--staged" not in run.text and "." in run.operands
    return False


def _reverts_files(run: Run) -> bool:
    if run.program == "git restore":
        return "--staged" not in run.text or "--worktree" in run.text
    return run.program == "git checkout" and not re.search(
        r" (?:-b|-B|--orphan|--ours|--theirs)\b", run.text
    )


def _names(run: Run, path: str) -> bool:
    """Whether a command names a file, or a folder that it is in."""
    return any(
        path == name or path.endswith("/" + name) or name.endswith("/" + path)
        or (name.endswith("/") and path.startswith(name))
        for name in (operand.removeprefix("./") for operand in run.operands)
    )  # fmt: skip


def _is_popped(view: SessionView, at: int, run: Run) -> bool:
    """Whether a stash comes back later in the session, or in the same command."""
    if run.program != "git stash":
        return False
    return any(
        other.text.startswith(("git stash pop", "git stash apply"))
        for event in view.events[at:]
        for other in event.runs
    )


def _draft(view: SessionView, at: int, taken: list[_Edit]) -> Iterator[Draft]:
    event = view.events[at]
    kept = [edit for edit in taken if not _is_made_again(view, at, edit.use)]
    if not kept or asks_commit(view, event.prompt):
        return
    uses = [edit.use for edit in kept]
    shapes = shapes_of(uses)
    if _is_slip(shapes) or all(_only_prints(use) for use in uses):
        return
    best = max(shapes, key=lambda shape: shape.added + shape.removed)
    names = f"{', '.join(best.touched[:3])} in " if best.touched else ""
    more = f" and {len(shapes) - 1} more" if len(shapes) > 1 else ""
    first = min(edit.at for edit in kept)
    errors = [one.error.line for one in view.events[first:at] if one.error.line]
    how = event.run.text if event.run else f"{event.name} put the old text back"
    facts = [f"reverted: {shape.fact()}" for shape in shapes] + [f"by: {how}"]
    facts += [f"error before: {errors[-1]}"] if errors else []
    yield Draft(
        rule=RULE, type="discovery",
        title=one_line(f"Dead end: reverted {names}{best.path}{more}", TITLE_MAX),
        facts=facts_of(facts), concepts=("gotcha",),
        evidence=DraftEvidence(events=(*(edit.event for edit in kept), event), files=_before(uses)),
        prompt=event.prompt, time_ms=event.time_ms, value=2.5, is_dead_end=True,
    )  # fmt: skip


def _is_slip(shapes: list[FileShape]) -> bool:
    """Whether what was put back is a line at most, and no definition."""
    lines = sum(shape.added + shape.removed for shape in shapes)
    return lines <= SLIP_LINES and not any(shape.touched for shape in shapes)


def _only_prints(use: EventFile) -> bool:
    """Whether all lines that an edit adds print something, or are empty."""
    before = set(use.before.splitlines())
    added = [line for line in use.after.splitlines() if line not in before]
    return all(_PRINT.search(line) or not line.strip() for line in added) and bool(added)


def _is_made_again(view: SessionView, at: int, use: EventFile) -> bool:
    return any(
        again.path == use.path and again.after == use.after and again.before == use.before
        for event in view.events[at + 1 :]
        for again in event.edits
    )


def _before(uses: list[EventFile]) -> tuple[EventFile, ...]:
    """Return the uses as they are after the edits were taken back: the old text stands again."""
    return tuple(replace(use, before="", after=use.before) for use in uses)
