"""A folder of a repository as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def drawn(paths: Iterable[str], folder: str, depth: int) -> str:
    """Return paths as a tree: a line for each file and folder, indented by two blanks a level.

    Args:
        paths: Of files.
        folder: The folder that is listed; its paths begin with it.
        depth: Levels of folders below it that are opened.
    """
    prefix = f"{folder}/" if folder else ""
    lines: dict[str, str] = {}
    for path in sorted(paths):
        if not path.startswith(prefix):
            continue
        parts = [part for part in path[len(prefix) :].split("/") if part]
        for level in range(min(len(parts), depth + 1)):
            is_file = level == len(parts) - 1
            label = parts[level] if is_file else f"{parts[level]}/"
            lines.setdefault("/".join(parts[: level + 1]), "  " * level + label)
    return "\n".join(lines.values())
