"""The table of the wings: their folders, their toolsets, and their verbs on the command line.

Light to import: the command line asks it which first words are verbs before anything else.
"""

from __future__ import annotations

WINGS = {
    "search": ("search", (
        "search", "find-files", "build", "update", "reindex", "index-status", "measure", "check",
        "warmup", "context-pack", "frecency-select",
    )),
    "memo": ("memo", ("memo",)),
    "sessions": ("session", ("session", "snapshot", "pack", "resume", "handoff", "replay")),
    "history": ("history", ("history",)),
    "history.work": ("history-work", ()),
}  # fmt: skip
"""One line per wing: the package below `triseek` that has its `wing.py`, the toolset by which its
tools are selected, and its verbs. In the order in which the tools are listed."""
TOOLSETS = tuple(toolset for toolset, _ in WINGS.values())
VERBS = tuple(verb for _, verbs in WINGS.values() for verb in verbs)
COMMANDS = {f"triseek.{folder}.commands": verbs for folder, (_, verbs) in WINGS.items() if verbs}
"""By module: the verbs that its `register(app)` adds to the command line, which alone loads it."""
DEFAULT = "default"
"""Stands for the toolsets that agents are offered by default."""


def unknown_toolsets(text: str) -> list[str]:
    """Return the names in `text`, separated by commas or spaces, that are no toolset."""
    names = set(text.replace(",", " ").split())
    return sorted(names - {*TOOLSETS, DEFAULT})
