"""The TypeScript that tells triseek what OpenCode and Pi do: one file each, that stands alone.

A file is made of `templates/telling.ts`, which starts `triseek hook`, and the agent's own part.
"""

from __future__ import annotations

import json
from importlib.resources import files

from triseek import __version__
from triseek.harness.slash_command import MARKER

_COMMON = "telling.ts"


def plugin(harness: str, program: str) -> str:
    """The whole text of a plugin.

    harness: opencode or pi. program: what starts triseek, absolute.
    """
    folder = files("triseek.harness").joinpath("templates")
    parts = [folder.joinpath(name).read_text("utf-8") for name in (_COMMON, f"{harness}.ts")]
    text = "\n".join([_head(harness), *parts])
    for name, value in (("PROGRAM", program), ("HARNESS", harness)):
        text = text.replace(f'"@{name}@"', json.dumps(value))
    return text


def _head(harness: str) -> str:
    return (
        f"// {MARKER}_PLUGIN: harness={harness} version={__version__}\n"
        f"// Written by `triseek install {harness}`, removed by `triseek uninstall {harness}`:\n"
        "// changes to it are lost.\n"
    )
