"""The answers of the history tools as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.history.formats import details, lists, recent, timeline

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def list_lines(tool: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the text of a list in its format."""
    count = sum(len(answer.get(name, ())) for name in ("observations", "sessions", "prompts"))
    if answer.get("format") != "full" or not count:
        yield from lists.blocks(tool, arguments, answer)
        return
    yield from details.records(answer)
    notes = [*lists.remarks(arguments, answer, count), *lists.next_page(arguments, answer, count)]
    if notes := list(filter(None, notes)):
        yield from ("", details.RULE, "", *notes)


def timeline_lines(
    _tool: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the text of a timeline, or of the matches among which to choose its anchor."""
    if "no_match" in answer:
        query = answer["no_match"]
        yield f'No observations found matching "{query}". Try a different search query.'
    elif "matches" in answer:
        yield from lists.matches(arguments, answer)
    else:
        yield from timeline.lines(arguments, answer)


def recent_lines(
    _tool: str, _arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the text of the recent context."""
    return recent.lines(answer)


def record_lines(
    _tool: str, _arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the text of records that were asked for by their ids."""
    yield from details.records(answer)
    if answer["missing"]:
        if any(answer[name] for name in ("observations", "sessions", "prompts")):
            yield ""
        yield f"not found: {', '.join(answer['missing'])}"


def kept_lines(
    _tool: str, _arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the text of an answer to a write."""
    action = {"known": "already remembered"}.get(answer["action"], answer["action"])
    instead = f" instead of #{answer['replaced']}" if "replaced" in answer else ""
    yield f"{action} #{answer['id']}{instead}: {answer['title']}"
    yield f"Source: {answer['uri']}"


def forgotten_lines(
    _tool: str, _arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the text of an answer to `forget`."""
    nouns = {"sessions": "session(s)", "messages": "message(s)", "events": "use(s) of tools",
             "observations": "observation(s)"}  # fmt: skip
    counts = [f"{answer[name]:,} {noun}" for name, noun in nouns.items() if answer[name]]
    verb = "would be forgotten" if answer["dry_run"] else "forgotten"
    yield f"{verb}: {', '.join(counts) or 'nothing'}"
