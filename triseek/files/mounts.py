"""The mounts at and below a folder, and whether changes in them make file events.

An event is made by the kernel that makes a change. A file on a server can be changed by another
machine's kernel, and files of a virtual file system change without any, so neither makes events.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

MOUNTINFO = "/proc/self/mountinfo"
FSTAB = "/etc/fstab"
_REMOVABLE = ("/mnt/", "/media/", "/run/media/", "/Volumes/")
"""Where systems and people mount what is not always there."""

_REMOTE = re.compile(
    r"9p|acfs|afs|beegfs|ceph|cifs|coda|davfs|drvfs|fakeowner|fhgfs|fuse(\..*)?|gfs2?|glusterfs|gpfs"
    r"|lustre|mvfs|ncpf?s?|nfs4?|ocfs2|orangefs|osxfs|panfs|prl_fs|pvfs2|smb(2|3|fs)|vboxsf|virtiofs"
    r"|vmhgfs|wekafs"
)
"""`fuseblk` is not among them: it is a local disk, mostly NTFS, that nobody else writes to."""
_VIRTUAL = re.compile(
    r"autofs|binfmt_misc|bpf|cgroup2?|configfs|debugfs|devpts|efivarfs|fusectl|mqueue|nfsd|nsfs|proc"
    r"|pstore|resctrl|rpc_pipefs|securityfs|selinuxfs|smackfs|sysfs|tracefs"
)
_UNSEEN = (
    (_REMOTE, "which others can change without an event here"),
    (_VIRTUAL, "a virtual file system that changes without events"),
)
_ESCAPE = re.compile(rb"\\([0-7]{3})")


class Mount(NamedTuple):
    """The fields of a line of mountinfo that are used here."""

    number: int
    device: bytes
    """`major:minor`"""
    part: bytes
    """The folder of the file system that is mounted."""
    point: bytes
    """The mount point, absolute."""
    kind: str
    """The type of the file system."""


def obstacle(root: bytes) -> str:
    """Return why some changes below this root would make no event, in one line; "" if all would.

    Only Linux is checked; on other systems the answer is "".
    """
    if not sys.platform.startswith("linux"):
        return ""
    try:
        root = os.path.realpath(root, strict=True)
        return objection(read(), root, mount_number(root))
    except (OSError, ValueError) as error:
        return f"cannot tell what {os.fsdecode(root)!r} is mounted from: {error}"


def objection(mounts: Sequence[Mount], root: bytes, number: int) -> str:
    """Return what `obstacle` does, from the mounts and the number of the one that `root` is in."""
    holding = [mount for mount in mounts if mount.number == number]
    if not holding:
        return (
            f"cannot tell what {os.fsdecode(root)!r} is mounted from: mount {number} is not listed"
        )
    for mount in holding + below(mounts, root):
        for kinds, reason in _UNSEEN:
            if kinds.fullmatch(mount.kind):
                return f"{os.fsdecode(mount.point)!r} is mounted from {mount.kind}, {reason}"
    return ""


def is_remote(path: bytes) -> bool:
    """Return whether an absolute path is on a server or is mounted when it is looked at.

    Nothing of the path is looked at, which may take for ever. Without /proc the answer is False.
    """
    kind = ""
    longest = -1
    with contextlib.suppress(OSError):
        for mount in read():  # of several on one point, the last is on top
            point = mount.point.rstrip(b"/") + b"/"
            if (path + b"/").startswith(point) and len(point) >= longest:
                kind, longest = mount.kind, len(point)
    return kind == "autofs" or _REMOTE.fullmatch(kind) is not None


def is_unmounted(folder: str) -> bool:
    """Return whether a folder is empty and, at other times, a volume may be mounted on it."""
    if os.listdir(folder):  # noqa: PTH208 - a path as text
        return False
    if folder.startswith(_REMOVABLE):
        return True
    with contextlib.suppress(OSError), open(FSTAB, "rb") as file:  # noqa: PTH123 - a path in /etc
        return os.fsencode(folder) in _mount_points(file.read())
    return False


def _mount_points(fstab: bytes) -> list[bytes]:
    lines = (line.split() for line in fstab.splitlines() if not line.lstrip().startswith(b"#"))
    return [_unescape(words[1]) for words in lines if len(words) > 1]


def below(mounts: Sequence[Mount], root: bytes) -> list[Mount]:
    """Return the mounts below a folder (absolute, links resolved), without those on it."""
    prefix = root.rstrip(b"/") + b"/"
    return [mount for mount in mounts if mount.point.startswith(prefix) and mount.point != prefix]


def virtual_kind(device: int) -> str:
    """Return the type of the virtual file system (proc, sysfs…) on a device; "" for any other.

    device: `st_dev` of a file. Where there is no /proc, every answer is "".
    """
    wanted = b"%d:%d" % (os.major(device), os.minor(device))
    with contextlib.suppress(OSError):
        for mount in read():
            if mount.device == wanted and _VIRTUAL.fullmatch(mount.kind):
                return mount.kind
    return ""


class MountGuard:
    """Detects mounts and unmounts below a root.

    The table of mounts stays open. It polls as exceptional once for each change of any mount; then
    it is read and compared, because mounts elsewhere (of containers, say) are irrelevant here.
    """

    def __init__(self, root: bytes) -> None:
        """Create a guard for a root; `open` starts it."""
        self._root = root
        self.fd = -1
        self._known: list[Mount] = []

    def open(self) -> None:
        """Record the current mounts. Without /proc no change is ever detected.

        Raises:
            OSError: The table exists and cannot be read.
        """
        with contextlib.suppress(FileNotFoundError):
            self.fd = os.open(MOUNTINFO, os.O_RDONLY | os.O_CLOEXEC)
        self._known = self._below()

    def changed(self) -> bool:
        """Return whether the mounts have changed since the last call."""
        before, self._known = self._known, self._below()
        return before != self._known

    def close(self) -> None:
        """Close the table of mounts."""
        if self.fd >= 0:
            with contextlib.suppress(OSError):  # already closed by other code
                os.close(self.fd)

    def _below(self) -> list[Mount]:
        if self.fd < 0:
            return []
        os.lseek(self.fd, 0, os.SEEK_SET)
        text = b"".join(iter(lambda: os.read(self.fd, 1 << 16), b""))
        return below(parse(text), self._root)


def read() -> list[Mount]:
    """Return the mounts this process sees.

    Raises:
        OSError: There is no /proc.
    """
    with open(MOUNTINFO, "rb") as file:  # noqa: PTH123 - a path in /proc
        return parse(file.read())


def parse(text: bytes) -> list[Mount]:
    """Parse the text of mountinfo, see proc_pid_mountinfo(5). Malformed lines are skipped."""
    mounts = []
    for line in text.split(b"\n"):
        fields = line.split(b" ")
        try:
            end = fields.index(b"-", 6)  # optional fields stand between the sixth field and this
            number, kind = int(fields[0]), fields[end + 1].decode("ascii", "replace")
        except (ValueError, IndexError):
            continue
        mounts.append(Mount(number, fields[2], _unescape(fields[3]), _unescape(fields[4]), kind))
    return mounts


def mount_number(path: bytes) -> int:
    """Return the number of the mount a folder is in.

    Asking the kernel is exact where mount points mislead, as with mounts on top of mounts.

    Raises:
        OSError: The folder cannot be opened, or there is no /proc.
        ValueError: /proc does not name the mount.
    """
    descriptor = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with open(f"/proc/self/fdinfo/{descriptor}", "rb") as file:  # noqa: PTH123
            text = file.read()
    finally:
        os.close(descriptor)
    match = re.search(rb"^mnt_id:\s*(\d+)$", text, re.MULTILINE)
    if match is None:
        raise ValueError("the kernel does not say which mount it is in")
    return int(match[1])


def _unescape(field: bytes) -> bytes:
    return _ESCAPE.sub(lambda match: bytes([int(match[1], 8) & 0xFF]), field)
