"""The daemon's address: listen on it and connect to it.

The daemon listens on a Unix socket in its folder, which only its owner may enter. Where the system
has no Unix sockets (Windows), or with `TRISEEK_DAEMON_TRANSPORT=tcp`, it listens on a port of the
loopback interface and requires a random token. Port and token are in daemon.json, which only its
owner may read.

The path of a Unix socket is limited to about 100 bytes. A longer path is replaced by one through an
open descriptor of its folder, `/proc/self/fd/N/daemon.sock`, both to bind and to connect; the idea
is in unix(7)'s discussions and in use by systemd and Bazel. Where there is no /proc, the error says
what to do. This module is on the fast path: it imports `_socket` and `os`, and json only for TCP.
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
    from typing import TypedDict

    class DaemonRecord(TypedDict, total=False):
        """The contents of daemon.json: how to reach a daemon, and which process it is."""

        pid: int
        version: str
        protocol: int
        started: float
        """Seconds since the epoch."""
        start_time: int
        """See `daemon.process.start_time`."""
        address: str
        token: str


SOCKET = "daemon.sock"
RECORD = "daemon.json"
LONGEST = 100
"""Bytes of a socket path that every system accepts (Linux 107, macOS 103)."""
TRANSPORT = "TRISEEK_DAEMON_TRANSPORT"
CONNECT_S = 0.5
"""Timeout for connecting, in seconds. Connecting only blocks when the backlog is full."""
SILENCE_S = 2.0
"""Seconds without a byte after which a client checks whether the daemon is alive.

