"""briefing.md: what a person or an agent should know before going on with somebody's work.

`template` makes one of the log alone, without a model: the same snapshot gives the same text.
Every briefing, whoever wrote it, passes `validate` before it is kept.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest
from triseek.sessions.working_set import gather

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.sessions.snapshot_files import Snapshot
    from triseek.sessions.working_set import Trail, Work

HEADERS = (
    "## Goal", "## Current hypothesis", "## Established facts", "## Ruled out",
    "## Open questions", "## Next planned action",
)  # fmt: skip
BYTES_MAX = 6_000
"""A briefing is shorter than this."""
LINE_MAX = 240
"""Characters of a line of the template."""
FACTS_MAX, RULED_OUT_MAX = 24, 12

_CITATION = re.compile(r"\[action_log:([^\]\s]*)\]")
_CHANGED_MAX = 12
_NO_GOAL = "Continue the captured session."


def validate(text: str, entry_ids: Iterable[int]) -> None:
    """Check a briefing.

    Raises:
        InvalidRequest: A header is missing or out of order, it is too long, or it cites an entry
            that the log does not have.
    """
    if len(text.encode()) >= BYTES_MAX:
        raise _refused(f"briefing exceeds {BYTES_MAX} byte budget")
    lines = [line.rstrip() for line in text.splitlines()]
    found = [line for line in lines if line in HEADERS]
    missing = [header for header in HEADERS if header not in found]
    if missing:
        raise _refused(f"briefing missing required header {missing[0]}")
    if tuple(found) != HEADERS:
        raise _refused("briefing has its headers twice, or in another order")
    known = {str(number) for number in entry_ids}
    for cited in _CITATION.findall(text):
        if cited not in known:
            raise _refused(f"unknown action log citation {cited[:40]}")


def template(snapshot: Snapshot) -> str:
    """A briefing from the log alone; within the budget whatever the log holds."""
    work = gather(snapshot.entries)
    facts = [*_edited(work), *_found(work), *_read(work)][:FACTS_MAX]
    ruled_out = [*_reverted(work), *_nothing(work)][:RULED_OUT_MAX]
    while True:
        text = _text(snapshot, work, facts, ruled_out)
        if len(text.encode()) < BYTES_MAX:
            return text
        # The longer list gives way: its end is what matters least.
        (facts if len(facts) >= len(ruled_out) else ruled_out).pop()


def _text(snapshot: Snapshot, work: Work, facts: list[str], ruled_out: list[str]) -> str:
    sections = (
        [_goal(snapshot, work)],
        ["(none recorded: this briefing was made from the action log, without a model)"],
        facts or ["(none captured)"],
        ruled_out or ["(none identified)"],
        _open_questions(snapshot),
        [_next_action(work)],
    )
    pairs = zip(HEADERS, sections, strict=True)
    return "\n\n".join(header + "\n\n" + "\n".join(lines) for header, lines in pairs) + "\n"


def _edited(work: Work) -> list[str]:
    return [
        f"- Edited {_code(trail.path)}{_times(trail.edits)} [action_log:{trail.edited_id}]"
        for trail in work.files
        if trail.edits and not trail.reverted
    ]


def _found(work: Work) -> list[str]:
    facts = []
    for search in work.searches:
        run = search.run
        if run.matches == 0 or not run.result_paths:
            continue
        first = ", ".join(_code(path) for path in run.result_paths[:3])
        more = len(run.result_paths) - 3
        rest = f" and {more} more" if more > 0 else ""
        facts.append(f"- {_code(run.query)} is in {first}{rest} [action_log:{search.entry_id}]")
    return facts


def _read(work: Work) -> list[str]:
    often = sorted(work.files, key=lambda trail: (-trail.reads, -trail.entry_id))
    return [
        f"- Read {_code(trail.path)}{_lines(trail)}{_times(trail.reads)} "
        f"[action_log:{trail.entry_id}]"
        for trail in often
        if not trail.edits
    ]


def _reverted(work: Work) -> list[str]:
    return [
        f"- An edit of {_code(trail.path)} was taken back [action_log:{trail.edited_id}]"
        for trail in work.files
        if trail.reverted
    ]


def _nothing(work: Work) -> list[str]:
    return [
        f"- {_code(search.run.query)} ({search.run.kind}) finds nothing "
        f"[action_log:{search.entry_id}]"
        for search in work.dead_ends
    ]


def _open_questions(snapshot: Snapshot) -> list[str]:
    dirty = snapshot.git.dirty_files
    if not dirty:
        return ["- Is the goal met? Nothing was uncommitted when the snapshot was made."]
    named = ", ".join(_code(path) for path in dirty[:_CHANGED_MAX])
    rest = f" and {len(dirty) - _CHANGED_MAX} more" if len(dirty) > _CHANGED_MAX else ""
    return [f"- Are the uncommitted changes complete: {named}{rest}?"]


def _next_action(work: Work) -> str:
    edited = next((trail for trail in work.files if trail.edits and not trail.reverted), None)
    place = f"look at {_code(edited.path)} first" if edited else "look at the working set"
    return f"Review this payload, {place}, and check one fact with TriSeek before editing."


def _goal(snapshot: Snapshot, work: Work) -> str:
    """The session's goal, else the last prompt; on one line that is no header."""
    texts = [snapshot.manifest.goal, *(text for _, text in reversed(work.prompts))]
    return next(filter(None, (_clipped(text).lstrip("# ") for text in texts)), _NO_GOAL)


def _lines(trail: Trail) -> str:
    seen = trail.seen()
    return f" lines {seen.line_start}-{seen.line_end}" if seen.line_start else ""


def _times(count: int) -> str:
    return f" {count} times" if count > 1 else ""


def _code(text: str) -> str:
    return f"`{_clipped(text, 100)}`"


def _clipped(text: str, most: int = LINE_MAX) -> str:
    """One line without backticks or citations, as it goes between others."""
    plain = " ".join(_CITATION.sub("", text).replace("`", "'").split())
    plain = "".join(char for char in plain if char.isprintable())
    return plain if len(plain) <= most else plain[: most - 1] + "…"


def _refused(what: str) -> InvalidRequest:
    return InvalidRequest(what, next_step="Nothing was written; the briefing has to be mended.")
