"""A snapshot in one portable file: a gzipped tar, `.tcp`, with a list of checksums.

    <snapshot_id>/manifest.json …     the snapshot's files
    <snapshot_id>/checksums.txt       `<sha-256>  <name>` of each of them, by name
    <snapshot_id>/signature.json      optional; see `sessions.signing`

A pack comes from outside. It is read into memory within limits, and nothing is written before all
of it has been checked. It may have only regular files with the names of a snapshot's files, none
twice. Each must be listed with its checksum, and each listed file must be present. Files at the
archive's root, without a folder, are accepted too, because earlier packs have them there.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from triseek import paths, private
from triseek.errors import InvalidRequest, PackRejected, StateUnwritable
from triseek.model.session import is_id
from triseek.sessions import archive, pack_fields, snapshot_files
from triseek.store import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.sessions.snapshot_files import Snapshot

CHECKSUMS, SIGNATURE = "checksums.txt", "signature.json"
TOTAL_MAX = 64 << 20
"""Bytes of all files together, unpacked, with their headers."""
MEMBERS_MAX = 1_000
"""Files and folders."""
PACKED_MAX = 64 << 20
"""Bytes of the pack itself."""
LIMITS = {CHECKSUMS: 256 << 10, SIGNATURE: 4 << 10}
"""Bytes of the files that only packs have; see `snapshot_files.LIMITS` for the others."""
SUFFIX = ".tcp"
NAME_BYTES_MAX = 128
"""Bytes of the name of a pack that an agent requests."""
_SHOWN_MAX = 80
_TIME_MAX = 0o77777777777
"""The latest time, in Unix seconds, that a tar header can hold."""


class Unpacked(NamedTuple):
    """The checked content of a pack."""

    snapshot: Snapshot
    files: Mapping[str, bytes]
    """The snapshot's files, by their names in it."""
    checksums: bytes
    signature: bytes | None


def export(
    folder: Path,
    target: str | os.PathLike[str],
    sign: Callable[[bytes], bytes] | None = None,
    *,
    mode: int = 0o666,
) -> int:
    """Write a snapshot's folder as a pack; the same folder gives the same bytes.

    Args:
        folder: The snapshot's folder.
        target: The file to write; an existing file is replaced.
        sign: Returns the signature of a list of checksums; None leaves the pack unsigned.
        mode: The file's mode, before the umask is applied.

    Returns:
        The number of bytes written.

    Raises:
        InvalidRequest: The folder is damaged.
        StateUnwritable: The pack cannot be written.
    """
    try:
        snapshot, files = snapshot_files.read_files(folder)
        files[CHECKSUMS] = checksums(files)
        _checked(dict(files))  # nothing is exported that could not be imported
    except (OSError, ValueError) as error:
        raise InvalidRequest(
            f"snapshot {folder.name} cannot be packed: {error}", next_step="Make another one."
        ) from error
    if sign is not None:
        files[SIGNATURE] = sign(files[CHECKSUMS])
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", filename="", mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for name in sorted(files):
            member = tarfile.TarInfo(f"{snapshot.manifest.snapshot_id}/{name}")
            member.size, member.mode = len(files[name]), 0o600
            member.mtime = min(snapshot.manifest.created_at, _TIME_MAX)
            tar.addfile(member, io.BytesIO(files[name]))
    try:
        atomic.write(target, packed.getvalue(), mode=mode)
    except OSError as error:
        raise StateUnwritable(
            f"cannot write {os.fspath(target)}: {error.strerror}",
            next_step="Choose another place with --output.",
        ) from error
    return packed.tell()


def checked_name(name: str) -> str:
    """Return the name if it is a valid file name for a pack.

    Raises:
        InvalidRequest: It is a path, is hidden, is not printable, lacks the suffix, or is too long.
    """
    why = _objection(name)
    if why:
        raise InvalidRequest(
            f"output {name[:_SHOWN_MAX]!r} {why}",
            next_step=f"Name a file such as handoff{SUFFIX}; it is written to {paths.exports()}.",
        )
    return name


def export_named(snapshot_folder: Path, name: str) -> str:
    """Export a snapshot as a pack into the exports folder; return the file's absolute path.

    A pack of that name is replaced; a link of that name is replaced, not followed.

    Raises:
        InvalidRequest: The name is not valid for a pack, or the snapshot is damaged.
        StateUnwritable: It cannot be written.
    """
    folder = Path(paths.exports())
    target = folder / checked_name(name)
    try:
        private.make(folder)
    except OSError as error:
        raise StateUnwritable(f"cannot make {folder}: {error.strerror}") from error
    if folder.is_symlink():
        raise StateUnwritable(
            f"{folder} is a link, and is not written to", next_step="Remove the link."
        )
    export(snapshot_folder, target, mode=0o600)
    return os.fspath(target)


