"""serve: local indexes by Zoekt's HTTP interface."""

from __future__ import annotations

from typing import Annotated

import typer

from triseek.errors import InvalidRequest
from triseek.terminal import status


def serve(
    zoekt_compat: Annotated[
        str,
        typer.Option(
            "--zoekt-compat",
            metavar="HOST:PORT",
            help="Listen there; port 0 is any that is free.",
        ),
    ],
    root: Annotated[
        list[str] | None,
        typer.Option(
            "--root", metavar="PATH", help="An indexed folder; repeatable. Else all indexed ones."
        ),
    ] = None,
    token: Annotated[
        bool,
        typer.Option(
            "--token",
            help="Ask for a token: TRISEEK_ZOEKT_TOKEN, or the content of the file that "
            "TRISEEK_ZOEKT_TOKEN_FILE names, or one that is made and kept in a file, which the "
            "server names when it starts.",
        ),
    ] = False,
    without_token: Annotated[
        bool,
        typer.Option(
            "--without-token",
            help="Let everybody who reaches an address that is no loopback address search.",
        ),
    ] = False,
) -> int:
    """Answer as zoekt-webserver does, from the indexes on this machine, until Ctrl-C.

    Clients of Zoekt, and clusters of it, use this server as one of theirs. It sees each edit at
    once. On a loopback address it asks for no token unless --token is given, because those clients
    send none; on any other address it does.

    Examples: triseek serve --zoekt-compat 127.0.0.1:6070 ·
    triseek serve --zoekt-compat 0.0.0.0:6070 --token --root ~/src/linux
    """
    from triseek import logs
    from triseek.compat.run import run
    from triseek.ipc import ending
    from triseek.loopback.address import Address

    if token and without_token:
        raise InvalidRequest(
            "--token and --without-token contradict each other", next_step="Pass one of them."
        )
    address = Address.parse(zoekt_compat, "--zoekt-compat", anywhere=token or without_token)
    logs.configure("cli")
    run(address, root or [], needs_token=token)
    ending.now(status.FOUND)
