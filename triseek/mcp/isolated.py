"""An MCP session in a process of its own, for a call during which daemons have ended.

That call may have ended them: a library crashed, or memory ran out. In a process of its own it can
end neither the next daemon nor the agent's pipe.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys

from triseek.ipc import children, ending

END_S = 2.0
"""Seconds that closing waits for the process to end by itself."""


class IsolatedSession:
    """A session in a child process.

    Raises on creation:
        OSError: the process cannot be started.
    """

    def __init__(self, repo: str, toolsets: str, state: str) -> None:
        """Serve as `hosting.LocalSession` does."""
        self.sock, peer = socket.socketpair()
        with peer:
            self._child = children.start(
                [sys.executable, "-P", "-m", __name__, str(peer.fileno()), repo, toolsets, state],
                stdin=subprocess.DEVNULL,
                stdout=2,
                # The daemon updates the index. Several agents may be here, and each waits.
                env={**os.environ, "TRISEEK_MCP_DISABLE_STARTUP_SYNC": "1"},
                pass_fds=[peer.fileno()],
            )

    def close(self) -> None:
        """End the session and its process."""
        self.sock.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(END_S)
        self._child.kill()
        self._child.wait()


def main(descriptor: str, repo: str, toolsets: str, state: str) -> None:
    """Serve a session on an inherited socket, then end this process."""
    from triseek.mcp.hosting import LocalSession

    session = LocalSession(repo, toolsets, state, socket.socket(fileno=int(descriptor)))
    session.wait()
    session.close()
    ending.now(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
