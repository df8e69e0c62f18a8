"""The daemon group: start, stop, restart, status, run, logs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, TypedDict, cast

import typer

from triseek.ipc import ask
from triseek.terminal import options, report_text, status

if TYPE_CHECKING:
    from triseek.daemon.background_jobs import RootState

app = typer.Typer(
    help="The process that keeps indexes warm and fresh; it starts by itself when it is needed.",
    no_args_is_help=True,
)


class DaemonStatus(TypedDict, total=False):
    """The fields of `status` that are read here; empty if no daemon runs."""

    pid: int
    version: str
    uptime_s: float
    roots: list[RootState]


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
    json: options.Json = False,
) -> int:
    """Start the daemon, unless one runs.

    Examples: triseek daemon start --idle-exit 0 · triseek daemon start ~/src/linux
    """
    root = options.existing_folder(path) if path else ""
    reply = _ask_status()
    if reply and not _is_ours(reply):
        from triseek.daemon import process

        process.stop()
        reply = {}
    began = not reply
    reply = reply or _started(idle_exit)
    if root:
        reply |= cast("DaemonStatus", ask.required("preload_root", {"target_root": root}))
    return _tell(reply, "started" if began else "already running", as_json=json)


@app.command()
def stop(force: Force = False, json: options.Json = False) -> int:
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
def restart(idle_exit: IdleExit = None, force: Force = False, json: options.Json = False) -> int:
    """Stop the daemon if one runs, and start one."""
    from triseek.daemon import process

    process.stop(force=force)
    return _tell(_started(idle_exit), "started", as_json=json)


@app.command("status")
def show_status(json: options.Json = False) -> int:
    """Say whether the daemon runs, and what it is doing."""
    reply = _ask_status()
    if json:
        print(report_text.as_json({"running": bool(reply), **reply}))
    elif not reply:
        print("triseek: no daemon running")
    else:
        print(report_text.readable("\n".join(_status_lines(reply))))
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
    process.run(compose, config.read({"daemon_idle_exit_s": idle_exit}), ending=ending.within)
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


def _ask_status() -> DaemonStatus:
    """Return the daemon's status; empty if none runs.

    Raises:
        DaemonUnreachable: A daemon may run, but cannot be asked.
    """
    return cast("DaemonStatus", ask.if_running("status", timeout_s=5.0) or {})


def _is_ours(reply: DaemonStatus) -> bool:
    from triseek import __version__

    return reply.get("version") == __version__


def _started(idle_exit: float | None) -> DaemonStatus:
    """Start a daemon, wait for it and return its status.

    Raises:
        DaemonUnreachable: The daemon does not listen.
    """
    ask.start(*(() if idle_exit is None else (f"--idle-exit={idle_exit}",)))
    return _ask_status()


def _tell(reply: DaemonStatus, what: str, *, as_json: bool) -> int:
    if as_json:
        print(report_text.as_json({"started": what == "started", **reply}))
    else:
        print(f"triseek: daemon {what} (process {reply.get('pid')})")
    return status.FOUND


def _status_lines(reply: DaemonStatus) -> list[str]:
    """Return the main figures of a status, then everything else in it, line by line."""
    first = ("pid", "version", "protocol", "uptime_s")
    head = "triseek: daemon running (process {pid}, version {version}), up {up}".format(
        **reply, up=_duration(reply.get("uptime_s", 0))
    )
    rest = {name: value for name, value in reply.items() if name not in (*first, "roots")}
    if not _is_ours(reply):
        rest["note"] = (
            "another version's; the next search, or `triseek daemon restart`, replaces it"
        )
    lines = [f"  {name.replace('_', ' '):12} {value}" for name, value in rest.items()]
    return [head, *lines, *map(_root_line, reply.get("roots", ()))]


def _root_line(root: RootState) -> str:
    """Describe one root: whether its answers cost a sweep, and why."""
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
