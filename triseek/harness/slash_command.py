"""Whole files of our own, and the slash command among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triseek.harness.base import Refused

if TYPE_CHECKING:
    from triseek.harness.base import Traces

MARKER = "TRISEEK_MANAGED"
"""Stands in every file of ours, in a comment; a file without it is somebody else's."""


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that is ours as a whole; its text holds the marker."""

    path: str
    text: str

    def stands(self, text: str | None) -> bool:
        """Whether the file says exactly this."""
        return text == self.text

    def apply(self, text: str | None, traces: Traces) -> str:  # noqa: ARG002 - nothing to remember
        """Our text, in place of none or of an older one of ours."""
        if text is not None and MARKER not in text:
            raise Refused("a file of that name is there and is not ours; move it away")
        return self.text

    def remove(self, text: str | None, traces: Traces) -> str | None:  # noqa: ARG002 - see above
        """None, unless the file is somebody else's by now."""
        return None if text is None or MARKER in text else text

    def record(self) -> dict[str, Any]:
        """The edit as JSON."""
        return {"kind": "file", "path": self.path, "text": self.text}


def prompt(harness: str, arguments: str = "$ARGUMENTS") -> str:
    """What an agent is told to do when its slash command is used.

    harness: its name as in `triseek install`. arguments: what stands for what the person typed.
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
    """A command file: front matter, marker, prompt."""
    return (
        "---\n"
        "description: Hand work over to another agent, or resume work handed over, with triseek\n"
        "argument-hint: handoff <codex|claude|opencode|pi|cursor|cline|gemini> | "
        "resume <snapshot_id>\n"
        "---\n\n"
        f"{managed(harness)}\n\n{prompt(harness)}"
    )


def managed(harness: str) -> str:
    """The marker as a comment of Markdown."""
    return f"<!-- {MARKER}_COMMAND: source_harness={harness.replace('-', '_')} -->"


def plain_command(harness: str) -> str:
    """A command file without front matter; what the person typed follows the prompt."""
    return f"{managed(harness)}\n\n{prompt(harness, '(see the end of this message)')}"


def skill(harness: str) -> str:
    """A skill's file; it is for the person to ask for, not for the agent to choose."""
    return (
        "---\n"
        "name: triseek\n"
        "description: Use only when the person types $triseek, to hand work over to another agent "
        "or to resume work handed over.\n"
        "---\n\n"
        f"{managed(harness)}\n\n{prompt(harness, '$triseek …')}"
    )
