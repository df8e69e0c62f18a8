"""The bearer token of a server for clients on this machine: set by the user, or made and kept."""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from triseek import private
from triseek.errors import InvalidRequest, StateUnwritable
from triseek.ipc import lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.loopback.address import Address

CHARACTERS_MIN = 16
"""Minimum characters of a token set by the user."""


class Token:
    """The token of one server."""

    def __init__(self, name: str) -> None:
        """Take the token that the user has set, or make one.

        It is set by the variable `TRISEEK_<NAME>_TOKEN`, which is removed from the environment so
        that child processes do not inherit it, or by the file named in `TRISEEK_<NAME>_TOKEN_FILE`.

        Args:
            name: The server's name in lower case.

        Raises:
            InvalidRequest: It is too short or has invalid characters, or the file is unreadable.
        """
        self._name = name
        self._variable = f"TRISEEK_{name.upper()}_TOKEN"
        chosen = _chosen(self._variable)
        self._is_chosen = chosen is not None
        self.value = secrets.token_urlsafe(32) if chosen is None else chosen

    @contextlib.contextmanager
    def shown(self, address: Address) -> Iterator[str]:
        """Yield a shell expression that expands to the token without showing it.

        A token that was made lies in a private file named after the port, until the end.

        Raises:
            StateUnwritable: The file cannot be written.
        """
        if self._is_chosen:
            yield f"${self._variable}"
            return
        with _kept(f"{self._name}-{address.port}.token", self.value) as file:
            yield f"$(cat {shlex.quote(str(file))})"


def _chosen(variable: str) -> str | None:
    token, file = os.environ.pop(variable, None), os.environ.get(f"{variable}_FILE")
    if token is None and file:
        try:
            token = Path(file).read_text("ascii", "replace").strip()
        except OSError as error:
            raise InvalidRequest(
                f"cannot read {file}: {error.strerror}",
                next_step=f"Write a token into it, or unset {variable}_FILE.",
            ) from None
    if token is None:
        return None
    if len(token) < CHARACTERS_MIN or not all("!" <= character <= "~" for character in token):
        raise InvalidRequest(
            f"a token has {CHARACTERS_MIN} or more printable ASCII characters and no space",
            next_step="Make one with `openssl rand -hex 32`, or let the server make one.",
        )
    return token


@contextlib.contextmanager
def _kept(name: str, token: str) -> Iterator[Path]:
    """Write the token to a private file; yield its path, then remove it."""
    file = Path(lock.ensure_folder(), name)
    aside = file.with_suffix(f".{os.getpid()}.partial")
    try:
        with open(aside, "x", encoding="ascii", opener=private.opener) as text:
            text.write(token)
        aside.replace(file)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise StateUnwritable(f"cannot write {file}: {error.strerror}") from None
    try:
        yield file
    finally:  # the server held the port until now, so the file is ours
        file.unlink(missing_ok=True)
