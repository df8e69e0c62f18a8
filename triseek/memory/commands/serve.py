"""memory serve: the memory for a client by standard streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Callable

_serve: list[Callable[[str, str], int]] = []


def provide(serve: Callable[[str, str], int]) -> None:
    """Set what serves: it joins the wing with the server by HTTP, of which a wing knows nothing.

    serve: `serve(palace, http)` returns the exit status.
    """
    _serve[:] = [serve]


def serve(
    palace: Annotated[
        str,
        typer.Option(
            "--palace",
            metavar="NAME",
            help="The palace of calls that name none; made if it does not exist.",
        ),
    ] = "",
    http: Annotated[
        str,
        typer.Option(
            "--http",
            metavar="HOST:PORT",
            help="Serve the memory by HTTP, too, on a loopback address.",
        ),
    ] = "",
) -> int:
    """Serve an MCP client by standard streams until it leaves: the ten tools of trusty-memory.

    Logs go to standard error; RUST_LOG sets their level (off, error, warn, info, debug, trace).

    Examples: triseek memory serve · triseek memory serve --palace my-project
    """
    if not _serve:
        raise InvalidRequest("this process does not serve the memory")
    return _serve[0](palace, http)
