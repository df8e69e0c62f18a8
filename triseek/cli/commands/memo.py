"""The memo group: status, session, check, forget; what agents have been shown, for people."""

from __future__ import annotations

import os
import shutil
from typing import Annotated, Any

import typer

from triseek.cli import report_text, status
from triseek.errors import DaemonUnreachable, InvalidRequest, StateUnwritable
from triseek.ipc import client, lock
from triseek.model.plain_text import visible_line

app = typer.Typer(
    help="What coding agents have read, so that they need not read it again.",
    no_args_is_help=True,
)

Json = Annotated[bool, typer.Option("--json", help="Write a JSON document.")]
Repo = Annotated[
    str, typer.Option("--repo", metavar="PATH", help="A folder of the repository; here if none.")
]
Session = Annotated[
    str, typer.Option("--session", metavar="ID", help="Which session; the latest there if none.")
]


@app.command("status")
def show_status(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="The files.")],
    repo: Repo = ".",
    session: Session = "",
    json: Json = False,
) -> int:
    """Say of files whether an agent's session has them as they are now.

    Example: triseek memo status src/auth/router.rs README.md
    """
    paths = [os.path.abspath(file) for file in files]
    told = _ask("memo_status", repo, session, files=paths)
    if json:
        print(report_text.as_json(told))
        return status.FOUND
    _say(f"session {told['session_id']}")
    for result in told["results"]:
        path = visible_line(os.path.relpath(result["path"]))
        _say(f"{result['status']:8} {path}: {result['message']}")
    return status.FOUND


@app.command("session")
def show_session(repo: Repo = ".", session: Session = "", json: Json = False) -> int:
    """Show what a session has read, and what was saved by not reading it again.

    Examples: triseek memo session · triseek memo session --repo ~/src/linux --json
    """
    told = _ask("memo_session", repo, session)
    if json:
        print(report_text.as_json(told))
        return status.FOUND
    _say(f"session {told['session_id']}")
    for name in ("tracked_files", "total_reads", "redundant_reads_prevented", "tokens_saved",
                 "compaction_count"):  # fmt: skip
        print(f"{name.replace('_', ' '):26} {told[name]:,}")
    for file in told["files"]:
        path = visible_line(file["path"])
        _say(f"{file['status']:8} {file['reads']:3}x {file['tokens']:8,} tokens  {path}")
    return status.FOUND


@app.command()
def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file.")],
    repo: Repo = ".",
    session: Session = "",
    json: Json = False,
) -> int:
    """Say whether an agent's session would have to read a file again.

    Exit status 1: it would.

    Example: triseek memo check src/auth/router.rs
    """
    told = _ask("memo_check", repo, session, path=os.path.abspath(file))
    if json:
        print(report_text.as_json(told))
    else:
        print(f"{told['status']}: {told['recommendation']}")
        if told.get("primed"):
            _say(told["message"])
        if told.get("diff"):
            print(report_text.readable(told["diff"]), end="")
    return status.FOUND if told["recommendation"] == "skip_reread" else status.NOTHING


@app.command()
def forget(
    repo: Annotated[
        str, typer.Option("--repo", metavar="PATH", help="Only what was read in this repository.")
    ] = "",
    json: Json = False,
) -> int:
    """Erase what is kept of agents' sessions: which files they read, and contents kept for diffs.

    Examples: triseek memo forget · triseek memo forget --repo ~/src/secret
    """
    forgotten = _forgotten(os.path.realpath(repo) if repo else None)
    told = {"repo": os.path.realpath(repo) if repo else None, "forgotten": forgotten}
    contexts = "context" if forgotten == 1 else "contexts"
    print(report_text.as_json(told) if json else f"{forgotten} {contexts} forgotten")
    return status.FOUND


def _say(line: str) -> None:
    print(report_text.readable(line))


def _forgotten(root: str | None) -> int:
    """How many contexts the daemon has forgotten; without one, whether there was anything on disk.

    Raises:
        DaemonUnreachable: one runs and cannot be asked, or one root alone is to be forgotten.
        StateUnwritable: what is on disk cannot be removed.
    """
    params = {} if root is None else {"target_root": root}
    try:
        return int(client.ask("memo_forget", params)["forgotten"])
    except DaemonUnreachable as error:
        if not lock.is_free():
            raise
        if root is not None:
            error.next_step = "Run `triseek daemon start`, or forget all of it, without --repo."
            raise
    from triseek import paths

    try:
        shutil.rmtree(paths.memo())
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise StateUnwritable(f"cannot remove {paths.memo()}: {error.strerror}") from error
    return 1


def _ask(verb: str, repo: str, session: str, **params: Any) -> dict[str, Any]:  # noqa: ANN401
    """Ask the daemon about a repository.

    Raises:
        InvalidRequest: there is no such folder.
        DaemonUnreachable: no daemon answers.
    """
    root = os.path.realpath(repo)
    if not os.path.isdir(root):
        raise InvalidRequest(f"{repo}: no such folder", next_step="Pass a folder with --repo.")
    try:
        return client.ask(verb, {"target_root": root, "session": session, **params})
    except DaemonUnreachable as error:
        error.next_step = "The memo is the daemon's: run `triseek daemon start`."
        raise
