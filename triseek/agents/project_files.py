"""The file that an agent reads when it starts in a project, and our block in it.

Which file each program reads (from their packages and pages, November 2026):

- Claude Code 2.1.330: CLAUDE.md; AGENTS.md only in a project that has no CLAUDE.md.
- Codex 0.169.0: in each folder from the repository's root down, AGENTS.override.md, else AGENTS.md,
  else the first of `project_doc_fallback_filenames` of its configuration; 32 KiB of them together
  (developers.openai.com/codex/guides/agents-md).
- OpenCode 1.18.33: only the first of AGENTS.md, CLAUDE.md and CONTEXT.md that exists.
- Pi 1.5.2: the first of AGENTS.override.md, AGENTS.md and CLAUDE.md in each folder.
- Cursor: AGENTS.md, in addition to .cursor/rules (cursor.com/docs/context/rules).
- Cline 3.0.65: .clinerules, a file, or a folder whose Markdown files it reads
  (docs.cline.bot/customization/cline-rules).
- Gemini CLI 0.61.0: GEMINI.md, or the names in `context.fileName` of its settings.

A project comes from others: a link in it may lead anywhere, so links are followed only within it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from triseek.agents import cline, registry
from triseek.agents.base import Refused
from triseek.agents.install import managed_block, writing
from triseek.errors import ConfigWriteFailed, InvalidRequest

SIZE_MAX = 4 << 20
"""Bytes. Agents read only a small part of a file this large."""
CODEX_READS = 32 << 10
"""Bytes that Codex reads of a project's files, unless its configuration says otherwise."""

_OF_CLAUDE = (Path(".claude", "CLAUDE.md"), Path("CLAUDE.local.md"))
"""Files besides CLAUDE.md with which Claude Code does not read AGENTS.md either."""


class WrittenFile(NamedTuple):
    """The result of writing our block into a file."""

    changed: bool
    caution: str
    """A sentence on what may keep an agent from reading the block; "" if nothing does."""


def reader(path: str) -> str:
    """Return the agent that a file is primarily for, by its name; "" if it is for none."""
    name = Path(path).name
    if name == cline.RULES or Path(path).parent.name == cline.RULES:
        return cline.Cline.handoff_name
    stem = name.partition(".")[0] if name.lower().endswith(".md") else ""
    names = (agent.handoff_name for agent in registry.AGENTS if stem and agent.own_file == stem)
    return next(names, "")


def put(path: str, root: str, block: str) -> WrittenFile:
    """Put our block into a file, in place of an older one; all other bytes stay.

    Args:
        path: The file, which need not exist.
        root: The project's folder, without links. A path below it must not lead out of it.
        block: The text between our marks.

    Raises:
        ConfigWriteFailed: The file cannot be edited; it is unchanged.
    """
    try:
        return _put(os.path.abspath(path), root, block)  # noqa: PTH100 - keeps links
    except (Refused, InvalidRequest) as error:
        raise ConfigWriteFailed(
            f"{path}: {error}; the file is as it was",
            next_step=getattr(error, "next_step", "")
            or "Name another file with --write-to, or paste what --print prints.",
        ) from None


def _put(path: str, root: str, block: str) -> WrittenFile:
    target = writing.target_of(path)
    _stays(path, target, root)
    folder = Path(target).parent
    if not folder.is_dir() and folder != Path(root, cline.RULES):
        raise Refused(f"the folder {folder} is not there")
    before = writing.read(target, SIZE_MAX)
    content = before or b""
    after = managed_block.put(content, _imports(Path(target), root, content) + block)
    change = writing.FileChange(target, before, after)
    if before != after:
        writing.check(change)
        writing.make(change)
    return WrittenFile(before != after, _caution(target, len(after)))


def _stays(path: str, target: str, root: str) -> None:
    """Check that a path below the project's folder is a file of the project, and not git's.

    Raises:
        Refused: its links lead out of the project, or it is in `.git`.
    """
    inside = any(os.path.realpath(above) == root for above in Path(path).parents)
    if not inside:
        return  # the person's own choice
    below = os.path.relpath(target, root)
    if below.partition(os.sep)[0] == os.pardir:
        raise Refused(f"it is a link that leads out of the project, to {target}")
    if ".git" in Path(below).parts:
        raise Refused("it is a file of git's own")


def _imports(target: Path, root: str, content: bytes) -> str:
    """Return an import of AGENTS.md if a CLAUDE.md with only our block would hide it; else ""."""
    agents = Path(root, "AGENTS.md")
    if target != Path(root, "CLAUDE.md") or managed_block.outside(content).strip():
        return ""
    if not agents.is_file() or os.path.realpath(agents) == str(target):
        return ""
    return "" if any(Path(root, name).exists() for name in _OF_CLAUDE) else "@AGENTS.md\n\n"


def _caution(target: str, size: int) -> str:
    if reader(target) != "codex" or size <= CODEX_READS:
        return ""
    name = Path(target).name
    return (
        f"{name} has {size:,} bytes, and Codex reads {CODEX_READS:,} unless its "
        "project_doc_max_bytes says more"
    )
