"""What an agent that goes on with somebody's work is given to read, within a budget.

What matters most comes first: the goal, the briefing, what has changed in the repository since,
the pinned lines, the files and searches. Each part takes what is left of the budget, line by line,
so nothing is ever cut inside a line.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, NamedTuple

from triseek.sessions import brief

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from triseek.model.snapshot import Pin
    from triseek.sessions.snapshot_files import Snapshot

BUDGET, BUDGET_MIN, BUDGET_MAX = 3_000, 256, 12_000
"""Tokens of a payload, each taken as four bytes."""
BYTES_PER_TOKEN = 4
CUT = "[truncated to hydration budget]"
TITLE = "# TriSeek Hydration Payload"

_GOAL_MAX = 1_200
_FILES_MAX, _SEARCHES_MAX, _STALE_MAX = 40, 40, 40
_FENCE = re.compile(r"`{3,}")


class Stale(NamedTuple):
    """A file that is no longer what the snapshot knew."""

    path: str
    reason: str
    """changed, missing, unreadable."""


class Since(NamedTuple):
    """What has become of the repository since the snapshot."""

    commit: str | None
    branch: str | None
    dirty: Sequence[str]
    commits: int | None
    """Commits since the snapshot's; None if that cannot be told."""
    other_place: str = ""
    """Where the repository is now, if it is elsewhere than it was."""
    same_history: bool | None = None
    """Whether it is the same repository by its history; None if that cannot be told."""


