"""The `triseek memo` commands status, session, check and forget: what agents have been shown."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Annotated

import typer

from triseek.errors import StateUnwritable
from triseek.ipc import ask
from triseek.model.plain_text import visible_line
from triseek.terminal import options, report_text, status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

group = typer.Typer(
    help="What coding agents have read, so that they need not read it again.",
    no_args_is_help=True,
)

Session = Annotated[
    str, typer.Option("--session", metavar="ID", help="Which session; the latest there if none.")
]


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.add_typer(group, name="memo")


@group.command("status")
def show_status(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="The files.")],
    repo: options.Repo = ".",
    session: Session = "",
    json: options.Json = False,
) -> int:
    """Say of files whether an agent's session has them as they are now.

    Example: triseek memo status src/auth/router.rs README.md
    """
    paths = [os.path.abspath(file) for file in files]
    reply = ask.required("memo_status", {**_context(repo, session), "files": paths})
    lines = [f"session {reply['session_id']}"]
    for result in reply["results"]:
        path = visible_line(os.path.relpath(result["path"]))
        lines.append(f"{result['status']:8} {path}: {result['message']}")
    return _print(reply, lines, as_json=json)


@group.command("session")
def show_session(
    repo: options.Repo = ".", session: Session = "", json: options.Json = False
) -> int:
    """Show what a session has read, and what was saved by not reading it again.

    Examples: triseek memo session · triseek memo session --repo ~/src/linux --json
    """
    reply = ask.required("memo_session", _context(repo, session))
    lines = [f"session {reply['session_id']}"]
    names = (
        "tracked_files", "total_reads", "redundant_reads_prevented", "tokens_saved",
        "compaction_count",
    )  # fmt: skip
    lines += [f"{name.replace('_', ' '):26} {reply[name]:,}" for name in names]
    for file in reply["files"]:
        path = visible_line(file["path"])
        lines.append(f"{file['status']:8} {file['reads']:3}x {file['tokens']:8,} tokens  {path}")
    return _print(reply, lines, as_json=json)


@group.command()
def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file.")],
    repo: options.Repo = ".",
    session: Session = "",
    json: options.Json = False,
) -> int:
    """Say whether an agent's session would have to read a file again.

    Exit status 1: it would.

    Example: triseek memo check src/auth/router.rs
    """
    params = {**_context(repo, session), "path": os.path.abspath(file)}
    reply = ask.required("memo_check", params)
    lines = [f"{reply['status']}: {reply['recommendation']}"]
    if reply.get("primed"):
        lines.append(reply["message"])
    if reply.get("diff"):
        lines.append(reply["diff"].removesuffix("\n"))
    _print(reply, lines, as_json=json)
    return status.FOUND if reply["recommendation"] == "skip_reread" else status.NOTHING


@group.command()
def forget(
    repo: Annotated[
        str, typer.Option("--repo", metavar="PATH", help="Only what was read in this repository.")
    ] = "",
    json: options.Json = False,
) -> int:
    """Erase what is kept of agents' sessions: which files they read, and contents kept for diffs.

    Examples: triseek memo forget · triseek memo forget --repo ~/src/secret
    """
    forgotten = _forgotten(os.path.realpath(repo) if repo else None)
    reply = {"repo": os.path.realpath(repo) if repo else None, "forgotten": forgotten}
    contexts = "context" if forgotten == 1 else "contexts"
    return _print(reply, [f"{forgotten} {contexts} forgotten"], as_json=json)


def _print(reply: Mapping[str, object], lines: Iterable[str], *, as_json: bool) -> int:
    text = report_text.readable("\n".join(lines))
    print(report_text.as_json(reply) if as_json else text)
    return status.FOUND


def _forgotten(root: str | None) -> int:
    """Forget contexts and return how many; without a daemon, 1 if anything was on disk, else 0.

    Raises:
        DaemonUnreachable: a daemon runs and does not answer, or none does for a single root.
        StateUnwritable: what is on disk cannot be removed.
    """
    if root is not None:
        return int(ask.required("memo_forget", {"target_root": root})["forgotten"])
    reply = ask.if_running("memo_forget")
    if reply is not None:
        return int(reply["forgotten"])
    from triseek import paths

    try:
        shutil.rmtree(paths.memo())
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise StateUnwritable(f"cannot remove {paths.memo()}: {error.strerror}") from error
    return 1


def _context(repo: str, session: str) -> dict[str, str]:
    """Return the parameters that say whose reads are meant. Raises as `options.existing_folder`."""
    return {"target_root": options.existing_folder(repo), "session": session}
