"""The address a server listens on; as a rule only this machine can reach it."""

from __future__ import annotations

import ipaddress
import socket
from typing import NamedTuple

from triseek.errors import Busy, InvalidRequest


class Address(NamedTuple):
    """A host and port to listen on."""

    host: str
    port: int

    @property
    def authority(self) -> str:
        """Host and port as written in a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the address."""
        return _is_loopback(self.host)

    @classmethod
    def parse(cls, text: str, option: str = "--http", *, anywhere: bool = False) -> Address:
        """Parse `HOST:PORT`; the host is `localhost` or a loopback address, port 0 is any free one.

        Args:
            text: The address.
            option: The option that takes it, for the message.
            anywhere: Whether the host may be any IP address.

        Raises:
            InvalidRequest: The text is no address, or other machines could reach the address.
        """
        host, _, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (
            host and port.isascii() and port.isdigit() and len(port) <= 5 and int(port) < 65536
        ):
            raise InvalidRequest(
                f"{option} takes HOST:PORT, not {text!r}", next_step="Try 127.0.0.1:0."
            )
        host = "127.0.0.1" if host == "localhost" else host
        if not _is_loopback(host) and not (anywhere and _is_ip(host)):
            raise InvalidRequest(
                f"{host} is no loopback address: others would reach the server",
                next_step="Use 127.0.0.1 or [::1].",
            )
        return cls(host, int(port))


def _is_loopback(host: str) -> bool:
    return _is_ip(host) and ipaddress.ip_address(host).is_loopback


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def listening(address: Address) -> tuple[socket.socket, Address]:
    """Return a socket that listens on `address`, and its address; port 0 is any free one.

    Raises:
        Busy: The port is in use, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # With the protocol named, asyncio turns Nagle's algorithm off for the connections: otherwise
    # the body of an answer waits 40 ms for the client to acknowledge the head.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((address.host, address.port))
        sock.listen(128)
    except OSError as error:
        sock.close()
        raise Busy(
            f"cannot listen on {address.authority}: {error.strerror}",
            next_step="Choose another port; 0 is any free one.",
        ) from None
    return sock, Address(address.host, sock.getsockname()[1])
