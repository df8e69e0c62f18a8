"""`triseek workflows serve`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Callable

SSE_PORT, HTTP_PORT = 8000, 8080

servers = typer.Typer(help="A server of the workflow tools.", no_args_is_help=True)
_serves: list[Callable[[str, str, int, int], int]] = []


def provide(serve: Callable[[str, str, int, int], int]) -> None:
    """Set what serves workflows: `serve(repo, host, sse_port, http_port)`, the exit status."""
    _serves[:] = [serve]


@servers.callback()
def servers_group() -> None:
    """Make a group of a Typer that has one verb."""


def _port(name: str, metavar: str, variable: str) -> Any:  # noqa: ANN401 - an option
    return typer.Option(name, metavar="PORT", envvar=variable, min=0, max=65_535, help=metavar)


@servers.command()
def serve(
    repo: Annotated[
        str,
        typer.Option("--repo", metavar="PATH", help="The folder to answer for; as `mcp serve`."),
    ] = "",
    sse_port: Annotated[
        int, _port("--sse-port", "Port of the SSE transport; 0: any.", "MCP_SSE_PORT")
    ] = SSE_PORT,
    http_port: Annotated[
        int,
        _port("--http-port", "Port of streamable HTTP; 0: any.", "MCP_STREAMABLE_HTTP_PORT"),
    ] = HTTP_PORT,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="A loopback address.")
    ] = "127.0.0.1",
) -> int:
    """Serve the workflow tools by MCP: SSE at /zoekt/sse and streamable HTTP at /zoekt/mcp.

    Clients need the bearer token that the server names when it starts. By standard streams:
    `triseek mcp serve --toolsets workflows`.

    Examples: triseek workflows serve · triseek workflows serve --sse-port 0 --http-port 0
    """
    if not _serves:
        raise InvalidRequest("this process serves no workflows")
    return _serves[0](repo, host, sse_port, http_port)
