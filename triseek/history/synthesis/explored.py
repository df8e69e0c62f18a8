"""Rule: reads and searches before a prompt's first edit show where the answer to it lies."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from triseek.agents.shell.shell_reads import shell_use
from triseek.history.synthesis.draft import TITLE_MAX, Draft, DraftEvidence, facts_of, one_line

if TYPE_CHECKING:
    from triseek.history.synthesis.session_events import EventFile, SessionEvent, SessionView

RULE = "explored"
LOOKS_MIN = 3
"""Reads and searches that make a cluster."""
FILES_SHOWN = 6
QUERIES_SHOWN = 5


def explored(view: SessionView) -> list[Draft]:
    """Return a draft for each prompt that began with a cluster of reads and searches."""
    by_prompt: dict[int, list[SessionEvent]] = {}
    for event in view.events:
        by_prompt.setdefault(event.prompt, []).append(event)
    drafts: list[Draft] = []
    for events in by_prompt.values():
        first_edit = next((at for at, event in enumerate(events) if event.edits), len(events))
        drafts += _draft(view, [event for event in events[:first_edit] if _looks(event)])
    return drafts


def query_of(event: SessionEvent) -> str:
    """Return what an event searched for; "" if it is no search."""
    if event.command:
        return shell_use(event.command, "/").search
    name = event.name.lower()
    if not any(word in name for word in ("grep", "search", "glob", "find")):
        return ""
    return one_line(event.argument("pattern", "query", "regex", "q", "glob"), 80)


def _looks(event: SessionEvent) -> bool:
    return event.outcome != "failed" and bool(event.reads or query_of(event))


def _draft(view: SessionView, looks: list[SessionEvent]) -> list[Draft]:
    uses = [use for event in looks for use in event.reads]
    queries = list(dict.fromkeys(query for event in looks if (query := query_of(event))))
    files = Counter(use.path for use in uses)
    folder = _shared_folder(files)
    # A cluster has something in common; without reads there is nothing to say.
    if len(looks) < LOOKS_MIN or not files or folder is None:
        return []
    first = looks[0]
    prompt = next((said for said in view.prompts if said.prompt == first.prompt), None)
    top = [path for path, _ in sorted(files.items(), key=lambda item: (-item[1], item[0]))]
    count = f"{len(files)} files" if len(files) > 1 else "1 file"
    facts = [f"read ×{files[path]}: {path}" for path in top[:FILES_SHOWN]]
    facts += [f"searched: {query}" for query in queries[:QUERIES_SHOWN]]
    return [
        Draft(
            rule=RULE,
            type="discovery",
            title=one_line(f"Explored {folder or top[0]} ({count})", TITLE_MAX),
            subtitle=one_line(prompt.text, TITLE_MAX) if prompt else "",
            facts=facts_of(facts),
            concepts=("how-it-works",),
            evidence=DraftEvidence(events=tuple(looks), files=_first_of_each(uses, top)),
            prompt=first.prompt,
            time_ms=looks[-1].time_ms,
            value=0.2 * len(looks),
        )
    ]


def _shared_folder(files: Counter[str]) -> str | None:
    """Return the folder of most reads; "" if one file was read; None if they are scattered."""
    if len(files) == 1:
        return ""
    folders: Counter[str] = Counter()
    for path in files:
        parts = path.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            folders["/".join(parts[:depth])] += 1
    shared = [(count, name.count("/"), name) for name, count in folders.items() if count > 1]
    if not shared:
        return None
    most = max(count for count, _, _ in shared)
    return max((depth, name) for count, depth, name in shared if count == most)[1]


def _first_of_each(uses: list[EventFile], order: list[str]) -> tuple[EventFile, ...]:
    by_path = {use.path: use for use in reversed(uses)}
    return tuple(by_path[path] for path in order[:FILES_SHOWN])
