"""Where the daemon listens, and how to get there.

A Unix socket in the daemon's folder, which only its owner may enter. Where the system has none
(Windows), or `TRISEEK_DAEMON_TRANSPORT=tcp` says so, a port of the loopback interface and a random
token: both stand in daemon.json, which only its owner may read.

The name of a Unix socket holds about 100 bytes. A longer one is reached by way of an open
descriptor of its folder, `/proc/self/fd/N/daemon.sock`, for binding and connecting alike; the idea
is in unix(7)'s discussions and in use by systemd and Bazel. Where there is no /proc, the error says
what to do. This module is on the fast path: `_socket` and `os`, and json only for TCP.
"""

from __future__ import annotations

import _socket
import os
import sys

from triseek import __version__, paths
from triseek.ipc import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from typing import Any

SOCKET = "daemon.sock"
RECORD = "daemon.json"
LONGEST = 100
"""Bytes of a socket's path that every system takes (Linux 107, macOS 103)."""
TRANSPORT = "TRISEEK_DAEMON_TRANSPORT"
CONNECT_S = 0.5
"""Longest wait for a connection; only a full queue makes one wait at all."""
SILENCE_S = 2.0
"""After so long without a byte a client asks whether the daemon lives.

A request may take minutes, so silence alone has no limit: as long as the daemon answers somebody,
it works. Process and machine ending closes the connection at once; this is for a daemon that is
stopped or stuck. With `ALIVE_S`, and `CONNECT_S` twice, it makes the most that any client waits for
one that does not answer: 4.5 s.
"""
ALIVE_S = 1.5
"""How long it may take to answer that: it may be compiling kernels."""
BACKLOG = 128
"""Connections that may wait to be accepted; above it a client is told so and works alone."""
_CREDENTIALS = 12
"""Bytes of struct ucred: pid, uid, gid."""


class Unreached(Exception):
    """There is no connection to a daemon. The message says why."""


class Absent(Unreached):
    """Nobody listens: no daemon runs, and one may be started."""


class Stuck(Unreached):
    """One listens and accepts nothing: it is stopped, or has no time for anybody."""


class Forbidden(Unreached):
    """This process may not use a daemon (a sandbox, another user's): start none, end none."""


def transport() -> str:
    """`unix` or `tcp`."""
    if os.environ.get(TRANSPORT) == "tcp" or not hasattr(_socket, "AF_UNIX"):
        return "tcp"
    return "unix"


def connect(timeout_s: float | None = None) -> _socket.socket:
    """A connection to this user's daemon, ready for its first request.

    The time-out stays on the socket.

    Raises:
        Absent: none listens.
        Stuck: one listens, and does not accept within the time-out.
        Forbidden: anything else; EPERM is a sandbox and does not say that the daemon is dead.
    """
    try:
        return _connect_tcp(timeout_s) if transport() == "tcp" else _connect_unix(timeout_s)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise Absent("no daemon is running") from error
    except (TimeoutError, BlockingIOError) as error:
        raise Stuck("the daemon does not answer") from error
    except OSError as error:
        raise Forbidden(f"the daemon cannot be reached from here: {error.strerror}") from error


def is_alive() -> bool:
    """Whether the daemon answers somebody within `ALIVE_S`, be it that it is busy."""
    try:
        sock = connect(CONNECT_S)
    except Unreached:
        return False
    try:
        sock.settimeout(ALIVE_S)
        head = f'"protocol":{wire.PROTOCOL},"version":"{__version__}"'
        wire.send(sock, f'{{{head},"verb":"ping","params":{{}}}}'.encode("ascii"))
        reply = wire.receive(sock, wire.PIECE_LIMIT)
    except (OSError, wire.BadFrame):
        return False
    finally:
        sock.close()
    return reply[:1] in (b"{", b"-")


def listen() -> tuple[socket.socket, str, str]:
    """Bind and listen; the caller holds the daemon's lock, so an old socket is a dead one's.

    Returns:
        The listening socket, its address in words, and the token a client must show ("" for none).

    Raises:
        Forbidden: the path is too long for this system.
        OSError: as the operating system says.
    """
    import socket

    if transport() == "tcp":
        listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
        port = listener.getsockname()[1]
        return listener, f"tcp:127.0.0.1:{port}", os.urandom(32).hex()
    path = os.path.join(paths.daemon(), SOCKET)
    remove_socket()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _at(paths.daemon(), listener.bind)
        os.chmod(path, 0o600)
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener, f"unix:{path}", ""


def remove_socket() -> None:
    """Take the socket away, if it is there. Only for the holder of the daemon's lock."""
    try:
        os.unlink(os.path.join(paths.daemon(), SOCKET))
    except FileNotFoundError:
        return


def is_own(sock: wire.Socket) -> bool:
    """Whether the other end is a process of this user, where the system can tell (Linux)."""
    option = getattr(_socket, "SO_PEERCRED", None)
    if option is None or sock.family != _socket.AF_UNIX:
        return True  # `_refuse_planted`, or the token, has to do
    found = sock.getsockopt(_socket.SOL_SOCKET, option, _CREDENTIALS)
    return int.from_bytes(found[4:8], sys.byteorder) == os.geteuid()


def record() -> dict[str, Any]:
    """What daemon.json says; empty if there is none, or none that can be read."""
    import json

    try:
        with open(os.path.join(paths.daemon(), RECORD), encoding="utf-8") as file:
            found = json.loads(file.read(wire.REQUEST_LIMIT))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _connect_unix(timeout_s: float | None) -> _socket.socket:
    if not hasattr(_socket, "SO_PEERCRED"):
        _refuse_planted()
    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        sock.settimeout(timeout_s)
        _at(paths.daemon(), sock.connect)
        own = is_own(sock)
    except BaseException:
        sock.close()
        raise
    if not own:
        sock.close()
        raise Forbidden("the daemon belongs to another user")
    return sock


def _refuse_planted() -> None:
    """Refuse an address that another user may have put there.

    Raises:
        Forbidden: the daemon's folder is not this user's alone.
    """
    from triseek import private

    trouble = private.distrust(paths.daemon())
    if trouble is not None:
        raise Forbidden(f"the daemon is not to be trusted: {trouble.strerror}")


def _at(folder: str, act: Callable[[str], object]) -> None:
    """Call `act` with a name of the socket that is short enough."""
    path = os.path.join(folder, SOCKET)
    if len(os.fsencode(path)) <= LONGEST:
        act(path)
        return
    if not os.path.isdir("/proc/self/fd"):
        raise Forbidden(
            f"the path of the daemon's socket is longer than {LONGEST} bytes: {path}; "
            "point TRISEEK_HOME at a shorter one"
        )
    descriptor = os.open(folder, getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        act(f"/proc/self/fd/{descriptor}/{SOCKET}")
    finally:
        os.close(descriptor)


def _connect_tcp(timeout_s: float | None) -> _socket.socket:
    from triseek.ipc import lock

    # A port that a dead daemon had may be anybody's by now, and the record is still there.
    found = {} if lock.is_free() else record()
    _refuse_planted()
    kind, _, rest = str(found.get("address", "")).partition(":")
    host, _, port = rest.partition(":")
    if kind != "tcp" or not port.isdecimal():
        raise Absent("no daemon is running")
    sock = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    try:
        sock.settimeout(timeout_s)
        sock.connect((host, int(port)))
        sock.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        wire.send(sock, bytes((wire.TOKEN,)) + str(found.get("token", "")).encode())
    except BaseException:
        sock.close()
        raise
    return sock
