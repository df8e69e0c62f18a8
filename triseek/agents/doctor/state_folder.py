"""Checks of the state folder: whether it can be used, who may read it, its settings."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import tempfile
from typing import TYPE_CHECKING

from triseek import config, paths, private
from triseek.agents.doctor.checks import fail, ok, warn
from triseek.agents.install import ledger
from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.doctor.checks import Finding
    from triseek.agents.doctor.host import DoctorHost

SCARCE_BYTES = 256 << 20
"""With less free space than this, writing an index or a log may fail."""


def folder(_host: DoctorHost) -> Iterator[Finding]:
    """Check that the state folder is trusted, can be written, and has free space."""
    home = paths.home()
    untrusted = private.distrust(home)
    if untrusted is not None:
        yield fail("state folder", f"{home} is not used: {untrusted.strerror}", untrusted.cure)
        return
    trouble = _unwritable(home)
    if trouble:
        yield fail(
            "state folder", f"{home}: {trouble}",
            "export TRISEEK_HOME=…   # a folder you may write",
        )  # fmt: skip
        return
    free = shutil.disk_usage(_existing(home)).free
    if free < SCARCE_BYTES:
        yield warn(
            "state folder", f"{home}: {free >> 20} MiB left on its disk",
            f"du -sh {home}/*   # and make room",
        )  # fmt: skip
    elif not os.path.isdir(home):  # noqa: PTH112
        yield ok("state folder", f"{home}, not made yet")
    else:
        yield ok("state folder", f"{home}, writable")


def _unwritable(home: str) -> str:
    """Return why nothing can be written to the folder, by trying it; "" if it can."""
    place = _existing(home)
    try:
        if os.path.isdir(home):  # noqa: PTH112
            with tempfile.TemporaryFile(dir=home):
                return ""
        if not os.path.isdir(place):  # noqa: PTH112
            return f"{place} is no folder"
        return "" if os.access(place, os.W_OK | os.X_OK) else f"{place} may not be written"
    except OSError as error:
        return f"cannot be written: {error.strerror}"


def _existing(path: str) -> str:
    """Return the path, or the nearest one above it that exists."""
    while not os.path.lexists(path) and os.path.dirname(path) != path:  # noqa: PTH120
        path = os.path.dirname(path)  # noqa: PTH120
    return path


def privacy(_host: DoctorHost) -> Iterator[Finding]:
    """Check that other users cannot see into the state folder."""
    checked = 0
    for place, required in _private_places():
        try:
            status = os.lstat(place)
        except (FileNotFoundError, NotADirectoryError):
            continue  # another check reports problems of the folder above
        except OSError as error:
            yield fail("modes", f"{place}: {error.strerror}", f"ls -ld {place}")
            continue
        checked += 1
        if stat.S_ISLNK(status.st_mode):
            yield fail("modes", f"{place} is a link, and is not used", f"rm {shlex.quote(place)}")
        elif hasattr(os, "geteuid") and status.st_uid != os.geteuid():
            yield fail("modes", f"{place} belongs to uid {status.st_uid}", f"ls -ld {place}")
        elif stat.S_IMODE(status.st_mode) & 0o077:
            mode = stat.S_IMODE(status.st_mode)
            yield warn(
                "modes", f"{place} has mode {mode:04o}", f"chmod {required:o} {shlex.quote(place)}"
            )
        else:
            continue
        return
    if checked:
        yield ok("modes", "what is kept is for its owner alone")


def _private_places() -> Iterator[tuple[str, int]]:
    """Yield paths of what agents have read and of copies of their settings, with required modes."""
    yield paths.home(), 0o700
    yield paths.daemon(), 0o700
    yield paths.indexes(), 0o700
    for folder in (
        paths.memo(),
        paths.sessions(),
        paths.snapshots(),
        paths.exports(),
        paths.keys(),
        ledger.folder(),
    ):
        yield folder, 0o700
        for parent, folders, names in os.walk(folder):
            for name in (name for name in names if name != "lock"):
                yield os.path.join(parent, name), 0o600  # noqa: PTH118
            for name in folders:
                yield os.path.join(parent, name), 0o700  # noqa: PTH118


def settings(_host: DoctorHost) -> Iterator[Finding]:
    """Check config.toml and the environment variables that override it."""
    try:
        config.read()
    except InvalidRequest as error:
        yield fail("settings", str(error), f'"${{EDITOR:-vi}}" {paths.config_file()}')
        return
    exists = os.path.exists(paths.config_file())  # noqa: PTH110
    yield ok("settings", paths.config_file() if exists else "the defaults")
