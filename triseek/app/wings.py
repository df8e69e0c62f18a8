"""The table of the wings: their folders, their toolsets, and their verbs on the command line.

Light to import: the command line asks it which first words are verbs before anything else.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

WINGS = {
    "search": ("search", (
        "search", "find-files", "build", "update", "reindex", "index-status", "measure", "check",
        "warmup", "context-pack", "frecency-select", "roots", "symbols",
    )),
    "memo": ("memo", ("memo",)),
    "sessions": ("session", ("session", "snapshot", "pack", "resume", "handoff", "replay")),
    "history": ("history", ("history",)),
    "history.work": ("history-work", ()),
    "memory": ("memory", ("memory",)),
    "workflows": ("workflows", ("workflow", "workflows")),
}  # fmt: skip
"""One line per wing: the package below `triseek` that has its `wing.py`, the toolset by which its
tools are selected, and its verbs. In the order in which the tools are listed."""
TOOLLESS = {"cluster": ("cluster",)}
"""Wings that have no tools, and so no `wing.py`: their verbs."""
TOOLSETS = tuple(toolset for toolset, _ in WINGS.values())
_OF_WINGS = {**{folder: verbs for folder, (_, verbs) in WINGS.items()}, **TOOLLESS}
VERBS = tuple(verb for verbs in _OF_WINGS.values() for verb in verbs)
COMMANDS = {f"triseek.{folder}.commands": verbs for folder, verbs in _OF_WINGS.items() if verbs}
"""By module: the verbs that its `register(app)` adds to the command line, which alone loads it."""
QUICK: dict[str, tuple[str, tuple[str, ...] | None]] = {
    "roots": ("triseek.search.commands.roots", None),
    "symbols": ("triseek.search.commands.symbols", None),
    "history": ("triseek.history.commands.quick", (
        "search", "show", "timeline", "resume", "stats", "fix", "how", "blame", "friction",
    )),
    "memory": ("triseek.memory.commands.quick", (
        "remember", "recall", "list", "show", "update", "forget", "restore", "palaces", "identity",
        "kg", "stats",
    )),
    "workflow": ("triseek.app.workflow_runs", ("list", "show", "run")),
    "cluster": ("triseek.cluster.commands.searching", ("status", "list", "search")),
}  # fmt: skip
"""By verb: the module whose `perform(words, context)` runs it without Typer, in the daemon if one
runs, and returns None for what it leaves to Typer; and the second words for which it does, None
for all."""
DEFAULT = "default"
"""Stands for the toolsets that agents are offered by default."""


def is_quick(words: Sequence[str]) -> bool:
    """Return whether a wing runs the command without Typer, in the daemon if there is one."""
    if not words or words[0] not in QUICK:
        return False
    seconds = QUICK[words[0]][1]
    return seconds is None or (len(words) > 1 and words[1] in seconds)


def unknown_toolsets(text: str) -> list[str]:
    """Return the names in `text`, separated by commas or spaces, that are no toolset."""
    names = set(text.replace(",", " ").split())
    return sorted(names - {*TOOLSETS, DEFAULT})
