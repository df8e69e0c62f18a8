"""`triseek history forget`: remove conversations and single records for good."""

from __future__ import annotations

from typing import Annotated

import typer

from triseek.history.commands.calling import call
from triseek.model.plain_text import counted
from triseek.terminal import options, report_text, status

ANSWER_S = 900.0
"""Seconds to wait for it: a database of gigabytes is rewritten."""


def forget(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID…",
            help="An agent's id of a conversation, or its beginning; 123: an observation; "
            "S4: the conversation of summary 4; P5: a message; claude-mem://….",
        ),
    ] = None,
    project: Annotated[
        str, typer.Option(metavar="NAME", help="All of this project: its name or root folder.")
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count what would be removed, remove nothing.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Remove conversations or records: their text is in no file of the history afterwards.

    Neither an import nor the rules bring them back. What triseek's own sessions, snapshots and
    exported packs hold of whole conversations is removed too. The agent's own files stay as they
    are.

    Examples: triseek history forget 0f9c2d1a · triseek history forget 123 P5 ·
    triseek history forget --project secret --dry-run
    """
    params = {"ids": ids or [], "project": project, "dry_run": dry_run}
    with report_text.progress_bars() as progress:
        progress("forget", 0, 0)
        reply = call("forget", params, timeout_s=ANSWER_S)
    verb = "would be forgotten" if dry_run else "forgotten"
    text = (
        f"{counted(reply['sessions'], 'conversation')} with {counted(reply['messages'], 'message')}"
        f", {counted(reply['events'], 'use')} of tools and "
        f"{counted(reply['observations'], 'observation')} {verb}"
    )
    if reply["logs"] or reply["snapshots"] or reply["packs"]:
        text += (
            f", also in {counted(reply['logs'], 'session')}, "
            f"{counted(reply['snapshots'], 'snapshot')} and "
            f"{counted(reply['packs'], 'exported pack')}"
        )
    print(report_text.as_json(reply) if json else text)
    return status.FOUND
