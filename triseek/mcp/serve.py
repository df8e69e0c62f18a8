"""Run `triseek mcp serve --http`: serve one root by HTTP until the process is told to end.

The daemon runs the tools; without a usable daemon, this process does.
"""

from __future__ import annotations

from triseek import logs


def serve(repo: str, toolsets: str, http: str) -> None:
    """Serve clients by HTTP at `HOST:PORT`.

    Args:
        repo: The folder to answer for; "" to detect it.
        toolsets: Names of toolsets, separated by commas.
        http: HOST:PORT.

    Raises:
        InvalidRequest: the address is not this machine's, or there is no such toolset.
        Busy: the port is in use.
        StateUnwritable: the token file cannot be written.
    """
    logs.configure("mcp")
    from triseek.daemon.standalone import front
    from triseek.ipc import ending
    from triseek.loopback.address import Address
    from triseek.mcp import http as over_http
    from triseek.mcp import server
    from triseek.mcp.hosting import choose_root, chosen_toolsets

    tools = chosen_toolsets(toolsets)
    with front(choose_root(repo)) as dispatch:
        mcp_server = server.create(dispatch, tools, dispatch.prepare)
        over_http.serve(mcp_server, Address.parse(http), ending.within)
