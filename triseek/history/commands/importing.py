"""`triseek history import`: read what agents keep of conversations on this machine."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from triseek.agents.base import InstallPlace
from triseek.errors import InvalidRequest
from triseek.history.commands import import_report
from triseek.history.commands.calling import open_history
from triseek.terminal import options, report_text, status
from triseek.terminal.moments import moment_ms

if TYPE_CHECKING:
    from triseek.agents.base import Agent


def import_conversations(
    agents: Annotated[
        list[str] | None,
        typer.Argument(metavar="AGENT…", help="Whose conversations, as `claude-code`."),
    ] = None,
    everyone: Annotated[
        bool, typer.Option("--all", help="Those of all agents that are known.")
    ] = False,
    since: Annotated[
        str,
        typer.Option(metavar="WHEN", help="Only files changed since: 2026-10-01, or 30d."),
    ] = "",
    file: Annotated[
        str,
        typer.Option(metavar="PATH", help="A file instead: an archive, a pack, or claude-mem.db."),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count what would be read, and read nothing.")
    ] = False,
    lost_key: Annotated[
        bool,
        typer.Option(
            "--lost-key",
            help="The key by which forgotten conversations are recognised is lost: go on; they"
            " may come back.",
        ),
    ] = False,
    json: options.Json = False,
) -> int:
    """Import conversations that agents keep on this machine, so that they can be searched.

    Only what is new is read; doing it again changes nothing. Secrets and private passages are
    removed before anything is written. What was imported stays when the agent deletes its files.
    What triseek's own sessions have recorded comes with them, for conversations of which there is
    nothing better.

    Examples: triseek history import --all · triseek history import claude-code codex --since 30d ·
    triseek history import --all --dry-run · triseek history import --file handoff.tcp ·
    triseek history import --file ~/.claude-mem/claude-mem.db
    """
    from triseek.history import tombstones
    from triseek.history.commands import importing_files
    from triseek.history.importing import run

    if lost_key:
        with closing(open_history()) as history:
            tombstones.accept_lost_key(history.database)
    if file:
        if agents or everyone or since:
            raise InvalidRequest(
                "--file is imported alone", next_step="Leave out agents, --all and --since."
            )
        return importing_files.import_file(file, dry_run=dry_run, as_json=json)
    chosen = _chosen(agents or [], everyone=everyone)
    since_ms = moment_ms(since) if since else 0
    here = InstallPlace("", os.path.expanduser("~"), os.getcwd(), dict(os.environ))
    history = open_history()
    try:
        if dry_run:
            every = history.with_own(chosen)
            since_of = {agent.name: since_ms for agent in every}
            report = run.plan(history.database, every, here, since_of)
        else:
            with report_text.progress_bars() as progress:
                report = history.import_conversations(
                    chosen, here, since_ms=since_ms, progress=progress
                )
    finally:
        history.close()
    import_report.show(report, dry_run=dry_run, as_json=json)
    return status.FOUND


def _chosen(names: list[str], *, everyone: bool) -> list[Agent]:
    """Return the agents that are named. Raises InvalidRequest if one is not known, or none is."""
    from triseek.history.commands import importing_files
    from triseek.history.importing import sources

    known = {agent.name: agent for agent in sources.importable()}
    listed = ", ".join(known) + importing_files.hint(os.path.expanduser("~"))
    if everyone and not names:
        return list(known.values())
    if everyone or not names:
        raise InvalidRequest(
            "name agents, or say --all" if not names else "name agents or say --all, not both",
            next_step=f"Known are {listed}.",
        )
    for name in names:
        if name not in known:
            raise InvalidRequest(
                f"conversations of {name!r:.40} cannot be imported",
                next_step=f"Known are {listed}.",
            )
    return [known[name] for name in dict.fromkeys(names)]
