"""handoff: make a snapshot, brief the next agent, and print the line to paste there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triseek import paths
from triseek.agents import registry
from triseek.errors import ConfigWriteFailed, InvalidRequest
from triseek.ipc import ask
from triseek.sessions.action_log import ActionLog
from triseek.sessions.commands import pack, printing
from triseek.sessions.commands.session import current
from triseek.sessions.commands.snapshot import snapshots, take
from triseek.sessions.files import HANDED_OFF as HANDOFF
from triseek.terminal import options

if TYPE_CHECKING:
    from triseek.agents.base import Agent
    from triseek.sessions.results import SessionRecord
    from triseek.sessions.snapshot_files import Snapshot

_NAMES = [agent.handoff_name.partition("_")[0] for agent in registry.receivers()]
TARGETS = f"{', '.join(_NAMES[:-1])} or {_NAMES[-1]}."


def handoff(
    target: Annotated[str, typer.Argument(metavar="TARGET", help=TARGETS)],
    source: Annotated[
        str,
        typer.Option("--from", metavar="NAME", help="The agent whose latest conversation it is."),
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
    receiver = registry.receiver(target)
    giver = registry.receiver(source).handoff_name if source else ""
    record = _with_work(repo, session, giver)
    session_id = record["session_id"]
    snapshot_id = take(repo, session_id, giver, "", pin)["snapshot_id"]
    store = snapshots()
    briefing = str(store.write_briefing(snapshot_id, None))
    carried = pack.exported(snapshot_id, output)[0] if output else None
    paste = receiver.paste.format(id=snapshot_id)
    if not json:
        printing.arrow(f"snapshot {snapshot_id} created")
        printing.arrow("briefing.md written")
        if carried:
            printing.arrow(f"{carried} written")
    written, trouble = None, None
    if not no_write:
        try:
            written = _written(store.get(snapshot_id), receiver)
        except ConfigWriteFailed as error:
            trouble = error  # print the line to paste first: it works without the block
    if not json:
        printing.arrow(f"in {receiver.handoff_title or receiver.title}, paste:")
    if record["status"] == "open":  # a closed log stays as it is
        _note(repo, session_id, snapshot_id, receiver)
    document = {
        "snapshot_id": snapshot_id,
        "snapshot_dir": str(store.folder(snapshot_id)),
        "from": giver or None,
        "to": receiver.handoff_name,
        "briefing": briefing,
        "written_to": written,
        "pack": carried,
        "paste": paste,
    }
    code = printing.answer(document, f"  {paste}", as_json=json)
    if trouble is not None:
        raise trouble
    return code


def _with_work(repo: str, session: str, giver: str) -> SessionRecord:
    """Return the session to hand over.

    Raises:
        InvalidRequest: there is no such session, or nothing is recorded in it.
    """
    record = current(options.existing_folder(repo), session, giver)["session"]
    session_id = record["session_id"]
    if not has_work(session_id):
        raise InvalidRequest(
            f"nothing is recorded in {session_id}, so there is nothing to hand over",
            next_step="Work in the agent first, with hooks: `triseek install`; or choose another "
            "session: `triseek session list`.",
        )
    return record


def has_work(session_id: str) -> bool:
    """Whether a session's log has more than its openings, closings and snapshots."""
    log = ActionLog(Path(paths.sessions(), session_id))
    return any(not entry.kind.startswith("session_") for entry in log)


def _note(repo: str, session_id: str, snapshot_id: str, receiver: Agent) -> None:
    payload = {"snapshot_id": snapshot_id, "to": receiver.handoff_name}
    params = {
        "target_root": options.existing_folder(repo),
        "session_id": session_id,
        "notes": [{"kind": HANDOFF, "payload": payload}],
    }
    ask.required("session_note", params)


def _written(snapshot: Snapshot, receiver: Agent) -> str:
    """Put the payload into the file that the receiver reads; return its path below the root.

    The snapshot was made a moment ago, so nothing in it is out of date.

    Raises:
        ConfigWriteFailed: the file cannot be written; it is as it was.
    """
    from triseek.agents import project_files
    from triseek.sessions import hydration

    root, git = snapshot.manifest.repo_root, snapshot.git
    name = receiver.project_file(root)
    now = hydration.Drift(git.commit, git.branch, git.dirty_files, 0)
    text = hydration.payload(snapshot, now, ()).text
    done = project_files.put(os.path.join(root, name), root, text)
    printing.arrow(f"{name} updated with hydration payload")
    if done.caution:
        printing.arrow(done.caution)
    return name
