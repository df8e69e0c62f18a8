"""Open an agent's session: in the daemon if one can be used, else in this process.

The daemon is not used if it cannot be reached, does not answer, or would resolve paths or ignore
rules differently. If none runs, one is started where that is allowed (`ipc.spawn`). As long as a
daemon does the work, this module imports as little as `mcp.pipe`.
"""

from __future__ import annotations

from time import monotonic, sleep

from triseek.ipc import address, surroundings, wire
from triseek.ipc.surroundings import quoted
from triseek.mcp.wire_lines import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket

    from triseek.mcp.hosting import LocalSession
    from triseek.mcp.isolated import IsolatedSession

VERB = "agent"
READY_S = 10.0
"""Seconds a daemon may take to start before the session runs in this process."""
REPLY_S = 4.0
"""Seconds the daemon may take to accept a session; the session's first work is not included."""
ATTEMPTS, PAUSE_S = 5, 0.1
"""Number of attempts with a daemon that closes the connection, and seconds between them."""
LEFT = b"left"
LOOK_S = 5.0
"""Minimum seconds between a local session's checks for a daemon."""
DECLINED = (b"-place", b"-environ", b"-pipe", b"-malformed", b"-agent")
"""Replies by which a daemon declines this process for good."""
REST_S = 30.0
"""Seconds for which a session stays in a process of its own after daemons have ended."""
DAEMONS_MAX = 2
"""Daemons that may end with the same line open. Then the session runs in a process of its own: if
the line is what ended them, it ends no more daemons, and not the agent's process either."""
SENT_VARIABLES = (
    *surroundings.RULES,
    *surroundings.WORKFLOWS,
    "TRISEEK_SESSION_ID",
    "TRISEEK_MCP_STRUCTURED",
    "TRISEEK_REPO_ROOT",
    "CLAUDE_PROJECT_DIR",
)
"""Environment variables sent to the daemon, besides all that begin with GIT_CONFIG."""


class Opener:
    """Opens a session, and reopens it after a loss."""

    def __init__(self, repo: str, toolsets: str) -> None:
        """For the folder `repo`, "" to detect it, and comma-separated `toolsets`."""
        self._repo = repo
        self._toolsets = toolsets
        self._here: LocalSession | IsolatedSession | None = None
        self._is_unwanted = False
        """Whether the daemon has declined this process for good."""
        self._look_at = 0.0
        """When a session outside of the daemon looks for one, by `monotonic`."""

    def __call__(self, state: str, sessions: int, losses: int) -> tuple[_socket.socket, bool]:
        """Open a session; return the connection to it, and whether it runs in the daemon.

        Args:
            state: The state that the previous session reported.
            sessions: The number of sessions opened before.
            losses: How many sessions have ended with the same line open.

        Raises:
            InvalidRequest: there is no such toolset.
        """
        if losses < DAEMONS_MAX:
            sock = self._by_daemon(state, is_resumed=sessions > 0)
            if sock is not None:
                self.close()
                return sock, True
        self.close()
        self._look_at = monotonic() + (LOOK_S if losses < DAEMONS_MAX else REST_S)
        if losses < DAEMONS_MAX:
            from triseek.mcp.hosting import LocalSession

            self._here = LocalSession(self._repo, self._toolsets, state)
        else:
            from triseek.mcp.isolated import IsolatedSession

            self._here = IsolatedSession(self._repo, self._toolsets, state)
        return self._here.sock, False

    def is_daemon_back(self) -> bool:
        """Return whether a daemon can be reached now; checked at most every `LOOK_S` seconds.

        If none runs, one is started where that is allowed; a later call finds it.
        """
        if self._is_unwanted or monotonic() < self._look_at:
            return False
        self._look_at = monotonic() + LOOK_S
        try:
            address.connect(address.CONNECT_S).close()
        except address.Absent:
            from triseek.ipc import spawn

            spawn.behind()
            return False
        except address.Unreached:
            return False
        return True

    def close(self) -> None:
        """End the session that this process runs, if there is one."""
        if self._here is not None:
            session, self._here = self._here, None
            session.close()

    def _by_daemon(self, state: str, *, is_resumed: bool) -> _socket.socket | None:
        """Return a connection on which the daemon has accepted a session; None if it has not."""
        if self._is_unwanted:
            return None
        try:
            payload = self._request(state, is_resumed=is_resumed)
        except OSError:  # the working folder is gone
            return None
        for _ in range(ATTEMPTS):
            try:
                sock = _connected(is_resumed=is_resumed)
            except address.Absent:  # it was killed just after it had come up
                continue
            if sock is None:
                return None
            reply = _reply(sock, payload)
            if reply[:1] == bytes((wire.OBJECT,)) and reply.startswith(b'{"ok": true'):
                return sock
            sock.close()
            if reply == LEFT:  # the daemon was about to end
                sleep(PAUSE_S)
            elif is_resumed or not reply.startswith(b"-version") or not _replaced():
                self._is_unwanted = reply.startswith(DECLINED)
                return None
        return None

    def _request(self, state: str, *, is_resumed: bool) -> bytes:
        members = (
            f'{surroundings.place(SENT_VARIABLES)},"pipe":{VERSION},"repo":{quoted(self._repo)},'
            f'"toolsets":{quoted(self._toolsets)},"state":{quoted(state)},'
            f'"resumed":{"true" if is_resumed else "false"}'
        )
        return surroundings.request(VERB, members)


def _connected(*, is_resumed: bool) -> _socket.socket | None:
    """Return a connection to the daemon, starting it if needed; None if that fails.

    Raises:
        Absent: it has been started, and has ended.
    """
    try:
        return address.connect(address.CONNECT_S)
    except address.Absent:
        pass
    except address.Unreached:
        return None
    from triseek.ipc import spawn

    # On a resume the previous daemon had started successfully, so a new one may be tried soon.
    is_ready = spawn.ensure(READY_S, spawn.RAN_AGAIN_S) if is_resumed else spawn.ensure(READY_S)
    if not is_ready:
        return None
    try:
        return address.connect(address.CONNECT_S)
    except (address.Stuck, address.Forbidden):
        return None


def _reply(sock: _socket.socket, payload: bytes) -> bytes:
    """Return the daemon's reply; `LEFT` if it closed the connection, b"" if it timed out."""
    try:
        sock.settimeout(REPLY_S)
        wire.send(sock, payload)
        return wire.receive(sock, wire.PIECE_LIMIT) or LEFT
    except TimeoutError:
        return b""
    except (OSError, wire.BadFrame):
        return LEFT


def _replaced() -> bool:
    """Replace a daemon of another version; return whether one of ours is ready."""
    from triseek.ipc import spawn

    return spawn.replace() and spawn.wait_until_ready(READY_S)
