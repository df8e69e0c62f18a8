"""The text of the recent context: the last sessions of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HEADER = "# Recent Session Context"


def lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of an answer."""
    project, sessions = answer["project"], answer["sessions"]
    yield _HEADER
    yield ""
    if not sessions:
        yield f'No previous sessions found for project "{project}".'
        return
    yield f"Showing last {len(sessions)} session(s) for **{project}**:"
    for session in sessions:
        yield from ("", "---", "")
        yield from _session(session)


def _session(session: Mapping[str, Any]) -> Iterator[str]:
    status = session["status"]
    if status == "summary":
        yield f"**Summary (Prompt #{session['prompt_number']})**"
    elif status == "active":
        yield "**In Progress**"
    else:
        yield f"**{status.capitalize()}**"
    yield ""
    yield from _field("Request", session["request"])
    if status == "summary":
        yield from _field("Completed", session["completed"])
        yield from _field("Learned", session["learned"])
        yield from _field("Next Steps", session["next_steps"])
        yield from _field("Files Read", ", ".join(session["files_read"]))
        yield from _field("Files Edited", ", ".join(session["files_edited"]))
    elif status == "active":
        titles = session["observations"]
        yield f"**Observations ({len(titles)}):**"
        yield from (f"- {title}" for title in titles)
        if not titles:
            yield "*No observations yet*"
        yield "**Status:** Active - summary pending"
    else:
        yield f"**Status:** {status} - no summary available"
    yield f"**Date:** {session['date']}"


def _field(name: str, value: str) -> Iterator[str]:
    if value.strip():
        yield f"**{name}:** {value.strip()}"
