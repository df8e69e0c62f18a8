"""resume: continue the work of a snapshot in this repository, in any agent."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triseek.errors import InvalidRequest
from triseek.ipc import ask
from triseek.sessions.commands import printing
from triseek.terminal import options, report_text, status

if TYPE_CHECKING:
    from collections.abc import Mapping

Budget = Annotated[
    int | None,
    typer.Option(
        "--budget-tokens", metavar="N", min=1, help="Most tokens of the payload: 256 to 12,000."
    ),
]


def resume(
    snapshot: Annotated[str, typer.Argument(metavar="ID", help="The snapshot.")],
    write_to: Annotated[
        str,
        typer.Option(
            "--write-to",
            metavar="FILE",
            help="Put the payload into this file as one block; nothing else in it changes.",
        ),
    ] = "",
    reader: Annotated[
        str,
        typer.Option(
            "--for", metavar="NAME", help="Put it into the file that this agent reads here."
        ),
    ] = "",
    print_it: Annotated[
        bool, typer.Option("--print", help="Write it to standard output, as without a file.")
    ] = False,
    budget_tokens: Budget = None,
    memory: Annotated[
        bool,
        typer.Option("--memory", help="Draw on what is remembered of the project, within N."),
    ] = False,
    repo: options.Repo = ".",
    json: options.Json = False,
) -> int:
    """Go on with a snapshot: prime memo, searches and frecency, and give the payload to read.

    What has changed since it was made, and where the repository is another one, is said.

    Examples: triseek resume snap_1746300000_session_123 --write-to AGENTS.md ·
    triseek resume snap_1746300000_session_123 --print --budget-tokens 8000
    """
    root = options.existing_folder(repo)
    if reader:
        write_to, reader = _file_of(reader, root, write_to)
    params = {
        "snapshot_id": snapshot,
        "target_root": root,
        "budget_tokens": budget_tokens,
        "payload_file": os.path.abspath(write_to) if write_to else "",
        "memory": memory,
    }
    reply = ask.required("session_resume", params)
    report = reply["hydration_report"]
    written = _written(reply, write_to, report["repo_root"]) if write_to else None
    if json:
        print(report_text.as_json({**reply, "written_to": written}))
        return status.FOUND
    if print_it or not write_to:
        text = reply["payload_markdown"]  # may be foreign text, and quoting does not stop escapes
        text = report_text.readable(text) if sys.stdout.isatty() else text
        sys.stdout.buffer.write(text.encode(errors="replace"))
        sys.stdout.buffer.flush()
    printing.resumed(report, write_to, goes_on=_goes_on(snapshot, reader, write_to))
    return status.FOUND


def _file_of(name: str, folder: str, write_to: str) -> tuple[str, str]:
    """Return the file that an agent reads in the project around a folder, and the agent.

    The file is relative to the working folder.

    Raises:
        InvalidRequest: the agent is unknown, or a file is named as well.
    """
    from triseek.agents import registry
    from triseek.engine.roots import project

    if write_to:
        raise InvalidRequest("--for names a file already", next_step="Leave out --write-to.")
    agent, root = registry.receiver(name), project(folder)
    return os.path.relpath(os.path.join(root, agent.project_file(root))), agent.handoff_name


def _written(reply: Mapping[str, Any], path: str, root: str) -> str:
    from triseek.agents import project_files

    done = project_files.put(path, root, reply["payload_markdown"])
    if done.caution:
        printing.arrow(done.caution)
    return path


def _goes_on(snapshot: str, reader: str, write_to: str) -> bool:
    """Whether the file is for the agent that the snapshot was made in."""
    from triseek.agents import project_files
    from triseek.sessions.commands.snapshot import snapshots

    maker = snapshots().get(snapshot).manifest.source_harness
    whose = reader or project_files.reader(write_to)
    return bool(write_to and maker) and whose == maker
