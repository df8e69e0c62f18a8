"""`triseek memory audit`: what is doubtful in a palace."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

from triseek.memory.commands.calling import (
    NOTHING_KEPT,
    Palace,
    only_here,
    opened,
    palace_to_read,
)
from triseek.model.plain_text import counted, visible_line
from triseek.terminal import report_text, status
from triseek.terminal.plain_words import Json, Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.memory.audit.audit import Audit
    from triseek.memory.audit.findings import Finding
    from triseek.terminal.command_context import CommandContext

_TITLES = {
    "secret": "Secrets",
    "hidden": "Drawers that nothing shows",
    "loop": "Loops",
    "contradiction": "Contradictions",
    "root": "The project's folder",
    "gone": "Files that do not exist any more",
    "moved": "Files that are elsewhere now",
    "changed": "Files that have been changed since",
    "duplicate": "Said twice",
    "room": "Rooms that may be one",
}
"""In the order in which kinds of findings are printed."""
_LINES = 20
"""Findings of one kind that are printed as text."""


def audit(
    context: CommandContext,
    palace: Palace = "",
    fix: Annotated[bool, Option("", "Remove the secrets; nothing else is changed.")] = False,
    json: Json = False,
) -> int:
    """Check a palace: what is said twice, out of date, contradictory, or a secret.

    Paths that drawers and facts name are looked up in the project's folder. `path@digest` as the
    source of a drawer or fact, with the file's SHA-256 or git's id of it, says whether the file is
    still the same; other files have changed if they were written later than the memory.

    Exit status 1: there is nothing to report.

    Examples: triseek memory audit · triseek memory audit --palace team-notes --json
    """
    only_here(context)
    removed = None
    with opened(context) as memory:
        name = palace_to_read(memory, context, palace)
        if not name:
            context.print(report_text.as_json({"palace": None}) if json else NOTHING_KEPT)
            return status.NOTHING
        if fix:
            removed = memory.remove_secrets(name)
        result = memory.audit(name)
    if json:
        document = _document(result)
        if removed is not None:
            document["secrets_removed"], document["is_rewritten"] = removed
        context.print(report_text.as_json(document))
    else:
        context.print("\n".join([*_fixed(removed), *_lines(result)]))
    return status.FOUND if result.findings.listed else status.NOTHING


def _fixed(removed: tuple[int, bool] | None) -> Iterator[str]:
    if removed is not None:
        yield f"Secrets were removed from {counted(removed[0], 'text')}"
        if not removed[1]:
            yield (
                "Another process uses the database, so its files may still hold them: end it "
                "(triseek daemon stop) and run this again"
            )


def _lines(result: Audit) -> Iterator[str]:
    yield (
        f"Palace {visible_line(result.palace)}: {counted(result.drawers, 'drawer')}, "
        f"{counted(result.triples, 'fact')}"
    )
    if not result.root:
        yield "It is of no project's folder, so paths were not looked up."
    for room, words in result.closets.items():
        yield f"  {visible_line(room)}: {' '.join(words)}"
    if not result.findings.listed:
        yield "Nothing to report."
    for kind, title in _TITLES.items():
        of_kind = [finding for finding in result.findings.listed if finding.kind == kind]
        if of_kind:
            yield f"\n{title} ({result.findings.counts[kind]:,})"
            for finding in of_kind[:_LINES]:
                yield from _finding(finding)
            left = result.findings.counts[kind] - _LINES
            if left > 0:
                yield f"  … {left:,} more; --json lists {len(of_kind):,}"


def _finding(finding: Finding) -> Iterator[str]:
    yield f"  {visible_line(finding.where)}: {visible_line(finding.what)}"
    yield f"    {visible_line(finding.next_step)}"


def _document(result: Audit) -> dict[str, Any]:
    """Return an audit for JSON."""
    return {
        "palace": result.palace,
        "root": result.root or None,
        "drawers": result.drawers,
        "facts": result.triples,
        "closets": result.closets,
        "counts": dict(result.findings.counts),
        "findings": [dataclasses.asdict(finding) for finding in result.findings.listed],
    }
