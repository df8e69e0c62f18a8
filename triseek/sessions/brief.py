"""briefing.md: what a person or an agent should know before continuing somebody's work.

`template` makes a briefing from the log alone, without a model: the same snapshot gives the same
text. `tidied` makes one from a model's answer, as far as possible. Every briefing, whoever wrote
it, must pass `validate` before it is stored.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest
from triseek.sessions import prompts
from triseek.sessions.working_set import gather

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triseek.sessions.snapshot_files import Snapshot
    from triseek.sessions.working_set import LoggedSearch, Trail, WorkDone

HEADERS = (
    "## Goal", "## Current hypothesis", "## Established facts", "## Ruled out",
    "## Open questions", "## Next planned action",
)  # fmt: skip
BYTES_MAX = 6_000
"""A briefing is shorter than this."""
FACTS_MAX, RULED_OUT_MAX = 24, 12

_CITATION = re.compile(r"\[action_log:([^\]\s]*)\]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, changes of text direction, surrogates; not tabs and line ends."""
_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_GOAL_MAX, _CODE_MAX, _PROMPT_MAX = 480, 200, 240
"""Bytes of a goal, of a code span, and of the last prompt."""
_CHANGED_MAX = 12
_NO_GOAL = "Continue the captured session."


def validate(text: str, entry_ids: Iterable[int]) -> None:
    """Check a briefing.

    Raises:
        InvalidRequest: A header is missing or out of order, it is too long, it cites an entry
            that the log does not have, or it is not plain text.
    """
    if len(text.encode(errors="replace")) >= BYTES_MAX:
        raise _refused(f"briefing exceeds {BYTES_MAX} byte budget")
    if _CONTROL.search(text):
        raise _refused("briefing holds control characters")
    headers = [line.rstrip() for line in text.splitlines() if line.rstrip() in HEADERS]
    missing = [header for header in HEADERS if header not in headers]
    if missing:
        raise _refused(f"briefing missing required header {missing[0]}")
    if tuple(headers) != HEADERS:
        raise _refused("briefing has its headers twice, or in another order")
    valid = {str(number) for number in entry_ids}
    for cited in _CITATION.findall(text):
        if cited not in valid:
            raise _refused(f"unknown action log citation {cited[:40]}")


def template(snapshot: Snapshot) -> str:
    """Make a briefing from the log alone; it is within the budget whatever the log holds."""
    work = gather(snapshot.entries)
    facts = _ranked(
        [
            f"- Edited {_code(trail.path)}{_times(trail.edits)} [action_log:{trail.edited_id}]"
            for trail in work.files
            if trail.edits and not trail.reverted
        ],
        _found(work),
        _read(work),
    )
    reverted = [
        f"- An edit of {_code(trail.path)} was taken back [action_log:{trail.edited_id}]"
        for trail in work.files
        if trail.reverted
    ]
    failed = [
        f"- {_code(run.text)} failed [action_log:{run.entry_id}]"
        for run in work.commands
        if run.failed and not run.is_check and not run.only_looks
    ]
    ruled_out = [*reverted, *failed, *_nothing(work)][:RULED_OUT_MAX]
    dirty = list(snapshot.git.dirty_files[:_CHANGED_MAX])
    while True:
        text = _text(snapshot, work, facts, ruled_out, dirty)
        if len(text.encode()) < BYTES_MAX:
            return text
        # Shorten the longest list: its end matters least. Without any of the lists, the text is
        # under 2,000 bytes.
        max(dirty, facts, ruled_out, key=len).pop()


def goal(snapshot: Snapshot) -> str:
    """Return the goal on one line: that of the session, else the last request, else "".

    If the session's goal is only the first request's title, it is the last request.
    """
    asked = [text for _, text in gather(snapshot.entries).prompts if prompts.is_request(text)]
    named = snapshot.manifest.goal
    is_title = any(prompts.title(text) == named for text in asked)
    texts = [*([] if is_title else [named]), *reversed(asked), named]
    return next(filter(None, (clipped(text, _GOAL_MAX).lstrip("# ") for text in texts)), "")


def tidied(answer: str, snapshot: Snapshot) -> str:
    """Make a briefing from a model's answer: remove what models put around one.

    The goal is the session's own, whatever the model made of it, so that a log cannot talk a model
    into handing on another goal. Nothing is left that a viewer would fetch or hide.
    """
    text = _CONTROL.sub("", _THOUGHT.sub("", answer))
    text = text[max(0, text.find(HEADERS[0])) :].strip().removesuffix("```")
    text = text.replace("![", "[").replace("<!--", "< !--")
    return _with_goal(text, goal(snapshot)).strip() + "\n"


def clipped(text: str, most: int) -> str:
    """Return one line of at most `most` bytes without backticks, citations, control characters."""
    plain = "".join(char for char in " ".join(text.split()) if char.isprintable())
    plain = plain.replace("`", "'").replace("[action_log:", "(action_log:").replace("<!--", "<! --")
    if len(plain.encode()) <= most:
        return plain
    return plain.encode()[: most - 3].decode("utf-8", "ignore") + "…"


