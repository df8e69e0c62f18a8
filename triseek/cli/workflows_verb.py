"""`triseek workflows serve`, joined with the server."""

from __future__ import annotations

import os

from triseek.terminal import status


def serve(repo: str, host: str, sse_port: int, http_port: int) -> int:
    """Serve as `mcp.workflow_server.serve` does; the process ends with it."""
    from triseek.mcp import workflow_server

    workflow_server.serve(repo, host, sse_port, http_port)
    os._exit(status.FOUND)  # a normal exit would wait for threads in the background
