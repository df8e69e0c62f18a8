"""The parts of a payload that come from the log: requests, decisions, commands, dead ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triseek.model.plain_text import plural
from triseek.sessions import prompts
from triseek.sessions.markdown_text import code, cut, one_line, quotation, tame
from triseek.sessions.payload_room import Block, PayloadPart, part, size_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.sessions.command_runs import RunCommand
    from triseek.sessions.working_set import LoggedSearch, WorkDone

DECISIONS, REQUESTS = 0, 1
COMMANDS, DEAD_ENDS = 4, 5
"""Ranks of the parts; see `payload_room.PayloadPart`."""
LINE_MAX = 2_000
"""Bytes of one line of a person's words."""
_PASTE_FROM = 1_500
"""Bytes of a request from which pasted lines in it are shortened."""
_REQUEST_SHARE, _ASIDE_SHARE = 0.5, 0.1
"""Shares of the room that the last request may take, and what was said after it."""
_DECISIONS_MAX, _DECISION_MAX = 80, 400
_COMMANDS_MAX, _COMMAND_MAX = 24, 160
_ASIDES_MAX, _ASIDE_MAX = 3, 40
_NOTHING_MAX, _QUERY_MAX = 400, 90
"""Bytes of all searches without a result in one line, and of one of them."""


class Requests(NamedTuple):
    """What a person asked, as the payload tells it."""

    last: list[str]
    """The lines on the last request, title included; empty if there is none."""
    last_is_whole: bool
    texts: list[str]
    """All requests, oldest first, as they were made."""
    undecided: frozenset[str] = frozenset()
    """Requests whose decisions are not listed, since they are shown."""


def requests(work: WorkDone, room: int) -> Requests:
    """Return the requests of a log; the last one is cut to its share of the room, in bytes."""
    texts = [text for _, text in work.prompts]
    asked = [number for number, text in enumerate(texts) if prompts.is_request(text)]
    if not asked:
        return Requests([], True, [])
    last, after = texts[asked[-1]], texts[asked[-1] + 1 :]
    title = ["", "## Last request", ""]
    lines, is_whole = _fitted(_quoted(last), int(room * _REQUEST_SHARE) - size_of(title))
    idle = [text for text in after if prompts.is_idle(text) and prompts.said(text)]
    said = ", ".join(code(" ".join(text.split()), _ASIDE_MAX) for text in idle[-_ASIDES_MAX:])
    aside = ["", f"Afterwards only: {said}"] if said else []
    if size_of(aside) > room * _ASIDE_SHARE:
        aside = []
    whole = [texts[number] for number in asked]
    return Requests([*title, *lines, *aside] if lines else [], is_whole, whole)


def earlier(asked: Requests) -> PayloadPart:
    """Return the part on the requests before the last, newest first."""
    blocks = [Block(["", *_quoted(text)]) for text in reversed(asked.texts[:-1])]
    title = ["", "## Requests before it, newest first"]
    return PayloadPart(title, blocks, REQUESTS, 0.5, is_owed=True, noun="earlier request")


def without_shown(asked: Requests, blocks: Sequence[Block]) -> Requests:
    """Return the requests without the decisions of those that these blocks show."""
    shown = [list(block.lines[1:]) for block in blocks]
    return asked._replace(
        undecided=frozenset(text for text in asked.texts[:-1] if _quoted(text) in shown)
    )


def decisions(asked: Requests) -> PayloadPart:
    """Return the part on what was forbidden or decided before the last request, newest first."""
    texts = asked.texts[:-1] if asked.last_is_whole else asked.texts
    texts = [text for text in texts if text not in asked.undecided]
    firm, other = (
        [one for text in reversed(texts) for one in prompts.decisions(text, firm=is_firm)]
        for is_firm in (True, False)
    )
    sentences = list(dict.fromkeys([*firm, *other]))[:_DECISIONS_MAX]
    lines = [f"- {tame(one_line(sentence, _DECISION_MAX))}" for sentence in sentences]
    title = "## Forbidden or decided"
    listed = part(title, lines, rank=DECISIONS, sure=0.2, noun="decision")
    return listed._replace(is_owed=True)


def commands(runs: Sequence[RunCommand]) -> PayloadPart:
    """Return the part on commands; tests and checks that fail now come first."""
    failing = [run for run in runs if run.failed and run.is_check]
    others = [run for run in runs if not run.failed and not run.only_looks]
    others.sort(key=lambda run: not run.is_check)
    lines = [_command(run, "**fails now** " if run.failed else "") for run in [*failing, *others]]
    return part("## Commands", lines[:_COMMANDS_MAX], rank=COMMANDS, sure=0.1, noun="command")


def dead_ends(work: WorkDone, searches: Sequence[LoggedSearch]) -> PayloadPart:
    """Return the part on what led nowhere: failed commands, edits taken back, empty searches.

    searches: Those that `nothing` has chosen.
    """
    reverted = [trail for trail in work.files if trail.reverted]
    failed = [
        run for run in work.commands if run.failed and not run.is_check and not run.only_looks
    ]
    lines = [f"- an edit of {code(trail.path)} was taken back" for trail in reverted]
    lines += [_command(run, "") for run in failed[:_COMMANDS_MAX]]
    if searches:
        queries = ", ".join(code(search.run.query, _QUERY_MAX) for search in searches)
        lines.insert(0, f"- finds nothing: {queries}")
    return part("## Dead ends", lines, rank=DEAD_ENDS, sure=0.1, noun="dead end")


def nothing(work: WorkDone) -> list[LoggedSearch]:
    """Return the searches without a result that are listed in one line; last asked first."""
    room = _NOTHING_MAX
    chosen = []
    for search in work.dead_ends:
        room -= len(code(search.run.query, _QUERY_MAX).encode()) + 2
        if room < 0:
            break
        chosen.append(search)
    return chosen


def _command(run: RunCommand, mark: str) -> str:
    where = f" in {code(run.folder)}" if run.folder else ""
    count = f", ran {run.runs} times" if run.runs > 1 else ""
    return f"- {mark}{code(run.text, _COMMAND_MAX)}{where}: {outcome(run)}{count}"


def outcome(run: RunCommand) -> str:
    """Return how a command ended, in words."""
    if run.exit_status is not None:
        return f"exit status {run.exit_status}"
    return {None: "how it ended is not recorded", True: "failed", False: "succeeded"}[run.failed]


def _quoted(text: str) -> list[str]:
    plain = prompts.said(text)
    if len(plain.encode(errors="replace")) > _PASTE_FROM:
        plain = prompts.shortened(plain)
    return list(quotation(plain, LINE_MAX))


def _fitted(lines: list[str], room: int) -> tuple[list[str], bool]:
    """Return lines cut in their middle to `room` bytes, and whether they are whole."""
    if size_of(lines) <= room:
        return lines, True
    head: list[str] = []
    tail: list[str] = []
    mark = f"> [{len(lines)} lines left out]"
    left = room - size_of([mark])
    first, last = list(lines), list(lines)
    while first and size_of(head) + size_of([first[0]]) <= left * 2 // 3:
        head.append(first.pop(0))
    while len(head) + len(tail) < len(lines) and (
        size_of(head) + size_of(tail) + size_of([last[-1]]) <= left
    ):
        tail.insert(0, last.pop())
    count = len(lines) - len(head) - len(tail)
    if not head and not tail:
        return [shown] if (shown := cut(lines[0], max(0, left))) else [], False
    return [*head, f"> [{count} {plural(count, 'line')} left out]", *tail], False