def _with_goal(text: str, wanted: str) -> str:
    """Return the text with its goal section replaced; unchanged if it has no such section."""
    begin, end = (re.search(rf"^{header}[ \t]*$", text, re.MULTILINE) for header in HEADERS[:2])
    if not wanted or not begin or not end or end.start() < begin.end():
        return text
    return f"{text[: begin.end()]}\n\n{wanted}\n\n{text[end.start() :]}"


def _ranked(*kinds: Sequence[str]) -> list[str]:
    """Choose `FACTS_MAX` lines, the best of each kind in turn, so that no kind excludes another."""
    turns = zip_longest(*(kind[:FACTS_MAX] for kind in kinds))
    best = [line for turn in turns for line in turn if line]
    chosen = set(best[:FACTS_MAX])
    return [line for kind in kinds for line in kind if line in chosen]


def _text(
    snapshot: Snapshot, work: WorkDone, facts: list[str], ruled_out: list[str], dirty: list[str]
) -> str:
    sections = (
        [goal(snapshot) or _NO_GOAL],
        ["(none recorded: this briefing was made from the action log, without a model)"],
        facts or ["(none captured)"],
        ruled_out or ["(none identified)"],
        [*_asked(snapshot, work), _uncommitted(snapshot, dirty)],
        [_next_action(work)],
    )
    pairs = zip(HEADERS, sections, strict=True)
    return "\n\n".join(header + "\n\n" + "\n".join(lines) for header, lines in pairs) + "\n"


def _found(work: WorkDone) -> list[str]:
    """List searches with results, those whose results were edited or read first."""
    use = {trail.path: 2 if trail.edits else 1 for trail in work.files}

    def worth(search: LoggedSearch) -> int:
        return max((use.get(path, 0) for path in search.run.result_paths), default=0)

    facts = []
    for search in sorted(work.searches, key=worth, reverse=True):
        run = search.run
        if run.matches == 0 or not run.result_paths:
            continue
        first = ", ".join(_code(path) for path in run.result_paths[:3])
        more = len(run.result_paths) - 3
        rest = f" and {more} more" if more > 0 else ""
        facts.append(f"- {_code(run.query)} is in {first}{rest} [action_log:{search.entry_id}]")
    return facts


def _read(work: WorkDone) -> list[str]:
    often = sorted(work.files, key=lambda trail: (-trail.reads, -trail.entry_id))
    return [f"- {_seen(trail)} [action_log:{trail.entry_id}]" for trail in often if not trail.edits]


def _seen(trail: Trail) -> str:
    if not trail.reads:
        return f"Checked memo freshness for {_code(trail.path)}"
    seen = trail.seen()
    lines = f" lines {seen.line_start}-{seen.line_end}" if seen.line_start else ""
    return f"Read {_code(trail.path)}{lines}{_times(trail.reads)}"


def _nothing(work: WorkDone) -> list[str]:
    return [
        f"- {_code(search.run.query)} ({clipped(search.run.kind, 40)}) finds nothing "
        f"[action_log:{search.entry_id}]"
        for search in work.dead_ends
    ]


def _asked(snapshot: Snapshot, work: WorkDone) -> list[str]:
    """Return the last request, unless it is the goal already."""
    asked = ((at, text) for at, text in reversed(work.prompts) if prompts.is_request(text))
    entry_id, last = next(asked, (0, ""))
    if not last or clipped(last, _GOAL_MAX).lstrip("# ") == goal(snapshot):
        return []
    return [
        f"- Is what was asked last done: `{clipped(last, _PROMPT_MAX)}` [action_log:{entry_id}]"
    ]


def _uncommitted(snapshot: Snapshot, dirty: list[str]) -> str:
    total = len(snapshot.git.dirty_files)
    if not total:
        return "(none: nothing was uncommitted when the snapshot was made)"
    if not dirty:
        return f"- Are the uncommitted changes of {total} files complete?"
    named = ", ".join(_code(path) for path in dirty)
    rest = f" and {total - len(dirty)} more" if total > len(dirty) else ""
    return f"- Are the uncommitted changes complete: {named}{rest}?"


def _next_action(work: WorkDone) -> str:
    """Return the test or check that fails now, if there is one: what is planned nobody recorded."""
    failing = next((run for run in work.commands if run.failed and run.is_check), None)
    if failing is None:
        return "(none recorded)"
    return f"- Mend what {_code(failing.text)} says: it failed last [action_log:{failing.entry_id}]"


def _times(count: int) -> str:
    return f" {count} times" if count > 1 else ""


def _code(text: str) -> str:
    return f"`{clipped(text, _CODE_MAX)}`"


def _refused(what: str) -> InvalidRequest:
    return InvalidRequest(what, next_step="Nothing was written; the briefing has to be mended.")
