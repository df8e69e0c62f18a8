"""What installs have written, kept in the state folder: so that an uninstall takes out just that.

`install/ledger.json` has for each file who put what into it; `install/backups/` has each file as it
was without us, once. Both are for the person alone: configs hold secrets.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triseek import paths, private
from triseek.errors import Busy, StateUnwritable
from triseek.harness.base import Refused, Traces
from triseek.harness.writing import Change, make, read
from triseek.ipc.lock import try_exclusively

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 1


@dataclass(slots=True)
class Kept:
    """One file that has something of ours in it."""

    existed: bool
    """Whether it was there without us; then there is a backup."""
    backup: str
    """The backup's name."""
    before: str
    """Digest of the file without us."""
    after: str
    """Digest of the file as we wrote it."""
    entries: list[dict[str, Any]] = field(default_factory=list)
    """The edits, in order, each with the `owner` that asked for it."""
    traces: Traces = field(default_factory=Traces)

    def of(self, owner: str) -> list[dict[str, Any]]:
        """The edits that an owner asked for."""
        return [_bare(entry) for entry in self.entries if entry.get("owner") == owner]

    def of_others(self, owner: str) -> list[dict[str, Any]]:
        """The others, with their owners."""
        return [entry for entry in self.entries if entry.get("owner") != owner]


@dataclass(slots=True)
class Ledger:
    """All files, and the folders that were made for them."""

    files: dict[str, Kept] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)


def _bare(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "owner"}


def folder() -> str:
    """Where the ledger and the backups are."""
    return os.path.join(paths.home(), "install")  # noqa: PTH118


def load() -> Ledger:
    """Read the ledger; one that is not there or damaged is an empty one."""
    try:
        told = json.loads(_file().read_bytes())
        files = {
            str(path): Kept(**{**kept, "traces": Traces(**kept["traces"])})
            for path, kept in told["files"].items()
        }
        return Ledger(files, [str(one) for one in told["folders"]])
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Ledger()


def save(ledger: Ledger) -> None:
    """Write the ledger, readable by the person alone.

    Raises:
        StateUnwritable: the state folder takes no more.
    """
    told = {
        "version": VERSION,
        "files": {path: asdict(kept) for path, kept in ledger.files.items()},
        "folders": ledger.folders,
    }
    written = json.dumps(told, indent=1, ensure_ascii=False).encode("utf-8", "surrogateescape")
    _put(_file(), written + b"\n")


def keep(target: str, content: bytes) -> str:
    """Write the one backup of a file; its name.

    Raises:
        StateUnwritable: the state folder takes no more.
    """
    digest = hashlib.sha256(os.fsencode(target)).hexdigest()[:16]
    name = f"{digest}-{Path(target).name[:100]}"
    _put(_backups() / name, content)
    return name


def kept(name: str) -> bytes | None:
    """A backup's bytes, if it is still there."""
    try:
        return (_backups() / Path(name).name).read_bytes() if name else None
    except OSError:
        return None


def forget(name: str) -> None:
    """Remove a backup: the file has no more of ours in it."""
    if name:
        with contextlib.suppress(OSError):
            (_backups() / Path(name).name).unlink()


def digest(content: bytes | None) -> str:
    """A name for a file's bytes; "" for no file."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Keep other installs away.

    Raises:
        Busy: another one is under way.
        StateUnwritable: the state folder cannot be written.
    """
    try:
        _make_folder(Path(folder()))
        file = (Path(folder()) / "lock").open("ab")
    except OSError as error:
        raise StateUnwritable(f"{folder()}: {error.strerror}") from None
    with file:
        if not try_exclusively(file.fileno()):
            raise Busy("another install is under way")
        yield


def _file() -> Path:
    return Path(folder()) / "ledger.json"


def _backups() -> Path:
    return Path(folder()) / "backups"


def _put(path: Path, content: bytes) -> None:
    try:
        _make_folder(path.parent)
        before = read(str(path))
        if before is None:
            path.touch(0o600)
            before = b""
        make(Change(str(path), before, content))
    except (OSError, Refused) as error:
        raise StateUnwritable(f"{path}: {error}") from None


def _make_folder(path: Path) -> None:
    if path.is_relative_to(folder()):
        private.make(path)
    else:
        path.mkdir(parents=True, exist_ok=True)
