"""The verbs of the sessions wing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.sessions.commands import handoff, pack, replay, resume, session, snapshot

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command()(replay.replay)
    app.command()(resume.resume)
    app.command()(handoff.handoff)
    app.add_typer(session.app, name="session")
    app.add_typer(snapshot.app, name="snapshot")
    app.add_typer(pack.app, name="pack")
