"""Which file contents may be stored, and which never are, not even compressed in the state folder.

Only files that ripgrep would list may be stored, so neither ignored nor hidden ones. Of these, a
file is refused if its name suggests a secret or its content holds one.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase

from triseek.files.tree import root as roots
from triseek.files.tree.ignore import IgnoreFiles
from triseek.model.search import ScopeSpec
from triseek.redaction import holds_secret

_NAMES = (
    "*.env", "env.*", "*.envrc", "*.pem", "*key*", "*.p12", "*.pfx", "*.p8", "*.jks", "*.kdb*",
    "*.gpg", "*.pgp", "*.asc", "*.age", "*.der", "*.ovpn", "*.ppk", "id_rsa*", "id_dsa*",
    "id_ecdsa*", "id_ed25519*", "*credential*", "*secret*", "*passw*", "*passphrase*", "*.tfstate*",
    "*.tfvars*", "*netrc*", "*htpasswd*", "*kubeconfig*", "*wallet*", "*vault*", "*.sqlite*",
    "*.log", "*cookie*", "*.har",
)  # fmt: skip
_WORDS = frozenset({"token", "tokens", "pwd"})


def is_secret(path: str) -> bool:
    """Return whether the file's name, or that of a folder above it, suggests a secret."""
    return any(_says_so(part.lower()) for part in path.split("/") if part)


def may_keep(root: str, path: str, data: bytes) -> bool:
    """Return whether a file's content may be stored.

    Args:
        root: The folder in which the agent works; absolute.
        path: The file's path, absolute, links resolved.
        data: The file's content.
    """
    base = roots.git_root(os.path.dirname(path)) or os.path.realpath(root)  # noqa: PTH120
    prefix = base.rstrip("/") + "/"
    if prefix == "/" or not path.startswith(prefix) or holds_secret(data.decode(errors="replace")):
        return False
    relative = path[len(prefix) :]
    if is_secret(relative):
        return False
    ignore = IgnoreFiles(os.fsencode(base), ScopeSpec())
    return _is_listed(ignore, os.fsencode(base), os.fsencode(relative))


def is_ignored(base: str, relative: str) -> bool:
    """Return whether an ignore file of a repository excludes a path. The file need not exist.

    Args:
        base: The repository's root, absolute.
        relative: The path below it.
    """
    ignore = IgnoreFiles(os.fsencode(base), ScopeSpec())
    return not _is_listed(ignore, os.fsencode(base), os.fsencode(relative), hidden=True)


def _says_so(name: str) -> bool:
    words = re.split(r"[^a-z0-9]+", name)
    return any(fnmatchcase(name, pattern) for pattern in _NAMES) or not _WORDS.isdisjoint(words)


def _is_listed(ignore: IgnoreFiles, base: bytes, relative: bytes, *, hidden: bool = False) -> bool:
    """Return whether ripgrep would list this file of a root, or would with `--hidden`."""
    rules = ignore.start(b"")
    folder = b""
    *folders, file = relative.split(b"/")
    for name in (*folders, file):
        if name.startswith(b".") and not hidden:
            return False
        special = [entry for entry in ignore.names if os.path.lexists(base + b"/" + folder + entry)]
        if special:
            rules = ignore.enter(rules, folder, special)
        files, dirs = ([name], []) if name is file else ([], [name])
        by_file, by_dir = rules.decide(folder, files, dirs)
        if not (by_file | by_dir).get(name, True):
            return False
        folder += name + b"/"
    return True
