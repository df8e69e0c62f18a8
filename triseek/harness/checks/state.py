"""The state folder: is it ours, may it be written, who else may look into it."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import tempfile
from typing import TYPE_CHECKING

from triseek import config, paths, private
from triseek.errors import InvalidRequest
from triseek.harness import ledger
from triseek.harness.checks.finding import fail, ok, warn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.harness.checks.finding import Finding
    from triseek.harness.checks.host import Host

SCARCE_BYTES = 256 << 20
"""With less room than this, an index or a log may not be written."""


def folder(_host: Host) -> Iterator[Finding]:
    """The state folder."""
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
    """Why nothing can be written there; "" if it can: it is tried."""
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
    """The path, or the nearest above it that is there."""
    while not os.path.lexists(path) and os.path.dirname(path) != path:  # noqa: PTH120
        path = os.path.dirname(path)  # noqa: PTH120
    return path


def privacy(_host: Host) -> Iterator[Finding]:
    """What others may see of the state folder."""
    looked = 0
    for place, wanted in _private_places():
        try:
            found = os.lstat(place)
        except (FileNotFoundError, NotADirectoryError):
            continue  # another check says what is wrong with the folder above
        except OSError as error:
            yield fail("modes", f"{place}: {error.strerror}", f"ls -ld {place}")
            continue
        looked += 1
        if stat.S_ISLNK(found.st_mode):
            yield fail("modes", f"{place} is a link, and is not used", f"rm {shlex.quote(place)}")
        elif hasattr(os, "geteuid") and found.st_uid != os.geteuid():
            yield fail("modes", f"{place} belongs to uid {found.st_uid}", f"ls -ld {place}")
        elif stat.S_IMODE(found.st_mode) & 0o077:
            mode = stat.S_IMODE(found.st_mode)
            yield warn(
                "modes", f"{place} has mode {mode:04o}", f"chmod {wanted:o} {shlex.quote(place)}"
            )
        else:
            continue
        return
    if looked:
        yield ok("modes", "what is kept is for its owner alone")


def _private_places() -> Iterator[tuple[str, int]]:
    """What holds what agents have read, and copies of their settings; with the modes to have."""
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


def settings(_host: Host) -> Iterator[Finding]:
    """config.toml and the variables that win over it."""
    try:
        config.read()
    except InvalidRequest as error:
        yield fail("settings", str(error), f'"${{EDITOR:-vi}}" {paths.config_file()}')
        return
    there = os.path.exists(paths.config_file())  # noqa: PTH110
    yield ok("settings", paths.config_file() if there else "the defaults")