A request may take minutes, so silence alone is no error: as long as the daemon answers anybody, it
is working. When the process or the machine ends, the connection closes at once; this check is for a
daemon that is stopped or stuck. With `ALIVE_S`, and `CONNECT_S` twice, it limits the wait of any
client for a daemon that does not answer: 4.5 s.
"""
ALIVE_S = 1.5
"""Seconds the daemon may take to answer that check, unless it works: see `is_alive`."""
_WORKING_SHARE = 0.01
"""A daemon works if it uses at least this share of `ALIVE_S` as CPU time."""
BACKLOG = 128
"""Connections that may wait to be accepted. A client beyond it fails to connect and works alone."""
_CREDENTIALS = 12
"""Size of struct ucred (pid, uid, gid) in bytes."""


class Unreached(Exception):
    """No connection to a daemon can be made. The message says why."""


class Absent(Unreached):
    """Nothing listens: no daemon runs, and one may be started."""


class Stuck(Unreached):
    """A daemon listens but accepts no connection: it is stopped or overloaded."""


class Forbidden(Unreached):
    """This process may not use the daemon (sandbox, another user's): do not start or end one."""


def transport() -> str:
    """Return the transport: `unix` or `tcp`."""
    if os.environ.get(TRANSPORT) == "tcp" or not hasattr(_socket, "AF_UNIX"):
        return "tcp"
    return "unix"


def connect(timeout_s: float | None = None) -> _socket.socket:
    """Return a connection to this user's daemon, ready for its first request.

    The time-out stays on the socket.

    Raises:
        Absent: no daemon listens.
        Stuck: a daemon listens but does not accept within the time-out.
        Forbidden: anything else. EPERM means a sandbox; it does not mean that the daemon is dead.
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
    """Return whether the daemon answers within `ALIVE_S`, or works; "busy" is an answer too.

    On an overloaded machine, or while it compiles kernels, a daemon may take longer. It then uses
    CPU time, which one that is stopped or in a deadlock does not. Only Linux can tell.
    """
    try:
        sock = connect(CONNECT_S)
    except Unreached:
        return False
    before = _cpu_s(sock)
    try:
        sock.settimeout(ALIVE_S)
        head = f'"protocol":{wire.PROTOCOL},"version":"{__version__}"'
        wire.send(sock, f'{{{head},"verb":"ping","params":{{}}}}'.encode("ascii"))
        reply = wire.receive(sock, wire.PIECE_LIMIT)
    except TimeoutError:
        return _cpu_s(sock) - before >= _WORKING_SHARE * ALIVE_S
    except (OSError, wire.BadFrame):
        return False
    finally:
        sock.close()
    return reply[:1] in (b"{", b"-")


def listen() -> tuple[socket.socket, str, str]:
    """Bind and listen. The caller holds the daemon's lock, so an existing socket is a dead one's.

    Returns:
        The listening socket, its address as text, and the token a client must send ("" for none).

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
    """Remove the socket file if it exists. Only for the holder of the daemon's lock."""
    try:
        os.unlink(os.path.join(paths.daemon(), SOCKET))
    except FileNotFoundError:
        return


def is_own(sock: wire.Socket) -> bool:
    """Return whether the peer is a process of this user; True where the system cannot tell.

    Only Linux can tell, and only for a Unix socket.
    """
    peer = _peer(sock)
    return peer is None or peer[1] == os.geteuid()  # else `_refuse_planted` or the token checks


def _peer(sock: wire.Socket) -> tuple[int, int] | None:
    """Return the pid and the uid of the process that listens; None where the system cannot tell."""
    option = getattr(_socket, "SO_PEERCRED", None)
    if option is None or sock.family != _socket.AF_UNIX:
        return None
    credentials = sock.getsockopt(_socket.SOL_SOCKET, option, _CREDENTIALS)
    pid, uid = (int.from_bytes(credentials[at : at + 4], sys.byteorder) for at in (0, 4))
    return pid, uid


def _cpu_s(sock: wire.Socket) -> float:
    """Return the CPU time of the process that listens, user and system, in seconds; 0 if unknown.

    Source: proc(5), the 14th and 15th field of `stat`.
    """
    peer = _peer(sock)
    if peer is None:
        return 0.0
    try:
        with open(f"/proc/{peer[0]}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()  # the name before may hold spaces
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


def record() -> DaemonRecord:
    """Return the contents of daemon.json; empty if it does not exist or cannot be read."""
    import json

    try:
        with open(os.path.join(paths.daemon(), RECORD), encoding="utf-8") as file:
            document = json.loads(file.read(wire.REQUEST_LIMIT))
    except (OSError, ValueError, RecursionError):
        return {}
    is_object = isinstance(document, dict)
    contents: DaemonRecord = document if is_object else {}
    return contents


def _connect_unix(timeout_s: float | None) -> _socket.socket:
    if not hasattr(_socket, "SO_PEERCRED"):
        _refuse_planted()
    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        sock.settimeout(timeout_s)
        _at(paths.daemon(), sock.connect)
        is_ours = is_own(sock)
    except BaseException:
        sock.close()
        raise
    if not is_ours:
        sock.close()
        raise Forbidden("the daemon belongs to another user")
    return sock


def _refuse_planted() -> None:
    """Refuse a daemon's folder that another user may have created or written to.

    Raises:
        Forbidden: others than this user and root may have written to the folder.
    """
    from triseek import private

    trouble = private.distrust(paths.daemon())
    if trouble is not None:
        raise Forbidden(f"the daemon is not to be trusted: {trouble.strerror}")


def _at(folder: str, act: Callable[[str], object]) -> None:
    """Call `act` with a path of the socket that is short enough."""
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

    # daemon.json outlives its daemon, and another process may have the dead daemon's port by now.
    document: DaemonRecord = {} if lock.is_free() else record()
    _refuse_planted()
    kind, _, rest = str(document.get("address", "")).partition(":")
    host, _, port = rest.partition(":")
    if kind != "tcp" or not port.isdecimal():
        raise Absent("no daemon is running")
    sock = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    try:
        sock.settimeout(timeout_s)
        sock.connect((host, int(port)))
        sock.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        wire.send(sock, bytes((wire.TOKEN,)) + str(document.get("token", "")).encode())
    except BaseException:
        sock.close()
        raise
    return sock
