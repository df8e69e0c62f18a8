"""The mcp group: serve."""

from __future__ import annotations

from typing import Annotated

import typer

from triseek.cli import mcp_verb

app = typer.Typer(
    help="The server by which coding agents search: the Model Context Protocol.",
    no_args_is_help=True,
)


@app.callback()
def group() -> None:
    """A group even while it has one verb."""


@app.command()
def serve(
    repo: Annotated[
        str | None,
        typer.Option(
            "--repo",
            metavar="PATH",
            help="The folder to answer for; else TRISEEK_REPO_ROOT, CLAUDE_PROJECT_DIR, or the "
            "repository around the working folder.",
        ),
    ] = None,
    toolsets: Annotated[
        str, typer.Option("--toolsets", metavar="NAMES", help="Which tools, separated by commas.")
    ] = mcp_verb.Words().toolsets,
    http: Annotated[
        str | None,
        typer.Option(
            "--http",
            metavar="HOST:PORT",
            help="Serve by HTTP on a loopback address, port 0 for any free one, instead of by "
            "standard input and output. Clients need the bearer token: TRISEEK_MCP_TOKEN, or the "
            "content of the file that TRISEEK_MCP_TOKEN_FILE names, or one that is made and kept "
            "in a file, which the server names when it starts.",
        ),
    ] = None,
) -> int:
    """Serve an agent until it leaves. Agents start it themselves; logs go to standard error.

    Examples: triseek mcp serve · triseek mcp serve --repo ~/src/linux ·
    triseek mcp serve --http 127.0.0.1:0
    """
    return mcp_verb.serve(mcp_verb.Words(repo, toolsets, http))
