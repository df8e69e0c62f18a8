"""The index format: what was found, one record after the other with its title, date and address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

QUERY_MAX = 200
_NAMES = {
    "search_observations": "observation", "search_sessions": "session",
    "search_user_prompts": "user prompt", "find_by_concept": "observation",
    "find_by_type": "observation", "find_by_file": "result", "memory_search": "observation",
}  # fmt: skip
_MARKED = frozenset(("MOVED", "STALE", "GONE"))


def blocks(tool: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of an answer: its header, and a block for each record."""
    items = [
        *map(_observation, answer.get("observations", ())),
        *map(_session, answer.get("sessions", ())),
        *map(_prompt, answer.get("prompts", ())),
        *map(_recalled, answer.get("results", ())),
    ]
    noun = answer["by"] if "results" in answer else _NAMES[tool]
    about = _about(tool, arguments)
    if not items:
        yield from _nothing(noun, about, arguments, answer)
        return
    yield f"Found {len(items)} {noun}(s) {about}:"
    yield from remarks(arguments, answer, len(items))
    for number, (title, lines) in enumerate(items, 1):
        yield ""
        yield f"{number}. {title}"
        yield from (f"   {line}" for line in lines)
    yield from next_page(arguments, answer, len(items))


def remarks(arguments: Mapping[str, Any], answer: Mapping[str, Any], count: int) -> Iterator[str]:
    """Yield what has to be said of how records were found; usually nothing."""
    if answer.get("partial"):
        yield f"0 exact; showing {count} partial matches"
    if answer.get("interpreted"):
        yield f"query interpreted as: {_quotable(answer['interpreted'])}"
    if any((arguments.get("dateRange") or {}).values()):
        yield f"dates are {answer['timezone']}"


def next_page(arguments: Mapping[str, Any], answer: Mapping[str, Any], count: int) -> Iterator[str]:
    """Yield how many records there are, if not all are shown."""
    if "next_offset" in answer:
        yield ""
        yield f"{count} of {answer['total']:,}; next page: offset {answer['next_offset']}"
    elif arguments.get("offset"):
        yield ""
        yield f"{count} of {answer['total']:,}; this is the last page"


def _about(tool: str, arguments: Mapping[str, Any]) -> str:
    if tool == "find_by_concept":
        return f'with concept "{_quotable(arguments["concept"])}"'
    if tool == "find_by_type":
        return f'with type "{", ".join(arguments["type"])}"'
    if tool == "find_by_file":
        return f'for file "{_quotable(arguments["filePath"])}"'
    return f'matching "{_quotable(arguments["query"])}"'


def _nothing(
    noun: str, about: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    if answer["total"]:
        yield f"No {noun}s found {about} from offset {arguments['offset']} on"
        yield f"there are {answer['total']:,}"
    else:
        yield f"No {noun}s found {about}"
    yield from remarks(arguments, answer, 0)


def _observation(record: Mapping[str, Any]) -> tuple[str, Sequence[str]]:
    mark = f" ({record['freshness']})" if record.get("freshness") in _MARKED else ""
    lines = (f"Date: {record['date']}", f"Source: {record['uri']}")
    return f"[{record['type']}] {record['title']}{mark}", lines


def _session(record: Mapping[str, Any]) -> tuple[str, Sequence[str]]:
    number = f" | S{record['summary']}" if "summary" in record else ""
    return record["request"], (f"Date: {record['date']}{number}", f"Source: {record['uri']}")


def _prompt(record: Mapping[str, Any]) -> tuple[str, Sequence[str]]:
    text = " ".join(record["text"].split())
    date = f"Date: {record['date']} | Prompt #{record['number']}"
    return f'"{text}"', (date, f"Source: {record['uri']}")


def _recalled(record: Mapping[str, Any]) -> tuple[str, Sequence[str]]:
    lines = (
        f"Date: {record['date']} | Agent: {record['agent']}",
        f"{record['role']}: {record['excerpt']}",
        f"Source: {record['uri']}",
    )
    return record["title"], lines


def matches(arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the interactive mode: the best matches, for a choice of the anchor."""
    records = answer["matches"]
    yield "# Timeline Anchor Search Results"
    yield ""
    yield f'Found {len(records)} observation(s) matching "{_quotable(arguments["query"])}"'
    yield from remarks(arguments, answer, len(records))
    yield ""
    yield "Call get_context_timeline with the ID of one of them as anchor."
    yield ""
    yield f"**Top {len(records)} matches:**"
    for number, record in enumerate(records, 1):
        yield ""
        yield f"{number}. **[{record['type']}] {record['title']}**"
        yield f"   - ID: {record['id']}"
        yield f"   - Date: {record['date']}"
        if record.get("subtitle"):
            yield f"   - {record['subtitle']}"
        yield f"   - Source: {record['uri']}"


def _quotable(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= QUERY_MAX else f"{line[: QUERY_MAX - 1]}…"