def _objection(name: str) -> str:
    """Return why a name is refused; "" if it is not."""
    if "/" in name or "\\" in name:
        return "is a path, not a file name"
    if not name.isprintable():
        return "holds characters that cannot be shown"
    if name.startswith((".", " ")):
        return "begins with a dot or a space"
    if not name.endswith(SUFFIX):
        return f"does not end in {SUFFIX}"
    too_long = len(name.encode()) > NAME_BYTES_MAX
    return f"is longer than {NAME_BYTES_MAX} bytes" if too_long else ""


def checksums(files: Mapping[str, bytes]) -> bytes:
    """Return the list of checksums."""
    lines = (f"{snapshot_files.sha(files[name])}  {name}\n" for name in sorted(files))
    return "".join(lines).encode("ascii")


def unpack(source: str | os.PathLike[str]) -> Unpacked:
    """Read and check a pack, without writing anything.

    Raises:
        PackRejected: It cannot be read, or is not a valid pack.
    """
    try:
        return _checked(_members(source))
    except ValueError as error:
        raise PackRejected(f"{os.fspath(source)}: {error}") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise PackRejected(f"{os.fspath(source)}: {reason}") from error


def _checked(files: dict[str, bytes]) -> Unpacked:
    listed = files.pop(CHECKSUMS, None)
    signature = files.pop(SIGNATURE, None)
    if listed is None:
        raise ValueError(f"{CHECKSUMS} is missing")
    _compare(files, listed)
    snapshot = snapshot_files.read(files.get)
    pack_fields.check(files)
    quoted = {f"{snapshot_files.SNIPPETS}/{pin.sha}.txt" for pin in snapshot.pins}
    spare = [name for name in files if "/" in name and name not in quoted]
    if spare:
        raise ValueError(f"{spare[0]} belongs to no pinned snippet")
    if any(entry.session_id != snapshot.manifest.session_id for entry in snapshot.entries):
        raise ValueError("the action log is of another session")
    if listed != checksums(files):
        raise ValueError(f"{CHECKSUMS}: not one line `<sha-256>  <name>` a file, ordered by name")
    return Unpacked(snapshot, files, listed, signature)


def _members(source: str | os.PathLike[str]) -> dict[str, bytes]:
    """Read every file of the archive, by its name below the single folder, if there is one."""
    contents: dict[str, bytes] = {}
    folders: set[str] = set()

    def limit(path: str) -> int:
        folder, name = _placed(path)
        if name in contents:
            raise ValueError(f"{name} is there twice")
        folders.add(folder)
        if len(folders) > 1:
            raise ValueError("its files are in several folders")
        return LIMITS[name] if name in LIMITS else snapshot_files.limit(name)

    descriptor = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise ValueError("not a file")
        if info.st_size > PACKED_MAX:
            raise ValueError(f"larger than {PACKED_MAX >> 20} MiB")
        with open(descriptor, "rb", closefd=False) as file:
            for path, content in archive.files(file, TOTAL_MAX, MEMBERS_MAX, limit):
                contents[_placed(path)[1]] = content
    finally:
        os.close(descriptor)
    return contents


def _placed(path: str) -> tuple[str, str]:
    """Split a path of the archive into a folder and a name, which must be one that a pack can have.

    For a folder, whose path ends with `/`, the name is "".
    """
    if path == f"{snapshot_files.SNIPPETS}/":
        return "", ""
    folder, _, rest = path.partition("/")
    if is_id(folder) and rest in ("", f"{snapshot_files.SNIPPETS}/") and path.endswith("/"):
        return folder, ""
    for placed in ((folder, rest), ("", path)):
        is_known = placed[1] in LIMITS or snapshot_files.is_name(placed[1])
        if is_known and (is_id(folder) or not placed[0]) and path[:1] != "/":
            return placed
    raise ValueError(f"{path!r:.80} does not belong into a pack")


def _compare(files: Mapping[str, bytes], listed: bytes) -> None:
    """Check the files against the list of checksums."""
    sums: dict[str, str] = {}
    for line in listed.decode("utf-8").split("\n")[:-1]:
        digest, _, name = line.partition("  ")
        if name in sums or not snapshot_files.is_name(name):
            raise ValueError(f"{CHECKSUMS} lists {name!r:.80}")
        sums[name] = digest
    for name in sorted({*files, *sums}):
        if name not in sums:
            raise ValueError(f"{name} is not listed in {CHECKSUMS}")
        if name not in files:
            raise ValueError(f"{name} is listed in {CHECKSUMS} and missing")
        if snapshot_files.sha(files[name]) != sums[name]:
            raise ValueError(f"{name} does not have the sum that {CHECKSUMS} lists")
