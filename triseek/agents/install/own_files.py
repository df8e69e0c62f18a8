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
    return f"""\
The person typed: `{arguments}`

Do exactly one of these.

**`handoff <target>`** (target: claude, codex, opencode, pi, cursor, cline or gemini): hand this
work over.
1. Run `triseek handoff <target> --from {harness}` in the project's folder. It keeps a snapshot,
   writes a briefing, and puts the work into the file that the target reads when it starts. Where
   you can run no commands, call the tool `session_handoff` of the MCP server `triseek` with
   `source_harness` set to `{harness}`.
2. If no session is open, run `triseek session open` with the goal of this work in a sentence, or
   call the tool `session_open`, and do step 1 again.
3. Show what it printed, and end with exactly the line to paste into the target:
   `/triseek resume <snapshot_id>`, for codex `$triseek resume <snapshot_id>`.

**`resume <snapshot_id>`**: go on with work that was handed over.
1. Run `triseek resume <snapshot_id> --for {harness}` in the project's folder: the file that you
   read when you start then has the work, too. Show what it printed.
2. Call the tool `session_resume` of the MCP server `triseek` with `snapshot_id`. Where there is
   none, run `triseek resume <snapshot_id> --print`.
3. Read the whole payload, then sum up its goal, what is ruled out, its files and the next step.
   Files that it calls stale have changed: read them again before you rely on them.
4. Wait for the person to say "continue" before you edit anything.

With other words, or none, show these two forms and stop.
"""


def claude_command(harness: str) -> str:
    """Return a command file: front matter, marker, prompt."""
    return (
        "---\n"
        "description: Hand work over to another agent, or resume work handed over, with triseek\n"
        "argument-hint: handoff <codex|claude|opencode|pi|cursor|cline|gemini> | "
        "resume <snapshot_id>\n"
        "---\n\n"
        f"{managed(harness)}\n\n{prompt(harness)}"
    )


def managed(harness: str) -> str:
    """Return the marker as a Markdown comment."""
    return f"<!-- {MARKER}_COMMAND: source_harness={harness.replace('-', '_')} -->"


def plain_command(harness: str) -> str:
    """Return a command file without front matter; what the person typed follows the prompt."""
    return f"{managed(harness)}\n\n{prompt(harness, '(see the end of this message)')}"


def skill(harness: str) -> str:
    """Return a skill's file; it is for the person to request, not for the agent to choose."""
    return (
        "---\n"
        "name: triseek\n"
        "description: Use only when the person types $triseek, to hand work over to another agent "
        "or to resume work handed over.\n"
        "---\n\n"
        f"{managed(harness)}\n\n{prompt(harness, '$triseek …')}"
    )


_COMMON = "telling.ts"


def plugin(harness: str, program: str) -> str:
    """Return the whole text of a plugin.

    harness: opencode or pi. program: the absolute path of triseek.
    """
    folder = files("triseek.agents.install").joinpath("templates")
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
