"""The daemon group: start, stop, restart, status, run, logs."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Annotated, BinaryIO, Self, TypedDict, cast

import typer

from triseek.ipc import ask
from triseek.model.plain_text import json_text
from triseek.terminal import options, report_text, status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.daemon.verbs import RootState

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
    text = "triseek: daemon stopped" if ended else "triseek: no daemon running"
    print(report_text.as_json({"stopped": ended}) if json else text)
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
    lines = _status_lines(reply) if reply else ["triseek: no daemon running"]
    document = {"running": bool(reply), **reply}
    print(report_text.as_json(document) if json else report_text.readable("\n".join(lines)))
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
    text = f"triseek: daemon {what} (process {reply.get('pid')})"
    print(report_text.as_json({"started": what == "started", **reply}) if as_json else text)
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


# The log

BLOCK = 1 << 16
POLL_S = 0.2


class LogTail:
    """Follows one path by name: if another file takes the name, it continues with that file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            self._file.close()

    def last(self, count: int) -> str:
        """Return the last `count` lines; `following` continues at the end of the file.

        Raises:
            FileNotFoundError: There is no file.
        """
        self._file = open(self._path, "rb")  # noqa: SIM115 - kept open to be followed
        start = self._file.seek(0, os.SEEK_END)
        data = b""
        while start and data.count(b"\n") <= count:
            size = min(BLOCK, start)
            start = self._file.seek(start - size)
            data = self._file.read(size) + data
        self._file.seek(0, os.SEEK_END)
        lines = data.splitlines(keepends=True)
        return _text(b"".join(lines[-count:] if count else []))

    def following(self) -> Iterator[str]:
        """Yield appended text, without end; a file that takes the name is read from the start."""
        while True:
            data = self._file.read() if self._file else b""
            if data:
                yield _text(data)
            elif not self._reopened():
                time.sleep(POLL_S)

    def _reopened(self) -> bool:
        """Open the file if another one has the name by now; return whether that was so."""
        try:
            current = os.stat(self._path)
            if self._file and os.path.samestat(current, os.fstat(self._file.fileno())):
                return False
            fresh = open(self._path, "rb")  # noqa: SIM115 - kept open to be followed
        except OSError:
            return False
        if self._file:
            self._file.close()
        self._file = fresh
        return True


def _text(data: bytes) -> str:
    return json_text(data.decode("utf-8", "replace"))
