"""ui: the page in a browser."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from triseek.terminal import options, report_text, status

if TYPE_CHECKING:
    from triseek.ui.app import Links


def ui(
    path: options.Folder = ".",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Listen there; 0, any that is free.")
    ] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Start no browser; only say where the page is.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Show searches, the index, sessions and snapshots in a browser, until Ctrl-C.

    The page is served to this machine alone, to whoever has its link; it asks for nothing from
    anywhere else. Anyone with the link sees what it shows.

    Examples: triseek ui · triseek ui ~/src/linux --port 8700 --no-open
    """
    import threading
    import webbrowser

    from triseek import logs
    from triseek.ipc import ending
    from triseek.ui.app import serve

    def announce(links: Links) -> None:
        _tell(links, as_json=json)
        if not no_open and _is_desktop():
            # For some browsers the call returns only when they are closed.
            threading.Thread(target=webbrowser.open, args=(links.once,), daemon=True).start()

    logs.configure("cli")
    serve(options.existing_folder(path), port, announce)
    ending.now(status.FOUND)


def _tell(links: Links, *, as_json: bool) -> None:
    if as_json:
        document = {"url": links.lasting, "root": links.root, "port": links.port}
        print(report_text.as_json(document), flush=True)
        return
    print(report_text.readable(f"triseek: {links.root}\n  {links.lasting}"), flush=True)
    print("Ctrl-C ends it; until then whoever has this link sees the page.", file=sys.stderr)


def _is_desktop() -> bool:
    """Return whether a user can see a browser: not in a pipeline, nor over SSH."""
    if sys.platform in ("darwin", "win32"):
        return sys.stdout.isatty()
    display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(display) and sys.stdout.isatty()
