"""resume: go on with what a snapshot holds, in this repository, in whichever agent."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triseek.cli import arrows, report_text, status
from triseek.cli.commands import options  # noqa: TC001 - Typer reads annotations
from triseek.cli.daemon_asking import ask, folder
from triseek.cli.world import to_stdout
from triseek.errors import InvalidRequest

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
    repo: options.Repo = ".",
    json: options.Json = False,
) -> int:
    """Go on with a snapshot: prime memo, searches and frecency, and give the payload to read.

    What has changed since it was made, and where the repository is another one, is said.

    Examples: triseek resume snap_1746300000_session_123 --write-to AGENTS.md ·
    triseek resume snap_1746300000_session_123 --print --budget-tokens 8000
    """
    root = folder(repo)
    if reader:
        write_to, reader = _file_of(reader, root, write_to)
    wanted: dict[str, Any] = {"snapshot_id": snapshot, "target_root": root}
    if budget_tokens is not None:
        wanted["budget_tokens"] = budget_tokens
    if write_to:
        wanted["payload_file"] = os.path.abspath(write_to)
    told = ask("session_resume", wanted)
    report = told["hydration_report"]
    written = _written(told, write_to, report["repo_root"]) if write_to else None
    if json:
        print(report_text.as_json({**told, "written_to": written}))
        return status.FOUND
    if print_it or not write_to:
        text = told["payload_markdown"]  # of somebody else, perhaps: a terminal obeys no quotation
        text = report_text.readable(text) if sys.stdout.isatty() else text
        to_stdout(text.encode(errors="replace"))
    _tell(told, write_to, _goes_on(snapshot, reader, write_to))
    return status.FOUND


def _file_of(name: str, folder: str, write_to: str) -> tuple[str, str]:
    """The file that an agent reads in the project around a folder, from here; and the agent.

    Raises:
        InvalidRequest: we know no such agent, or a file is named besides.
    """
    from triseek.harness import project_files
    from triseek.model.agents import agent
    from triseek.service.roots import project

    if write_to:
        raise InvalidRequest("--for names a file already", next_step="Leave out --write-to.")
    found, root = agent(name).name, project(folder)
    return os.path.relpath(os.path.join(root, project_files.default(found, root))), found


def _written(told: Mapping[str, Any], path: str, root: str) -> str:
    from triseek.harness import project_files

    done = project_files.put(path, root, told["payload_markdown"])
    if done.caution:
        arrows.arrow(done.caution)
    return path


def _tell(told: Mapping[str, Any], write_to: str, goes_on: bool) -> None:
    """Say what is warm now; where one's own work goes on in the same agent, that it is ready."""
    report = told["hydration_report"]
    if not goes_on:
        arrows.primed(report)
    arrows.stale(report["stale_files"])
    arrows.differs(report["differs"])
    if write_to:
        ready = "updated; ready to continue" if goes_on else "updated with hydration payload"
        arrows.arrow(f"{write_to} {ready}")


def _goes_on(snapshot: str, reader: str, write_to: str) -> bool:
    """Whether what is written is for the agent that the snapshot was made in."""
    from triseek.cli.commands.snapshot import snapshots
    from triseek.harness import project_files

    maker = snapshots().get(snapshot).manifest.source_harness
    whose = reader or project_files.reader(write_to)
    return bool(write_to and maker) and whose == maker
