"""The line protocol between an agent's pipe and its session, one connection per session.

Lines that the pipe sends; `data` is the agent's line without its end:

    N data    line number N
    ~N data   line N once more, to establish a new session: its answer is not sent to the agent
    .         there will be no more lines

Lines that the session sends:

    {...}     a message for the agent that settles no line
    N {...}   the answer to line N, for the agent
    =N        line N is settled and has no answer
    +N        line N establishes the session: keep a copy for the next one
    ?N {...}  line N may be sent once more; if that is lost too, this is the answer
    !N {...}  line N must not be sent again; if its answer is lost, this is the answer
    %state    the state to send with the next handshake
    .         the session is over
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from typing import Protocol

    class Opener(Protocol):
        """Opens sessions."""

        def __call__(self, state: str, sessions: int, losses: int) -> SessionHost:
            """Open a session.

            Args:
                state: The state that the previous session reported.
                sessions: The number of sessions opened before.
                losses: How many of them were lost since the last answer.
            """

        def is_daemon_back(self) -> bool:
            """Return whether the daemon could now host a session that runs in this process."""

        def close(self) -> None:
            """End the session in this process, if there is one."""


VERSION = 1
"""Version of this protocol; incremented when a line changes its meaning."""
LINE_MAX = 8 << 20
"""Limit of an agent's line in bytes. A longer one is cut to one byte more, and refused."""


class SessionHost:
    """The connection to a session, and where the session runs."""

    __slots__ = ("is_daemon", "sock")

    def __init__(self, sock: _socket.socket, *, is_daemon: bool) -> None:
        self.sock = sock
        self.is_daemon = is_daemon
