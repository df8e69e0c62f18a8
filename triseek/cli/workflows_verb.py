"""`triseek workflow` and `triseek workflows serve`: what they run, joined with the servers."""

from __future__ import annotations

import os

from triseek.terminal import status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from triseek.workflows.running import Workflows


def workflows(root: str) -> AbstractContextManager[Workflows]:
    """Return what runs workflows for a folder."""
    from triseek.app import workflow_runs

    return workflow_runs.workflows(root)


def serve(repo: str, host: str, sse_port: int, http_port: int) -> int:
    """Serve as `mcp.workflow_server.serve` does; the process ends with it."""
    from triseek.mcp import workflow_server

    workflow_server.serve(repo, host, sse_port, http_port)
    os._exit(status.FOUND)  # a normal exit would wait for threads in the background
