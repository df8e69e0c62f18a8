"""Which files' contents are never kept, not even compressed in our own folder.

Kept is only what ripgrep would list: what git ignores, and whatever is hidden, is left alone. And
of that nothing whose name says that it holds a secret, or that begins as private keys do.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase

from triseek.files import root as roots
from triseek.files.ignore import IgnoreFiles, Options
from triseek.model.search import ScopeSpec

_NAMES = (
    "*.env", "env.*", "*.envrc", "*.pem", "*key*", "*.p12", "*.pfx", "*.p8", "*.jks", "*.kdb*",
    "*.gpg", "*.pgp", "*.asc", "*.age", "*.der", "*.ovpn", "*.ppk", "id_rsa*", "id_dsa*",
    "id_ecdsa*", "id_ed25519*", "*credential*", "*secret*", "*passw*", "*passphrase*", "*.tfstate*",
    "*.tfvars*", "*netrc*", "*htpasswd*", "*kubeconfig*", "*wallet*", "*vault*", "*.sqlite*",
    "*.log", "*cookie*", "*.har",
)  # fmt: skip
_WORDS = frozenset({"token", "tokens", "pwd"})
_PRIVATE = b"PRIVATE KEY"


def is_secret(path: str) -> bool:
    """Whether the name, or that of a folder above, says so."""
    return any(_says_so(part.lower()) for part in path.split("/") if part)


def may_keep(root: str, path: str, data: bytes) -> bool:
    """Whether a file's content may be kept.

    Args:
        root: Where the agent works; absolute.
        path: Of the file, absolute, links resolved.
        data: What it holds.
    """
    base = roots.git_root(os.path.dirname(path)) or os.path.realpath(root)  # noqa: PTH120
    prefix = base.rstrip("/") + "/"
    if prefix == "/" or not path.startswith(prefix) or _PRIVATE in data:
        return False
    relative = path[len(prefix) :]
    return not is_secret(relative) and _is_listed(os.fsencode(base), os.fsencode(relative))


def _says_so(name: str) -> bool:
    words = re.split(r"[^a-z0-9]+", name)
    return any(fnmatchcase(name, pattern) for pattern in _NAMES) or not _WORDS.isdisjoint(words)


def _is_listed(base: bytes, relative: bytes) -> bool:
    """Whether ripgrep lists this one file of a root."""
    ignore = IgnoreFiles(base, Options.of(ScopeSpec()))
    rules = ignore.start(b"")
    folder = b""
    *folders, file = relative.split(b"/")
    for name in (*folders, file):
        if name.startswith(b"."):
            return False
        special = [one for one in ignore.names if os.path.lexists(base + b"/" + folder + one)]
        if special:
            rules = ignore.enter(rules, folder, special)
        files, dirs = ([name], []) if name is file else ([], [name])
        by_file, by_dir = rules.decide(folder, files, dirs)
        if not (by_file | by_dir).get(name, True):
            return False
        folder += name + b"/"
    return True
