"""The repositories that can be searched: every indexed root of this user, and their names.

A repository is named as Zoekt's indexers name it: by the address of its remote `origin` without
the scheme (`github.com/org/repo`), or by the setting `zoekt.name` of its git configuration. A
folder without a remote has its own name. Repositories of the same name are told apart by a suffix
that is made of their folder's path, so that it stays the same.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from triseek import paths
from triseek.errors import TriseekError
from triseek.files.access import open_regular
from triseek.files.tree.root import key
from triseek.store import manifest

if TYPE_CHECKING:
    from collections.abc import Iterable

_INDEX = re.compile(r"[a-z0-9-]+-[0-9a-f]{16}")
_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_OPTION = re.compile(r"\s*([A-Za-z][\w-]*)\s*=\s*(.*)")
_SCP = re.compile(r"(?:[^/@:]+@)?([^/:@]+):(?!//)(.+)")
"""An address such as `git@host:org/repo.git`."""
CONFIG_BYTES_MAX = 1 << 20
NAME_MAX = 200
"""Characters of a name from a configuration; longer ones are not used."""
FLAGS = ("public", "fork", "archived")


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """An indexed folder as a repository."""

    name: str
    """Unique among the roots of one listing."""
    folder: str
    """Canonical absolute path."""
    url: str = ""
    """The web address of its remote, if it is one of https."""
    branch: str = ""
    """The branch that is checked out; "" if there is none."""
    flags: frozenset[str] = frozenset()
    """Those of `FLAGS` that its git configuration sets to 1 in the section `zoekt`."""


class IndexedRoots(NamedTuple):
    """The indexed roots of this user."""

    roots: tuple[Root, ...]
    """By name. Roots that are gone are left out."""
    broken: tuple[str, ...] = ()
    """For each index that does not tell its root: why it cannot be read, in one sentence."""


def indexed_roots() -> IndexedRoots:
    """Return all indexed roots of this user."""
    folders: list[str] = []
    broken: list[str] = []
    try:
        with os.scandir(paths.indexes()) as entries:
            names = sorted(entry.name for entry in entries if _INDEX.fullmatch(entry.name))
    except OSError:
        names = []
    for name in names:
        try:
            current = manifest.read(paths.index_of(name))
        except TriseekError as error:
            broken.append(f"index {name} is not searched: {error}")
            continue
        if current is not None and key(os.fsencode(current.root)) == name:
            folders.append(current.root)
    return IndexedRoots(named(folders), tuple(broken))


def named(folders: Iterable[str]) -> tuple[Root, ...]:
    """Return roots by name, from their canonical folders. Folders that are gone are left out."""
    roots = [_root(folder) for folder in folders if os.path.isdir(folder)]  # noqa: PTH112
    uses = Counter(root.name for root in roots)
    unique = [root if uses[root.name] == 1 else _told_apart(root) for root in roots]
    return tuple(sorted(unique, key=lambda root: root.name))


def inner_folders(roots: Iterable[Root]) -> dict[str, tuple[bytes, ...]]:
    """Return for each root the other roots inside it, relative to it, each ending in `/`."""
    folders = sorted(os.fsencode(root.folder).rstrip(b"/") + b"/" for root in roots)
    inner: dict[str, tuple[bytes, ...]] = {}
    for place, outer in enumerate(folders):
        inside = takewhile(lambda folder: folder.startswith(outer), folders[place + 1 :])  # noqa: B023
        name = os.fsdecode(outer.rstrip(b"/") or b"/")
        inner[name] = tuple(folder[len(outer) :] for folder in inside)
    return inner


def _told_apart(root: Root) -> Root:
    suffix = key(os.fsencode(root.folder)).rpartition("-")[2][:8]
    return replace(root, name=f"{root.name}~{suffix}")


def _root(folder: str) -> Root:
    git = os.path.join(folder, ".git")  # noqa: PTH118
    options = _options(_text(os.path.join(git, "config")))  # noqa: PTH118
    name = options.get(("zoekt", "", "name"), "")
    remote, url = _address(options.get(("remote", "origin", "url"), ""))
    own = os.path.basename(folder) or folder  # noqa: PTH119
    head = _text(os.path.join(git, "HEAD")).strip()  # noqa: PTH118
    return Root(
        name=_printable(name) or remote or _printable(os.fsencode(own).decode("utf-8", "replace")),
        folder=folder,
        url=url,
        branch=_printable(head.removeprefix("ref: refs/heads/")) if head[:5] == "ref: " else "",
        flags=frozenset(flag for flag in FLAGS if options.get(("zoekt", "", flag)) == "1"),
    )


def _address(remote: str) -> tuple[str, str]:
    """Return host and path of a remote's address, and its web address; empty if it has none."""
    scp = _SCP.fullmatch(remote)
    if scp is not None and "://" not in remote:
        host, path, scheme = scp[1], scp[2], "ssh"
    else:
        try:
            parts = urlsplit(remote)
            host, path, scheme = parts.hostname or "", parts.path, parts.scheme
        except ValueError:
            return "", ""
    name = _printable(f"{host}/{path.strip('/').removesuffix('.git')}") if host and path else ""
    return name, f"https://{name}" if name and scheme in ("https", "http", "ssh") else ""


def _printable(text: str) -> str:
    """Return a name from a configuration, if it can be shown and typed; else an empty one."""
    shown = "".join(char if char.isprintable() else "?" for char in text.strip())
    return shown if len(shown) <= NAME_MAX else ""


def _options(config: str) -> dict[tuple[str, str, str], str]:
    """Return the options of a git configuration, by section, subsection and name.

    Files that it includes are not read: the names of repositories do not depend on them.
    """
    options: dict[tuple[str, str, str], str] = {}
    section = ("", "")
    for line in config.splitlines():
        header = _SECTION.match(line)
        if header is not None:
            section = (header[1].lower(), (header[2] or "").replace("\\", ""))
            line = line[header.end() :]
        option = _OPTION.match(line)
        if option is not None:
            options[*section, option[1].lower()] = option[2].strip().strip('"')
    return options


def _text(path: str) -> str:
    """Return a file's text; "" if it cannot be read. It never blocks."""
    try:
        with open(open_regular(os.fsencode(path)), "rb") as file:  # noqa: PTH123
            return file.read(CONFIG_BYTES_MAX).decode("utf-8", "replace")
    except OSError:
        return ""
