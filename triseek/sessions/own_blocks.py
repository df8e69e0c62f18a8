"""Files of a project in which nothing is uncommitted but the block that triseek has put there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triseek.agents.install import managed_block
from triseek.agents.project_files import SIZE_MAX
from triseek.errors import TriseekError
from triseek.files import containment
from triseek.files.tree import git

if TYPE_CHECKING:
    from collections.abc import Sequence

_PAYLOAD_FILES = frozenset(("claude.md", "claude.local.md", "agents.md", "agents.override.md",
                      "context.md", "gemini.md", ".clinerules"))  # fmt: skip
"""Files that payloads are written into, in lower case."""


def holds_payloads(path: str) -> bool:
    """Whether payloads are written into a file of this name."""
    folder, _, name = path.lower().rpartition("/")
    return name in _PAYLOAD_FILES or folder.rpartition("/")[2] == ".clinerules"


def without_own(root: str, dirty: Sequence[bytes]) -> list[bytes]:
    """Return uncommitted files without those in which only our block is uncommitted."""
    return [path for path in dirty if not _is_own(root, path)]


def _is_own(root: str, path: bytes) -> bool:
    if not holds_payloads(path.decode("utf-8", "replace")):
        return False
    try:
        with open(containment.open_file(root, os.fsdecode(path)), "rb") as file:  # noqa: PTH123
            now = file.read(SIZE_MAX)
        others = managed_block.outside(now)
        before = git.ask(root, "show", f"HEAD:./{os.fsdecode(path)}", "--") or b""
        return others != now and others.strip() == managed_block.outside(before).strip()
    except (OSError, TriseekError):
        return False
