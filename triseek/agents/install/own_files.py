"""Files that are ours as a whole: the slash command, and the plugins of OpenCode and Pi.

A plugin is one TypeScript file that reports to triseek what its agent does. It consists of
`templates/telling.ts`, which starts `triseek hook`, and the agent's own part; it needs no other
file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from triseek import __version__
from triseek.agents.base import Edit, Refused

if TYPE_CHECKING:
    from triseek.agents.base import Traces

MARKER = "TRISEEK_MANAGED"
"""A text in a comment of every file of ours; a file without it is not ours."""


@dataclass(frozen=True, slots=True)
class OwnFile(Edit):
    """A file that is ours as a whole; its text contains the marker."""

    kind = "file"
    text: str

    def stands(self, text: str | None) -> bool:
        """Whether the file has exactly this text."""
        return text == self.text

    def apply(self, text: str | None, traces: Traces) -> str:  # noqa: ARG002 - nothing to remember
        """Return our text, in place of no file or of an older one of ours."""
        if text is not None and MARKER not in text:
            raise Refused("a file of that name is there and is not ours; move it away")
        return self.text

    def remove(self, text: str | None, traces: Traces) -> str | None:  # noqa: ARG002 - see above
        """Return None; the text itself if the file is not ours any more."""
        return None if text is None or MARKER in text else text


def prompt(harness: str, arguments: str = "$ARGUMENTS") -> str:
    """Return the agent's instructions for its slash command.

    harness: its name as in `triseek install`. arguments: the placeholder of what the person typed.
    """
    text = _template("prompt.md").replace("@ARGUMENTS@", arguments)
    return text.replace("@HARNESS@", harness)


def claude_command(harness: str) -> str:
    """Return a command file: front matter, marker, prompt."""
    return f"{_template('command.md')}\n{managed(harness)}\n\n{prompt(harness)}"


def managed(harness: str) -> str:
    """Return the marker as a Markdown comment."""
    return f"<!-- {MARKER}_COMMAND: source_harness={harness.replace('-', '_')} -->"


def plain_command(harness: str) -> str:
    """Return a command file without front matter; what the person typed follows the prompt."""
    return f"{managed(harness)}\n\n{prompt(harness, '(see the end of this message)')}"


def skill(harness: str) -> str:
    """Return a skill's file; it is for the person to request, not for the agent to choose."""
    return f"{_template('skill.md')}\n{managed(harness)}\n\n{prompt(harness, '$triseek …')}"


def plugin(harness: str, program: str) -> str:
    """Return the whole text of a plugin.

    harness: opencode or pi. program: the absolute path of triseek.
    """
    text = "\n".join([_head(harness), _template("telling.ts"), _template(f"{harness}.ts")])
    for name, value in (("PROGRAM", program), ("HARNESS", harness)):
        text = text.replace(f'"@{name}@"', json.dumps(value))
    return text


def _head(harness: str) -> str:
    return (
        f"// {MARKER}_PLUGIN: harness={harness} version={__version__}\n"
        f"// Written by `triseek install {harness}`, removed by `triseek uninstall {harness}`:\n"
        "// changes to it are lost.\n"
    )


def _template(name: str) -> str:
    return files("triseek.agents.install").joinpath("templates", name).read_text("utf-8")
