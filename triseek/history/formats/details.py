"""The full format: records with all details, separated by rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RULE = "---"
_SESSION_FIELDS = {
    "Completed": "completed", "Learned": "learned", "Investigated": "investigated",
    "Next Steps": "next_steps", "Notes": "notes",
}  # fmt: skip


def records(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of all records of an answer."""
    sections = [
        *map(_observation, answer.get("observations", ())),
        *map(_session, answer.get("sessions", ())),
        *map(_prompt, answer.get("prompts", ())),
    ]
    for number, section in enumerate(sections):
        if number:
            yield from ("", RULE, "")
        yield from section


def _observation(record: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {record['title']}"
    yield f"*Source: {record['uri']}*"
    yield ""
    for text in (_bold(record["subtitle"]), record["narrative"], record["text"]):
        if text.strip():
            yield text.strip("\n")
            yield ""
    yield RULE
    fields = {
        "Type": record["type"],
        "Facts": "; ".join(record["facts"]),
        "Concepts": ", ".join(record["concepts"]),
        "Files": ", ".join(record["files"]),
        "Evidence": record.get("freshness", ""),
        "Pinned": "yes" if record["pinned"] else "",
        "Superseded by": f"#{record['superseded_by']}" if "superseded_by" in record else "",
    }
    yield " | ".join(f"{name}: {value}" for name, value in fields.items() if value)
    yield from ("", RULE)
    yield f"Date: {record['date']}"


def _session(record: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {record['request']}"
    yield f"*Source: {record['uri']}*"
    yield ""
    for name, field in _SESSION_FIELDS.items():
        if record[field].strip():
            yield f"**{name}:** {record[field].strip()}"
            yield ""
    yield RULE
    files = f"Files: {', '.join(record['files'])} | " if record["files"] else ""
    yield f"{files}Date: {record['date'].partition(' ')[0]}"


def _prompt(record: Mapping[str, Any]) -> Iterator[str]:
    yield f"## User Prompt #{record['number']}"
    yield f"*Source: {record['uri']}*"
    yield ""
    yield record["text"].strip("\n")
    yield from ("", RULE)
    yield f"Date: {record['date']}"


def _bold(text: str) -> str:
    return f"**{text}**" if text else ""
