"""The daemon group: start, stop, restart, status, run, logs."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from triseek.cli import daemon_asking, report_text, status
from triseek.errors import DaemonUnreachable

app = typer.Typer(
    help="The process that keeps indexes warm and fresh; it starts by itself when it is needed.",
    no_args_is_help=True,
)

Json = Annotated[bool, typer.Option("--json", help="Write a JSON document.")]
IdleExit = Annotated[
    float | None,
    typer.Option(
        "--idle-exit", metavar="SECONDS", help="End after so long without a request; 0: never."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="End it even if it does not answer.")]


@app.command()
def start(
    path: Annotated[
        str, typer.Argument(metavar="[PATH]", help="A folder to open and watch at once.")
    ] = "",
    idle_exit: IdleExit = None,
    json: Json = False,
) -> int:
    """Start the daemon, unless one runs.

    Examples: triseek daemon start --idle-exit 0 · triseek daemon start ~/src/linux
    """
    root = daemon_asking.folder(path) if path else ""
    found = _ask_status()
    if found and not _is_ours(found):
        from triseek.daemon import process

        process.stop()
        found = {}
    began = not found
    found = found or _started(idle_exit)
    if root:
        from triseek.ipc import client

        found |= client.ask("preload_root", {"target_root": root})
    return _tell(found, "started" if began else "already running", as_json=json)


@app.command()
def stop(force: Force = False, json: Json = False) -> int:
    """Stop the daemon and wait until it has ended.

    A process is signalled only with --force, and only if it is certain that it is the daemon.
    """
    from triseek.daemon import process

    ended = process.stop(force=force)
    if json:
        print(report_text.as_json({"stopped": ended}))
    else:
        print("triseek: daemon stopped" if ended else "triseek: no daemon running")
    return status.FOUND


@app.command()
def restart(idle_exit: IdleExit = None, force: Force = False, json: Json = False) -> int:
    """Stop the daemon if one runs, and start one."""
    from triseek.daemon import process

    process.stop(force=force)
    return _tell(_started(idle_exit), "started", as_json=json)


@app.command("status")
def show_status(json: Json = False) -> int:
    """Say whether the daemon runs, and what it is doing."""
    found = _ask_status()
    if json:
        print(report_text.as_json({"running": bool(found), **found}))
    elif not found:
        print("triseek: no daemon running")
    else:
        print(report_text.readable("\n".join(_status_lines(found))))
    return status.FOUND


@app.command()
def run(idle_exit: IdleExit = None) -> int:
    """Be the daemon, in the foreground: what start runs behind.

    Exit status 2: another daemon runs.
    """
    from triseek import config
    from triseek.cli.compose import compose
    from triseek.daemon import process
    from triseek.ipc import ending

    if idle_exit is not None and not 0 <= idle_exit < float("inf"):
        raise typer.BadParameter("give a number of seconds, 0 or more", param_hint="--idle-exit")
    process.run(compose, config.read({"idle_exit_s": idle_exit}), ending=ending.within)
    ending.now(status.FOUND)


@app.command("logs")
def show_logs(
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, help="The last so many.")] = 50,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with new ones until Ctrl-C.")
    ] = False,
) -> int:
    """Show the daemon's log: JSON objects, one a line.

    Example: triseek daemon logs -n 20 --follow
    """
    from triseek.cli.log_tail import LogTail
    from triseek.logs import path

    with LogTail(path()) as tail:
        try:
            print(tail.last(lines), end="", flush=True)
        except FileNotFoundError:
            print(report_text.readable(f"triseek: no log at {path()}"), file=sys.stderr)
        for piece in tail.following() if follow else ():
            print(piece, end="", flush=True)
    return status.FOUND


def _ask_status() -> dict[str, Any]:
    """The daemon's status; empty if none runs.

    Raises:
        DaemonUnreachable: one may run, and cannot be asked.
    """
    from triseek.ipc import address, client

    try:
        return client.ask("status")
    except DaemonUnreachable as error:
        if isinstance(error.__cause__, address.Absent):
            return {}
        raise


def _is_ours(found: dict[str, Any]) -> bool:
    from triseek import __version__

    return found.get("version") == __version__


def _started(idle_exit: float | None) -> dict[str, Any]:
    """Start a daemon, wait for it and return its status.

    Raises:
        DaemonUnreachable: it does not listen.
    """
    daemon_asking.start(*(() if idle_exit is None else (f"--idle-exit={idle_exit}",)))
    return _ask_status()


def _tell(found: dict[str, Any], what: str, *, as_json: bool) -> int:
    if as_json:
        print(report_text.as_json({"started": what == "started", **found}))
    else:
        print(f"triseek: daemon {what} (process {found.get('pid')})")
    return status.FOUND


def _status_lines(found: dict[str, Any]) -> list[str]:
    """What people want to know first, then whatever else the daemon said."""
    first = ("pid", "version", "protocol", "uptime_s")
    head = "triseek: daemon running (process {pid}, version {version}), up {up}".format(
        **found, up=_duration(found.get("uptime_s", 0))
    )
    rest = {name: value for name, value in found.items() if name not in (*first, "roots")}
    if not _is_ours(found):
        rest["note"] = (
            "another version's; the next search, or `triseek daemon restart`, replaces it"
        )
    lines = [f"  {name.replace('_', ' '):12} {value}" for name, value in rest.items()]
    return [head, *lines, *map(_root_line, found.get("roots", ()))]


def _root_line(root: dict[str, Any]) -> str:
    """One root: whether answers cost a sweep, and why."""
    if root["watched"]:
        how = f"watched, generation {root['generation']}"
    elif not root["index_available"]:
        how = "no index" + (f": {root['trouble']}" if root["trouble"] else "")
    else:
        how = f"swept: {root['trouble'] or 'not watched yet'}"
        if root.get("fix"):
            how += f"; to fix it: {root['fix']}"
    return f"  {root['target_root']}: {how}"


def _duration(seconds: float) -> str:
    minutes, hours = int(seconds) // 60, int(seconds) // 3600
    if minutes < 2:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if hours < 2 else f"{hours} h"
