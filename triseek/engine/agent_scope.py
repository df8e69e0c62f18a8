"""The files that agents' tools search.

They are those that ripgrep lists, and the hidden files that git tracks: an agent that is told "no
matches" must be able to rely on it for `.golangci.yml`, too. Outside of git there are no tracked
files, and well-known hidden places (`files.tree.ignore`) are searched instead. Linked working trees
below the root hold the same files once more, and are searched only if they are named.
"""

from __future__ import annotations

import re

from triseek.files.tree import tracked
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


def _escaped(path: bytes) -> str:
    """Return a glob for one path."""
    return _SIGNS.sub(r"\\\1", path.decode("utf-8", "surrogateescape"))