def tokens(text: str) -> int:
    """What a text is reckoned to take."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def payload(
    snapshot: Snapshot, since: Since, stale: Sequence[Stale], budget_tokens: int = BUDGET
) -> str:
    """The text, in Markdown.

    Args:
        snapshot: What was done.
        since: What has become of the repository.
        stale: Files that are not as they were.
        budget_tokens: Most tokens; taken as the nearest of 256 to 12,000.
    """
    budget = min(max(budget_tokens, BUDGET_MIN), BUDGET_MAX) * BYTES_PER_TOKEN
    taken = list(_head(snapshot))
    room = budget - _size(taken) - _size(["", CUT])
    goal = _goal(snapshot, room)
    taken += goal
    room -= _size(goal)
    whole = True
    for part in (
        _briefing(snapshot),
        _since(snapshot, since),
        _stale(stale),
        *_snippets(snapshot),
        _files(snapshot, stale),
        _searches(snapshot),
    ):
        some = _fitting(part, room)
        whole = whole and len(some) == len(part.lines)
        if some:
            added = ["", *part.title, *some, *part.end]
            taken += added
            room -= _size(added)
    if not whole:
        taken += ["", CUT]
    return "\n".join(taken) + "\n"


class _Part(NamedTuple):
    title: list[str]
    lines: list[str]
    end: list[str]
    divisible: bool = True


def _fitting(part: _Part, room: int) -> list[str]:
    """The first lines of a part that fit; none if the part must be whole and does not."""
    room -= _size(["", *part.title, *part.end])
    some = []
    for line in part.lines:
        room -= _size([line])
        if room < 0:
            break
        some.append(line)
    return some if part.divisible or len(some) == len(part.lines) else []


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _head(snapshot: Snapshot) -> Iterator[str]:
    manifest = snapshot.manifest
    yield TITLE
    yield ""
    yield f"- snapshot_id: {manifest.snapshot_id}"
    yield f"- session_id: {manifest.session_id}"
    yield f"- repo_root: {_one_line(manifest.repo_root, 120)}"
    yield f"- created_at: {_date(manifest.created_at)}"
    if manifest.source_harness:
        model = f" ({_one_line(manifest.source_model, 60)})" if manifest.source_model else ""
        yield f"- from: {_one_line(manifest.source_harness, 40)}{model}"


def _goal(snapshot: Snapshot, room: int) -> list[str]:
    title = ["", "## Goal", ""]
    room = min(_GOAL_MAX, room - _size(title) - 1)
    goal = _one_line(snapshot.manifest.goal, room) if room > 0 else ""
    return [*title, goal] if goal else []


def _briefing(snapshot: Snapshot) -> _Part:
    """The briefing below one header of ours; one made of the log alone where none was written."""
    text = snapshot.briefing or brief.template(snapshot)
    sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    kept = [
        section
        for section in sections
        if not (snapshot.manifest.goal and section.startswith(brief.HEADERS[0]))
    ]
    lines = "".join(kept).strip().splitlines()
    return _Part(
        ["## Briefing", ""], [f"#{line}" if line.startswith("#") else line for line in lines], []
    )


def _since(snapshot: Snapshot, since: Since) -> _Part:
    manifest = snapshot.manifest
    lines = []
    if since.same_history is False:
        lines.append("- **another repository**: its history is not that of the snapshot")
    if since.other_place:
        lines.append(f"- the repository is now in {_one_line(since.other_place, 120)}")
    if since.commit != manifest.repo_commit:
        count = "" if since.commits is None else f", {since.commits} commits later"
        before, now = _commit(manifest.repo_commit), _commit(since.commit)
        lines.append(f"- commit: {before} at the snapshot, {now} now{count}")
    if since.branch != manifest.repo_branch:
        before, now = manifest.repo_branch or "(none)", since.branch or "(none)"
        lines.append(f"- branch: {_one_line(before, 80)} at the snapshot, {_one_line(now, 80)} now")
    known = set(manifest.repo_dirty_files)
    lines += [f"- newly uncommitted: {_code(path)}" for path in since.dirty if path not in known]
    now_dirty = set(since.dirty)
    for path in manifest.repo_dirty_files:
        state = "still uncommitted" if path in now_dirty else "no longer uncommitted"
        changed = snapshot.git.hunk_summary.get(path)
        then = f" ({changed} lines changed then)" if changed else ""
        lines.append(f"- {state}: {_code(path)}{then}")
    return _Part(["## Repository since the snapshot", ""], lines or ["- unchanged"], [])


def _stale(stale: Sequence[Stale]) -> _Part:
    lines = [f"- {_code(one.path)}: {one.reason}" for one in stale[:_STALE_MAX]]
    return _Part(["## Changed since they were read (read these again)", ""], lines, [])


def _snippets(snapshot: Snapshot) -> Iterator[_Part]:
    for number, pin in enumerate(snapshot.pins):
        title = ["## Pinned Snippets", ""] if number == 0 else []
        yield _snippet(pin, snapshot.snippets[pin.sha], title)


def _snippet(pin: Pin, text: str, title: list[str]) -> _Part:
    longest = max((len(fence) for fence in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    where = f"### {_one_line(pin.path, 200)}:{pin.line_start}-{pin.line_end}"
    return _Part([*title, where, "", f"{fence}text"], text.split("\n"), [fence], divisible=False)


def _files(snapshot: Snapshot, stale: Sequence[Stale]) -> _Part:
    gone = {one.path for one in stale}
    lines = []
    for seen in snapshot.working_set.files_read[:_FILES_MAX]:
        where = f":{seen.line_start}-{seen.line_end}" if seen.line_start else ""
        sha = f" ({seen.sha[:12]})" if seen.sha else ""
        edited = ", edited" if seen.edits else ""
        mark = ", changed since" if seen.path in gone else ""
        lines.append(f"- {_one_line(seen.path, 200)}{where}{sha}{edited}{mark}")
    return _Part(["## Working Set", ""], lines, [])


def _searches(snapshot: Snapshot) -> _Part:
    lines = []
    for run in snapshot.working_set.searches_run[:_SEARCHES_MAX]:
        found = ", ".join(_one_line(path, 120) for path in run.result_paths[:4])
        told = found or ("nothing" if run.matches == 0 else "(not recorded)")
        name, kind = _one_line(run.search_id, 60), _one_line(run.kind, 20)
        lines.append(f"- [{name}] {kind}: {_code(run.query)} -> {told}")
    return _Part(["## Searches", ""], lines, [])


def _commit(name: str | None) -> str:
    return name[:12] if name else "(none)"


def _date(at: int) -> str:
    try:
        return dt.datetime.fromtimestamp(at, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return str(at)


def _code(text: str) -> str:
    return "`" + _one_line(text, 120).replace("`", "'") + "`"


def _one_line(text: str, most: int) -> str:
    """A text without line ends and control characters, of at most so many bytes."""
    plain = "".join(char for char in " ".join(text.split()) if char.isprintable())
    if len(plain.encode()) <= most:
        return plain
    return plain.encode()[: max(0, most - 3)].decode("utf-8", "ignore") + "…"
