"""handoff: keep how a session stands, brief the next agent, and say what to paste there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from triseek.cli import arrows, report_text, status
from triseek.cli.commands import options, pack
from triseek.cli.commands.snapshot import snapshots, wanted
from triseek.cli.daemon_asking import ask
from triseek.errors import ConfigWriteFailed

if TYPE_CHECKING:
    from triseek.model.agents import Agent
    from triseek.sessions.snapshot_files import Snapshot

TARGETS = "codex, claude, opencode, pi, cursor, cline or gemini."
_PASTE = {
    "codex": "$triseek resume {id}",  # a skill there
    "cline": "Call session_resume of the MCP server triseek with snapshot_id {id}",
}
"""What a person pastes; a slash command where nothing else is said."""


def handoff(
    target: Annotated[str, typer.Argument(metavar="TARGET", help=TARGETS)],
    source: Annotated[
        str, typer.Option("--from", metavar="NAME", help="The agent that did the work.")
    ] = "",
    session: options.Session = "",
    pin: options.Pins = [],  # noqa: B006 - Typer copies it
    no_write: Annotated[
        bool, typer.Option("--no-write", help="Leave the target's project file as it is.")
    ] = False,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="PACK", help="Write a pack too, to carry.")
    ] = "",
    repo: options.Repo = ".",
    json: options.Json = False,
) -> int:
    """Hand a session over to another agent: snapshot, briefing, a block in its project file.

    What is printed is the line to paste there. The session stays open.

    Examples: triseek handoff codex --from claude_code · triseek handoff claude --no-write ·
    triseek handoff gemini --session session_123 --output handoff.tcp
    """
    from triseek.model.agents import agent

    receiver = agent(target)
    giver = agent(source).name if source else ""
    asked = wanted(repo, session, giver, "", pin)
    snapshot_id = ask("session_snapshot", asked)["snapshot_id"]
    store = snapshots()
    briefing = str(store.write_briefing(snapshot_id, None))
    carried = pack.exported(snapshot_id, output)[0] if output else None
    paste = _PASTE.get(receiver.name, "/triseek resume {id}").format(id=snapshot_id)
    if not json:
        arrows.arrow(f"snapshot {snapshot_id} created")
        arrows.arrow("briefing.md written")
        if carried:
            arrows.arrow(f"{carried} written")
    written, trouble = None, None
    if not no_write:
        try:
            written = _written(store.get(snapshot_id), receiver)
        except ConfigWriteFailed as error:
            trouble = error  # what is to be pasted is said first: without the block it works too
    if json:
        print(
            report_text.as_json(
                {
                    "snapshot_id": snapshot_id,
                    "snapshot_dir": str(store.folder(snapshot_id)),
                    "from": giver or None,
                    "to": receiver.name,
                    "briefing": briefing,
                    "written_to": written,
                    "pack": carried,
                    "paste": paste,
                }
            )
        )
    else:
        arrows.arrow(f"in {receiver.title}, paste:")
        print(report_text.readable(f"  {paste}"))
    if trouble is not None:
        raise trouble
    return status.FOUND


def _written(snapshot: Snapshot, receiver: Agent) -> str:
    """Put the payload into the file that the receiver reads; the file, below the root.

    The snapshot was made a moment ago, so nothing in it is out of date.

    Raises:
        ConfigWriteFailed: the file cannot be written; it is as it was.
    """
    from triseek.harness import project_files
    from triseek.sessions import hydration

    root, git = snapshot.manifest.repo_root, snapshot.git
    name = project_files.default(receiver.name, root)
    now = hydration.Since(git.commit, git.branch, git.dirty_files, 0)
    text = hydration.payload(snapshot, now, ()).text
    done = project_files.put(os.path.join(root, name), root, text)
    arrows.arrow(f"{name} updated with hydration payload")
    if done.caution:
        arrows.arrow(done.caution)
    return name
