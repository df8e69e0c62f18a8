"""The file that an agent reads when it starts in a project, and our block in it.

Which file that is, as the programs have it (their packages and pages, November 2026):

- Claude Code 2.1.330: CLAUDE.md; AGENTS.md only in a project that has no CLAUDE.md.
- Codex 0.169.0: of each folder from the repository's root down, AGENTS.override.md, else AGENTS.md,
  else the first of `project_doc_fallback_filenames` of its configuration; 32 KiB of them together
  (developers.openai.com/codex/guides/agents-md).
- OpenCode 1.18.33: the first of AGENTS.md, CLAUDE.md and CONTEXT.md that it finds, and no other.
- Pi 1.5.2: the first of AGENTS.override.md, AGENTS.md and CLAUDE.md in each folder.
- Cursor: AGENTS.md, beside .cursor/rules (cursor.com/docs/context/rules).
- Cline 3.0.65: .clinerules, a file, or a folder whose Markdown files it reads
  (docs.cline.bot/customization/cline-rules).
- Gemini CLI 0.61.0: GEMINI.md, or the names in `context.fileName` of its settings.

A project comes from others: a link in it may lead anywhere, so it is followed only within.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import ConfigWriteFailed, InvalidRequest
from triseek.harness import managed_block, writing
from triseek.harness.base import Refused
from triseek.harness.splices import value_at

if TYPE_CHECKING:
    from collections.abc import Mapping

SIZE_MAX = 4 << 20
"""Bytes; agents read a small part of so large a file."""
CODEX_READS = 32 << 10
"""Bytes that Codex reads of a project's files, unless its configuration says otherwise."""

_FIRST_OF: Mapping[str, tuple[str, ...]] = {
    "claude_code": ("CLAUDE.md",),
    "codex": ("AGENTS.override.md", "AGENTS.md"),
    "opencode": ("AGENTS.md", "CLAUDE.md", "CONTEXT.md"),
    "pi": ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"),
    "cursor": ("AGENTS.md",),
}
_RULES, _OUR_RULE = ".clinerules", "triseek.md"
_OF_CLAUDE = (Path(".claude", "CLAUDE.md"), Path("CLAUDE.local.md"))
"""Beside CLAUDE.md: where one of them is, Claude Code reads no AGENTS.md anyway."""


class Written(NamedTuple):
    """What became of a file."""

    changed: bool
    caution: str
    """A sentence on what may keep an agent from reading the block; "" if nothing does."""


def default(harness: str, root: str) -> str:
    """The file an agent reads in a project, there or not; relative to the root.

    Where an agent reads only the first of several names, the one that is there already is chosen:
    a new file of a name that counts more would hide it.
    """
    if harness == "gemini":
        names = _named_by_gemini(root) or ("GEMINI.md",)
    elif harness == "cline":
        rules = Path(root, _RULES)
        return _RULES if rules.is_file() else f"{_RULES}/{_OUR_RULE}"
    else:
        names = _FIRST_OF[harness]
        names += _named_by_codex() if harness == "codex" else ()
    new = "AGENTS.md" if "AGENTS.md" in names else names[0]
    return next((name for name in names if os.path.lexists(Path(root, name))), new)


def reader(path: str) -> str:
    """The agent that a file is first of all for, by its name; "" if it is nobody's."""
    name = Path(path).name
    if name == _RULES or Path(path).parent.name == _RULES:
        return "cline"
    known = {"CLAUDE": "claude_code", "AGENTS": "codex", "GEMINI": "gemini"}
    return known.get(name.partition(".")[0], "") if name.lower().endswith(".md") else ""


def put(path: str, root: str, block: str) -> Written:
    """Put our block into a file, in place of an older one; all other bytes stay.

    Args:
        path: The file, which need not be there.
        root: The project's folder, real. What is given below it has to stay below it.
        block: The text between our marks.

    Raises:
        ConfigWriteFailed: It cannot be done; the file is as it was.
    """
    try:
        return _put(os.path.abspath(path), root, block)  # noqa: PTH100 - keeps links
    except (Refused, InvalidRequest) as error:
        raise ConfigWriteFailed(
            f"{path}: {error}; the file is as it was",
            next_step=getattr(error, "next_step", "")
            or "Name another file with --write-to, or paste what --print prints.",
        ) from None


def _put(path: str, root: str, block: str) -> Written:
    target = writing.target_of(path)
    _stays(path, target, root)
    folder = Path(target).parent
    if not folder.is_dir() and folder != Path(root, _RULES):
        raise Refused(f"the folder {folder} is not there")
    before = writing.read(target, SIZE_MAX)
    held = before or b""
    after = managed_block.put(held, _imports(Path(target), root, held) + block)
    change = writing.Change(target, before, after)
    if before != after:
        writing.check(change)
        writing.make(change)
    return Written(before != after, _caution(target, len(after)))


def _stays(path: str, target: str, root: str) -> None:
    """See to it that what is given as a file of the project is one, and none of git's.

    Raises:
        Refused: its links lead elsewhere.
    """
    inside = any(os.path.realpath(above) == root for above in Path(path).parents)
    if not inside:
        return  # somebody's own choice
    below = os.path.relpath(target, root)
    if below.partition(os.sep)[0] == os.pardir:
        raise Refused(f"it is a link that leads out of the project, to {target}")
    if ".git" in Path(below).parts:
        raise Refused("it is a file of git's own")


def _imports(target: Path, root: str, held: bytes) -> str:
    """Lines that have Claude Code read what a CLAUDE.md with nothing but our block would hide."""
    agents = Path(root, "AGENTS.md")
    if target != Path(root, "CLAUDE.md") or managed_block.outside(held).strip():
        return ""
    if not agents.is_file() or os.path.realpath(agents) == str(target):
        return ""
    return "" if any(Path(root, other).exists() for other in _OF_CLAUDE) else "@AGENTS.md\n\n"


def _caution(target: str, size: int) -> str:
    if reader(target) != "codex" or size <= CODEX_READS:
        return ""
    name = Path(target).name
    return (
        f"{name} has {size:,} bytes, and Codex reads {CODEX_READS:,} unless its "
        "project_doc_max_bytes says more"
    )


def _named_by_gemini(root: str) -> tuple[str, ...]:
    """The names in `context.fileName`, of the project's settings or else the person's."""
    home = os.environ.get("GEMINI_CLI_HOME") or "~"
    for folder in (root, os.path.expanduser(home)):  # noqa: PTH111
        try:
            text = Path(folder, ".gemini", "settings.json").read_text("utf-8")
            named = value_at(text, ("context", "fileName"))
        except (OSError, ValueError, Refused):
            continue
        if names := _plain([named] if isinstance(named, str) else named):
            return names
    return ()


def _named_by_codex() -> tuple[str, ...]:
    """The names in `project_doc_fallback_filenames` of the person's configuration."""
    folder = os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")  # noqa: PTH111
    try:
        settings = tomllib.loads(Path(folder, "config.toml").read_text("utf-8"))
    except (OSError, ValueError):
        return ()
    return _plain(settings.get("project_doc_fallback_filenames"))


def _plain(names: object) -> tuple[str, ...]:
    """Those that name a file in the very folder."""
    listed = names if isinstance(names, list) else []
    return tuple(one for one in listed if isinstance(one, str) and Path(one).name == one)
