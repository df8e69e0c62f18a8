"""A test case: a tree of files, a working folder in it, and the words of a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

BASE = "{base}"
"""Stands in words for the absolute path of the folder in which the tree was made."""
ROOT = b"up/root"
"""The folder that is indexed, relative to the base folder."""

Kind: TypeAlias = Literal["file", "folder", "link", "removed"]


class Entry(NamedTuple):
    """One file, folder or symbolic link."""

    path: bytes
    """Relative to the base folder; what begins with home/ goes to the user's home folder."""
    kind: Kind
    data: bytes = b""
    """Content of a file, target of a link."""


@dataclass(frozen=True)
class Tree:
    """What to make on disk."""

    entries: tuple[Entry, ...]
    edits: tuple[Entry, ...] = ()
    """Written or removed after the index was built."""

    def files(self) -> dict[bytes, bytes]:
        """Path and content of each file, with the edits made."""
        found = {entry.path: entry for entry in self.entries}
        found.update({entry.path: entry for entry in self.edits})
        return {path: entry.data for path, entry in found.items() if entry.kind == "file"}


@dataclass(frozen=True)
class Case:
    """One search, to be asked of ripgrep and of triseek."""

    tree: Tree
    cwd: bytes
    """Working folder, relative to the base folder."""
    flags: tuple[tuple[str, ...], ...]
    """Flags, each with its value."""
    patterns: tuple[str, ...]
    operands: tuple[str, ...]
    stdin: bytes | None = None
    """Piped to the search; None: standard input is empty."""

    def words(self, base: str) -> list[str]:
        """The arguments, for a tree made in `base`."""
        words = [word for flag in self.flags for word in flag]
        if len(self.patterns) == 1 and not self.patterns[0].startswith("-"):
            words.append(self.patterns[0])
        else:
            words += [f"--regexp={pattern}" for pattern in self.patterns]
        if any(operand.startswith("-") and operand != "-" for operand in self.operands):
            words.append("--")
        words += self.operands
        return [word.replace(BASE, base) for word in words]

    def has(self, *names: str) -> bool:
        """Whether one of these flags is among the words, spelled so."""
        return any(flag[0] in names for flag in self.flags)
