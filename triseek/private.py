"""Folders of this user alone: made with mode 0700, tightened, and checked for other writers.

What lies in the state folder is executed (compiled kernels) or trusted (an index, a socket), so
nobody but this user and root may have been able to put it there. The rules are those that OpenSSH
has for `~/.ssh` (`safe_path` in misc.c), with links and the sticky bit considered as well.

Light: `os` and `stat` only. On Windows, where modes say nothing, the rights of the profile folder
have to do, and everything is taken for trusted.
"""

from __future__ import annotations

import errno
import os
import stat

from triseek import paths

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_LINKS_MAX = 40
_OWN_FOLDERS = frozenset(("indexes", "kernels", "daemon", "keys", "logs", "install", "exports"))
"""Folders that triseek makes in the state folder."""


class Untrusted(PermissionError):
    """Another user may have written what lies at a path. `place` is the folder or file at fault."""

    def __init__(self, place: str, reason: str, cure: str) -> None:
        super().__init__(errno.EPERM, f"{place} {reason}")
        self.place = place
        self.reason = reason
        self.cure = cure
        """A command line that makes it trustworthy; for people, and never run by triseek."""

    def __reduce__(self) -> tuple[type[Untrusted], tuple[str, str, str]]:
        return type(self), (self.place, self.reason, self.cure)


def make(folder: str | os.PathLike[str]) -> None:
    """Make a folder, and each missing one above it, with mode 0700 whatever the umask.

    The state folder, and what lies between it and `folder`, is tightened (see `tighten`).

    Raises:
        Untrusted: a folder on the way belongs to another user or can be written by others.
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
            os.chmod(place, 0o700)  # the umask took a right of the owner's


def opener(path: str, flags: int) -> int:
    """Open a file that only its owner may read, if this makes it. For `open(opener=…)`."""
    return os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o600)


def tighten(folder: str | os.PathLike[str] = "") -> None:
    """Take the rights of others from the state folder, and from those between it and `folder`.

    Only folders of this user are changed, and never one that obviously serves others too: `/`, one
    with the sticky bit, one that holds folders triseek did not make. Never raises: a folder that
    cannot be changed is what the doctor reports.
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
    """Why another user may have put there what lies at `path`; None if none can have.

    Every folder from the root of the file system to `path`, also by way of links, must belong to
    this user or to root, and nobody else may write there. Above `path` the sticky bit is enough:
    in `/tmp` others cannot rename what is not theirs. As every folder above is checked too, nobody
    can exchange one between this check and the use. What is not there yet is trusted as far as the
    folders above it are.

    POSIX access lists show as rights of the group here; other kinds (NFSv4, macOS) are not read.
    """
    if not hasattr(os, "geteuid"):
        return None
    owners = {0, os.geteuid(), os.stat("/").st_uid}  # in a user namespace root may have no name
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
    """Why a file in a trusted folder may be another user's; None if it is this user's or root's.

    It may lie there since the folder was open to others.
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
    """Whether only this user is in the group that may write: a umask of 002 is common then."""
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
    """Whether rights of the group may be those of other users."""
    try:
        return any("acl" in name for name in os.listxattr(place))
    except (AttributeError, OSError):
        return False


def _tighten(place: str, *, is_home: bool) -> None:
    try:
        # The state folder may be a link to where there is room; what it holds may not.
        status = os.stat(place) if is_home else os.lstat(place)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return
        if not status.st_mode & _OTHERS or (is_home and _serves_others(place, status)):
            return
        os.chmod(place, stat.S_IMODE(status.st_mode) & stat.S_IRWXU)
    except OSError:
        return


def _serves_others(home: str, status: os.stat_result) -> bool:
    """Whether the state folder is a folder of other things, which others may need to enter."""
    if status.st_mode & stat.S_ISVTX or os.path.dirname(home) == home:
        return True
    with os.scandir(home) as entries:
        return any(
            entry.name not in _OWN_FOLDERS and not entry.name.startswith(".") and entry.is_dir()
            for entry in entries
        )
