"""The session group: open, status, list, close. What is done in an open one is in its log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from triseek.errors import InvalidRequest
from triseek.ipc import ask
from triseek.model.plain_text import visible_line
from triseek.sessions.commands import printing
from triseek.terminal import options, report_text

if TYPE_CHECKING:
    from triseek.sessions.results import SessionStatusAnswer

app = typer.Typer(
    help="Work with a goal: what agents read, edit and search while it is open is kept in its log.",
    no_args_is_help=True,
)

SessionId = Annotated[str, typer.Argument(metavar="ID", help="Which; the open one here if none.")]


@app.command("open")
def open_session(
    goal: Annotated[
        list[str] | None, typer.Argument(metavar="GOAL", help="What the work is for.")
    ] = None,
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="Its id; one that is there is reopened.")
    ] = "",
    repo: options.Repo = ".",
    json: options.Json = False,
) -> int:
    """Open a session here, and print its id. Later calls of agents in this repository are logged.

    Examples: triseek session open Fix the flaky integration test in auth_service ·
    triseek session open 'Retry backoff' --session retry-backoff
    """
    if not goal and not session:
        raise InvalidRequest(
            "a session has a goal", next_step="Say it: `triseek session open Fix the login`."
        )
    params = {
        "target_root": options.existing_folder(repo),
        "goal": " ".join(goal or ()),
        "session_id": session,
    }
    reply = ask.required("session_open", params)
    return printing.answer(reply, reply["session"]["session_id"], as_json=json)


@app.command("status")
def show_status(
    session: SessionId = "",
    repo: options.Repo = ".",
    json: options.Json = False,
) -> int:
    """Show a session, and how many entries its log has.

    Examples: triseek session status · triseek session status session_1777803396000 --json
    """
    reply = current(options.existing_folder(repo), session)
    record = reply["session"]
    lines = [
        f"session  {record['session_id']}",
        f"goal     {visible_line(record['goal'])}",
        f"status   {record['status']}",
        f"repo     {visible_line(record['repo_root'])}",
        f"opened   {report_text.local_time(record['created_at'])}",
        f"updated  {report_text.local_time(record['updated_at'])}",
        f"log      {printing.counted(reply['action_log_size'], 'entry', 'entries')}",
    ]
    return printing.answer(reply, "\n".join(lines), as_json=json)


@app.command("list")
def show_list(
    only: Annotated[
        str,
        typer.Option("--status", metavar="STATUS", help="Only these: open, resolved, abandoned."),
    ] = "",
    repo: options.Repo = ".",
    json: options.Json = False,
) -> int:
    """List the sessions of this repository, the one that was updated last first.

    Example: triseek session list --status open
    """
    params = {"target_root": options.existing_folder(repo), "status": only}
    reply = ask.required("session_list", params)
    lines = [
        f"{row['session_id']}  {row['status']:9}  {report_text.local_time(row['updated_at'])}  "
        f"{visible_line(row['goal'])}"
        for row in reply["sessions"]
    ]
    return printing.answer(reply, "\n".join(lines) or "no sessions here", as_json=json)


@app.command()
def close(
    session: SessionId = "",
    how: Annotated[
        str, typer.Option("--status", metavar="STATUS", help="resolved, or abandoned.")
    ] = "resolved",
    repo: options.Repo = ".",
    json: options.Json = False,
) -> int:
    """Close a session. Its log and snapshots are kept; opening it again goes on with them.

    Example: triseek session close session_1777803396000 --status abandoned
    """
    record = current(options.existing_folder(repo), session)["session"]
    reply = ask.required("session_close", {"session_id": record["session_id"], "status": how})
    record = reply["session"]
    return printing.answer(
        reply, f"session {record['session_id']} {record['status']}", as_json=json
    )


def current(root: str, session: str = "", harness: str = "") -> SessionStatusAnswer:
    """Return the daemon's status of a session; of a repository's current one if none is named.

    harness: The agent whose latest session it is to be, if none is named; "" for any.

    Raises:
        InvalidRequest: there is none.
    """
    try:
        params = {"target_root": root, "session_id": session, "harness": harness}
        return cast("SessionStatusAnswer", ask.required("session_status", params))
    except InvalidRequest as error:
        if session or harness:
            raise
        raise InvalidRequest(
            "No open TriSeek session found",
            next_step="Open one first with `triseek session open GOAL`, or name one: "
            "`triseek session list`.",
        ) from error
