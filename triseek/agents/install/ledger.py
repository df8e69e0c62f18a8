"""The record of what installs have written, kept in the state folder for uninstalls.

`install/ledger.json` has for each file which owner put what into it; `install/backups/` has one
copy of each file without our entries. Only the user can read them: configs contain secrets.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek import paths, private
from triseek.agents.base import Edit, Traces
from triseek.agents.install.entries import JsonDefault, JsonMember
from triseek.agents.install.hook_entries import HookItem
from triseek.agents.install.own_files import OwnFile
from triseek.agents.install.toml_edits import TomlTable
from triseek.errors import Busy, StateUnwritable
from triseek.ipc.lock import try_lock
from triseek.store import atomic

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 1
_KINDS: dict[str | None, type[Edit]] = {
    edit.kind: edit for edit in (JsonMember, JsonDefault, HookItem, TomlTable, OwnFile)
}


@dataclass(frozen=True, slots=True)
class UnknownEdit(Edit):
    """An edit of a kind that only a later version has; it is kept as it is, and changes nothing."""

    kind = ""
    record: dict[str, Any]

    def stands(self, text: str | None) -> bool:  # noqa: ARG002 - as above
        """Whether there is nothing to do: always."""
        return True

    def apply(self, text: str | None, traces: Traces) -> str | None:  # noqa: ARG002 - as above
        """Return the text itself."""
        return text

    def remove(self, text: str | None, traces: Traces) -> str | None:  # noqa: ARG002 - as above
        """Return the text itself."""
        return text


class OwnedEdit(NamedTuple):
    """An edit, and the owner that it was made for."""

    owner: str
    """See `apply.owner_of`."""
    edit: Edit


@dataclass(slots=True)
class InstalledFile:
    """A file that has entries of ours."""

    existed: bool = False
    """Whether the file exists without our entries; if so, there is a backup."""
    backup: str = ""
    """The backup's file name."""
    before: str = ""
    """Digest of the file without our entries."""
    after: str = ""
    """Digest of the file as we wrote it."""
    entries: list[OwnedEdit] = field(default_factory=list)
    """The edits, in order."""
    traces: Traces = field(default_factory=Traces)

    def of(self, owner: str) -> list[Edit]:
        """Return an owner's edits."""
        return [entry.edit for entry in self.entries if entry.owner == owner]

    def of_others(self, owner: str) -> list[OwnedEdit]:
        """Return the edits of other owners."""
        return [entry for entry in self.entries if entry.owner != owner]


@dataclass(slots=True)
class Ledger:
    """All files with entries of ours, and the folders that were made for them."""

    files: dict[str, InstalledFile] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)


def folder() -> str:
    """Return the folder of the ledger and the backups."""
    return os.path.join(paths.home(), "install")  # noqa: PTH118


def load() -> Ledger:
    """Read the ledger; if it is missing or damaged, return an empty one."""
    try:
        document = json.loads(_file().read_bytes())
        files = {
            str(path): InstalledFile(
                **{
                    **file,
                    "entries": [_decoded(**entry) for entry in file["entries"]],
                    "traces": Traces(**file["traces"]),
                }
            )
            for path, file in document["files"].items()
        }
        return Ledger(files, [str(path) for path in document["folders"]])
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Ledger()


def save(ledger: Ledger) -> None:
    """Write the ledger, readable by the user only.

    Raises:
        StateUnwritable: the state folder cannot be written.
    """
    document = {
        "version": VERSION,
        "files": {
            path: {
                **asdict(replace(file, entries=[])),
                "entries": [_encoded(entry) for entry in file.entries],
            }
            for path, file in ledger.files.items()
        },
        "folders": ledger.folders,
    }
    encoded = json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8", "surrogateescape")
    _put(_file(), encoded + b"\n")


def _encoded(entry: OwnedEdit) -> dict[str, Any]:
    """Return an edit as the ledger has it: its kind, its fields and its owner."""
    edit = entry.edit
    record = edit.record if isinstance(edit, UnknownEdit) else {"kind": edit.kind, **asdict(edit)}
    return {**record, "owner": entry.owner}


def _decoded(owner: str = "", **record: Any) -> OwnedEdit:  # noqa: ANN401 - see UnknownEdit
    kind = _KINDS.get(record.get("kind"))
    if kind is None:
        return OwnedEdit(owner, UnknownEdit(str(record.get("path")), record))
    values = {one.name: record[one.name] for one in fields(kind) if one.name in record}
    if "keys" in values:
        values["keys"] = tuple(values["keys"])
    return OwnedEdit(owner, kind(**values))


def keep(target: str, content: bytes) -> str:
    """Write the one backup of a file, and return its name.

    Raises:
        StateUnwritable: the state folder cannot be written.
    """
    digest = hashlib.sha256(os.fsencode(target)).hexdigest()[:16]
    name = f"{digest}-{Path(target).name[:100]}"
    _put(_backups() / name, content)
    return name


def kept(name: str) -> bytes | None:
    """Return a backup's bytes; None if it is missing."""
    try:
        return (_backups() / Path(name).name).read_bytes() if name else None
    except OSError:
        return None


def forget(name: str) -> None:
    """Remove the backup of a file that has no more entries of ours."""
    if name:
        with contextlib.suppress(OSError):
            (_backups() / Path(name).name).unlink()


def digest(content: bytes | None) -> str:
    """Return the SHA-256 digest of a file's bytes; "" for no file."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Hold the lock that excludes other installs.

    Raises:
        Busy: another install is running.
        StateUnwritable: the state folder cannot be written.
    """
    try:
        private.make(folder())
        file = (Path(folder()) / "lock").open("ab")
    except OSError as error:
        raise StateUnwritable(f"{folder()}: {error.strerror}") from None
    with file:
        if not try_lock(file.fileno()):
            raise Busy("another install is under way")
        yield


def _file() -> Path:
    return Path(folder()) / "ledger.json"


def _backups() -> Path:
    return Path(folder()) / "backups"


def _put(path: Path, content: bytes) -> None:
    try:
        private.make(path.parent)
        atomic.write(path, content)
    except OSError as error:
        raise StateUnwritable(f"{path}: {error.strerror or error}") from None
