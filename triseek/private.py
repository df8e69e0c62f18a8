"""Create private folders with mode 0700, tighten existing ones, and check who may write to a path.

Files in the state folder are executed (compiled kernels) or trusted (an index, a socket), so only
this user and root may be able to put them there. The rules are those of OpenSSH for `~/.ssh`
(`safe_path` in misc.c), extended to links and the sticky bit.

Imports only `os` and `stat`. On Windows, where modes have no meaning, this module relies on the
permissions of the profile folder and trusts everything.
"""

from __future__ import annotations

import errno
import os
import stat

from triseek import paths

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_LINKS_MAX = 40
_OWN_FOLDERS = frozenset((
    "indexes", "kernels", "daemon", "history", "memory", "keys", "logs", "install", "exports",
    "symbols",
))  # fmt: skip
"""Folders that triseek creates in the state folder."""


class Untrusted(PermissionError):
    """Another user may have written to a path. `place` is the folder or file at fault."""

    def __init__(self, place: str, reason: str, cure: str) -> None:
        super().__init__(errno.EPERM, f"{place} {reason}")
        self.place = place
        self.reason = reason
        self.cure = cure
        """A shell command that fixes it. For the user; triseek never runs it."""

    def __reduce__(self) -> tuple[type[Untrusted], tuple[str, str, str]]:
        return type(self), (self.place, self.reason, self.cure)


def make(folder: str | os.PathLike[str]) -> None:
    """Create a folder and its missing parents with mode 0700, whatever the umask.

    The state folder and the folders between it and `folder` are tightened (see `tighten`).

    Raises:
        Untrusted: a folder of the path belongs to another user or can be written by others.
        OSError: as the operating system says.
    """
    place = os.path.abspath(folder)
    tighten(place)
    trouble = distrust(place)
    if trouble is not None:
        raise trouble
    missing = []
    while not os.path.isdir(place):
        missing.append(place)
        place = os.path.dirname(place)
    for place in reversed(missing):
        try:
            os.mkdir(place, 0o700)
        except FileExistsError:
            if not os.path.isdir(place):
                raise
            continue
        if stat.S_IMODE(os.stat(place).st_mode) != 0o700:
            os.chmod(place, 0o700)  # the umask removed one of the owner's permissions


def opener(path: str, flags: int) -> int:
    """Open a file; a new file gets mode 0600. For `open(opener=…)`."""
    return os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o600)


def tighten(folder: str | os.PathLike[str] = "") -> None:
    """Remove the permissions of others from the state folder and the folders down to `folder`.

    Only folders of this user are changed. A state folder that obviously serves others too is not
    changed: `/`, a folder with the sticky bit, or one that holds folders triseek did not create.
    Never raises: `triseek doctor` reports a folder that cannot be changed.
    """
    if not hasattr(os, "geteuid"):
        return
    home = paths.home()
    _tighten(home, is_home=True)
    place = os.path.abspath(folder) if folder else home
    while place.startswith(home + os.sep):
        _tighten(place, is_home=False)
        place = os.path.dirname(place)


def distrust(path: str | os.PathLike[str]) -> Untrusted | None:
    """Return why another user may have written `path`; None if no other user can have.

    Every folder from the root of the file system to `path`, links followed, must belong to this
    user or to root, and nobody else may write to it. Above `path` the sticky bit is enough: in
    `/tmp` others cannot rename files that are not theirs. Because every parent is checked too,
    nobody can replace a folder between this check and its use. A path that does not exist yet is
    trusted if its existing parents are.

    POSIX access lists appear as group permissions here; other kinds (NFSv4, macOS) are not read.
    """
    if not hasattr(os, "geteuid"):
        return None
    owners = {0, os.geteuid(), os.stat("/").st_uid}  # a user namespace may not map root's uid
    missing = [part for part in reversed(os.path.abspath(path).split(os.sep)) if part]
    place, links = os.sep, 0
    while missing:
        name = missing.pop()
        if name in ("..", "."):
            place = os.path.dirname(place) if name == ".." else place
            continue
        here = os.path.join(place, name)
        try:
            status = os.lstat(here)
        except FileNotFoundError:
            return None
        except OSError as error:
            return Untrusted(here, f"cannot be looked at: {error.strerror}", f"ls -ld {here}")
        if not stat.S_ISLNK(status.st_mode):
            trouble = _trouble(here, status, owners, is_last=not missing)
            if trouble is not None:
                return trouble
            place = here
            continue
        links += 1
        if status.st_uid not in owners:
            return _owned(here, status)
        if links > _LINKS_MAX:
            return Untrusted(here, "leads to too many links", f"ls -ld {here}")
        target = os.readlink(here)
        place = os.sep if os.path.isabs(target) else place
        missing.extend(part for part in reversed(target.split(os.sep)) if part)
    return None


def distrust_owner(path: str, status: os.stat_result) -> Untrusted | None:
    """Return why a file is not trusted; None if it belongs to this user or to root.

    In a trusted folder such a file may date from a time when others could write to the folder.
    """
    if not hasattr(os, "geteuid") or status.st_uid in {0, os.geteuid()}:
        return None
    return _owned(path, status)


def _trouble(
    place: str, status: os.stat_result, owners: set[int], *, is_last: bool
) -> Untrusted | None:
    if status.st_uid not in owners:
        return _owned(place, status)
    if not status.st_mode & _OTHERS_WRITE or _is_private_group(place, status):
        return None
    if status.st_mode & stat.S_ISVTX and not is_last:
        return None
    import shlex

    mode, cure = stat.S_IMODE(status.st_mode), f"chmod go-w {shlex.quote(place)}"
    return Untrusted(place, f"can be written by others (mode {mode:04o})", cure)


def _owned(place: str, status: os.stat_result) -> Untrusted:
    return Untrusted(
        place,
        f"belongs to another user (uid {status.st_uid})",
        "export TRISEEK_HOME=…   # a folder of your own",
    )


def _is_private_group(place: str, status: os.stat_result) -> bool:
    """Return whether this user is the group's only member: with such groups umask 002 is common."""
    if status.st_mode & stat.S_IWOTH or status.st_gid == 0:
        return False
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    alone = group.gr_gid == user.pw_gid and group.gr_name == user.pw_name
    return alone and set(group.gr_mem) <= {user.pw_name} and not _has_access_list(place)


def _has_access_list(place: str) -> bool:
    """Return whether an access list may give the group's permissions to other users."""
    try:
        return any("acl" in name for name in os.listxattr(place))
    except (AttributeError, OSError):
        return False


def _tighten(place: str, *, is_home: bool) -> None:
    try:
        # The state folder may be a link to a larger disk; the folders in it may not be links.
        status = os.stat(place) if is_home else os.lstat(place)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return
        if not status.st_mode & _OTHERS or (is_home and _serves_others(place, status)):
            return
        os.chmod(place, stat.S_IMODE(status.st_mode) & stat.S_IRWXU)
    except OSError:
        return


def _serves_others(home: str, status: os.stat_result) -> bool:
    """Return whether the state folder also holds other things, which others may need to enter."""
    if status.st_mode & stat.S_ISVTX or os.path.dirname(home) == home:
        return True
    with os.scandir(home) as entries:
        return any(
            entry.name not in _OWN_FOLDERS and not entry.name.startswith(".") and entry.is_dir()
            for entry in entries
        )
