"""resume: go on with what a snapshot holds, in this repository, in whichever agent."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triseek.cli import arrows, report_text, status
from triseek.cli.commands import options  # noqa: TC001 - Typer reads annotations
from triseek.cli.daemon_asking import ask, folder

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
    print_it: Annotated[
        bool, typer.Option("--print", help="Write it to standard output, as without --write-to.")
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
    wanted: dict[str, Any] = {"snapshot_id": snapshot, "target_root": folder(repo)}
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
        print(told["payload_markdown"].encode(errors="replace").decode(), end="")
    _tell(told, write_to, snapshot)
    return status.FOUND


def _written(told: Mapping[str, Any], path: str, root: str) -> str:
    from triseek.harness import project_files

    done = project_files.put(path, root, told["payload_markdown"])
    if done.caution:
        arrows.arrow(done.caution)
    return path


def _tell(told: Mapping[str, Any], write_to: str, snapshot: str) -> None:
    """Say what is warm now; where one's own work goes on in the same agent, that it is ready."""
    report = told["hydration_report"]
    same = bool(write_to) and _goes_on(snapshot, write_to)
    if not same:
        arrows.primed(report)
    arrows.stale(report["stale_files"])
    arrows.differs(report["differs"])
    if write_to:
        ready = "updated; ready to continue" if same else "updated with hydration payload"
        arrows.arrow(f"{write_to} {ready}")


def _goes_on(snapshot: str, write_to: str) -> bool:
    """Whether the file is the project file of the agent that the snapshot was made in."""
    from triseek.cli.commands.snapshot import snapshots
    from triseek.harness import project_files

    maker = snapshots().get(snapshot).manifest.source_harness
    return maker is not None and project_files.reader(write_to) == maker
