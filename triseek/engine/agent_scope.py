"""The files that agents' tools search.

They are those that ripgrep lists, and the hidden files that git tracks: an agent that is told "no
matches" must be able to rely on it for `.golangci.yml`, too. Outside of git there are no tracked
files, and well-known hidden places (`files.tree.ignore`) are searched instead. Linked working trees
below the root hold the same files once more, and are searched only if they are named.
"""

from __future__ import annotations

import os
import re

from triseek.files.tree import git, tracked
from triseek.files.tree.ignore import ALLOWED_DIRS, ALLOWED_FILES
from triseek.files.tree.root import git_root
from triseek.files.tree.secret_files import is_ignored
from triseek.model.search import ScopeSpec

GIT_FOLDER = "!.git"
"""The glob that leaves out git's own files, which a search for hidden files would find."""
_SIGNS = re.compile(r"([*?\[\]{}!\\])")


def agent_scope(
    root: str,
    globs: tuple[str, ...] = (),
    types: tuple[str, ...] = (),
    *,
    hidden: bool = False,
    ignored: bool = False,
) -> ScopeSpec:
    """Return the scope of an agent's search below a canonical root.

    Args:
        root: The root.
        globs: Further restrictions.
        types: ripgrep's file types.
        hidden: Search all hidden files, tracked or not.
        ignored: Search ignored files, too.
    """
    files = tracked.hidden_files(root)
    left_out = [f"!/{_escaped(tree)}" for tree in tracked.worktrees_below(root)]
    if hidden or any(not glob.startswith("!") for glob in globs):
        left_out.append(GIT_FOLDER)
    return ScopeSpec(
        globs=(*globs, *left_out),
        types=types,
        allowlist=files is None,
        also=frozenset() if files is None or hidden else files,
        hidden=hidden,
        no_ignore=ignored,
    )


def is_shown(root: str, path: str) -> bool:
    """Return whether agents' tools may show the content of a file that a caller names.

    Those are the files that they search, and the ignored ones that git tracks: a cluster has them,
    too. What is neither may hold secrets, as `.env`, or as `.git/config` the password of a remote.

    Args:
        root: The root, canonical.
        path: The file's path below it, links resolved.
    """
    parts = path.split("/")
    if ".git" in map(str.casefold, parts):
        return False
    if any(part.startswith(".") for part in parts):
        files = tracked.hidden_files(root)
        raw = os.fsencode(path)
        if files is not None:
            return raw in files
        if raw.partition(b"/")[0] not in ALLOWED_DIRS and raw not in ALLOWED_FILES:
            return False
    base = git_root(root) or root
    relative = os.path.relpath(f"{root}/{path}", base)
    return not is_ignored(base, relative) or bool(
        git.ask(root, "ls-files", "-z", "--", f":(literal){path}")
    )


def _escaped(path: bytes) -> str:
    """Return a glob for one path."""
    return _SIGNS.sub(r"\\\1", path.decode("utf-8", "surrogateescape"))
