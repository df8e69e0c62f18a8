"""A session's summary without a model: what was asked, looked at, learned, done, and is left."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.history.synthesis.commits import commit_of, sentences
from triseek.history.synthesis.draft import one_line
from triseek.history.synthesis.explored import query_of
from triseek.history.synthesis.fixes import episodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triseek.history.synthesis.draft import Draft
    from triseek.history.synthesis.session_events import SessionView

REQUEST_MAX = 160
FIELD_MAX = 600
"""Characters of each field."""
RULE = "summary"
_PRIVATE = re.compile(r"^\s*\[private\]\s*$")
_OPEN_ITEM = re.compile(r"^[ \t]*(?:[-*] \[ \] (?P<item>.+)|(?:#|//|--|/?\*|<!--)[ \t]*(?P<todo>(?:TODO|FIXME)\b.+))$", re.MULTILINE)  # fmt: skip  # noqa: E501
_ITEM_MAX = 110
_DOT = "; "


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The row of `session_summaries` of one session; empty fields have nothing to say."""

    request: str
    investigated: str
    learned: str
    completed: str
    next_steps: str
    notes: str
    prompt: int
    time_ms: int

    @property
    def is_empty(self) -> bool:
        """Whether it says no more than what was asked."""
        return not (self.investigated or self.learned or self.completed or self.next_steps)


def summary_hash(view: SessionView) -> str:
    """Return the row hash of a session's summary, of which there is one."""
    return hashlib.sha256(json.dumps([view.agent, view.external_id, RULE]).encode()).hexdigest()


def summarize(view: SessionView, drafts: list[Draft]) -> Summary | None:
    """Return the summary; None for a session without prompts and events."""
    if not view.prompts and not view.events:
        return None
    asked = next((said for said in reversed(view.prompts) if not _PRIVATE.match(said.text)), None)
    times = [said.time_ms for said in (*view.prompts, *view.answers)]
    times += [event.time_ms for event in view.events]
    return Summary(
        request=request_of(asked.text) if asked else "",
        investigated=_joined(_investigated(view)),
        learned=_joined(
            draft.title for draft in drafts
            if draft.type in ("bugfix", "discovery", "decision") and not draft.is_dead_end
            and draft.rule not in ("explored", "commit")
        ),
        completed=_joined(_completed(view, drafts)),
        next_steps=_joined(_next_steps(view, drafts)),
        notes=_joined(draft.title for draft in drafts if draft.is_dead_end),
        prompt=max((said.prompt for said in view.prompts), default=0),
        time_ms=max(times, default=0),
    )  # fmt: skip


def request_of(prompt: str) -> str:
    """Return the first sentence of a prompt, at most `REQUEST_MAX` characters."""
    request = ""
    for sentence in sentences(prompt[:2_000]):
        request = f"{request} {sentence}".strip()
        # "…" alone asks for nothing, and "Implement this plan:" only with what follows.
        if re.search(r"\w", request) and not request.endswith(":"):
            break
    return one_line(request, REQUEST_MAX)


def _joined(items: Iterable[str]) -> str:
    """Return items as one text of at most `FIELD_MAX` characters, without cutting one."""
    text = ""
    for item in dict.fromkeys(one_line(item, _ITEM_MAX) for item in items):
        if item and len(text) + len(item) + len(_DOT) <= FIELD_MAX:
            text += (_DOT if text else "") + item
    return text


def _investigated(view: SessionView) -> Iterator[str]:
    files = Counter(use.path for event in view.events for use in event.reads)
    for path, _ in sorted(files.items(), key=lambda item: (-item[1], item[0]))[:8]:
        yield path
    queries = dict.fromkeys(query for event in view.events if (query := query_of(event)))
    yield from (f'searched "{query}"' for query in list(queries)[:5])


def _completed(view: SessionView, drafts: list[Draft]) -> Iterator[str]:
    yield from (f"committed: {draft.title}" for draft in drafts if draft.rule == "commit")
    yield from (draft.title for draft in drafts if draft.rule == "fixed-check")
    edited = Counter(use.path for event in view.events for use in event.edits)
    yield from (f"edited {path}" for path in sorted(edited, key=lambda path: (-edited[path], path)))


def _next_steps(view: SessionView, drafts: list[Draft]) -> Iterator[str]:
    for episode in episodes(view):
        if episode.passed is None:
            last = episode.failures[-1]
            said = f": {last.error.line}" if last.error.line else ""
            yield f"still fails: {episode.run.text}{said}"
    yield from (f"to do: {item}" for item in _pending(view))
    yield from (f"open: {item}" for item in _open_items(view))
    uncommitted = _uncommitted(view, drafts)
    if uncommitted:
        yield f"not committed: {', '.join(uncommitted[:4])}"


def _pending(view: SessionView) -> list[str]:
    """Return what the agent's last list of things to do has not ticked off."""
    for event in reversed(view.events):
        items = event.arguments.get("todos") or event.arguments.get("plan")
        if not isinstance(items, list):
            continue
        texts = []
        for item in items[:50]:
            if isinstance(item, dict) and item.get("status") in ("pending", "in_progress"):
                text = item.get("content") or item.get("step")
                texts += [text] if isinstance(text, str) else []
        return texts
    return []


def _open_items(view: SessionView) -> list[str]:
    """Return unticked boxes and TODO comments that edits of the session added and left."""
    items: dict[str, None] = {}
    for event in view.events:
        for use in event.edits:
            new = {match["item"] or match["todo"] for match in _OPEN_ITEM.finditer(use.after)}
            old = {match["item"] or match["todo"] for match in _OPEN_ITEM.finditer(use.before)}
            for item in old - new:
                items.pop(item, None)
            items.update(dict.fromkeys(sorted(new - old)))
    return list(items)[:5]


def _uncommitted(view: SessionView, drafts: list[Draft]) -> list[str]:
    """Return the files edited since the session's last commit; none if it made no commit."""
    dead = [event.id for draft in drafts if draft.is_dead_end for event in draft.evidence.events]
    edited: dict[str, None] = {}
    has_committed = False
    for event in view.events:
        if event.id in dead:
            continue
        edited.update(dict.fromkeys(use.path for use in event.edits))
        if event.command and commit_of(event) is not None:
            has_committed = True
            edited.clear()
    return list(edited) if has_committed else []
