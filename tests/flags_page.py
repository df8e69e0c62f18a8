"""The page of the flags of `triseek search`, made from the table of flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.cli.flags import FLAGS, SECTIONS
from triseek.cli.search_help import spelled

if TYPE_CHECKING:
    from triseek.cli.flags import Flag


def reference() -> str:
    """Return the flag table as Markdown, for docs/reference/cli.md."""
    parts = []
    for title, flags in SECTIONS.items():
        rows = [
            f"| {_markdown_name(flag)} | {_cell(flag.help)}{_undo(flag)} |\n"
            for flag in flags
            if not flag.refusal
        ]
        parts.append(f"### {title}\n\n| Flag | Meaning |\n|---|---|\n{''.join(rows)}")
    refused = [
        f"| {_markdown_name(flag)} | {_cell(flag.refusal)} |\n" for flag in FLAGS if flag.refusal
    ]
    head = "| Flag | What to do instead |\n|---|---|\n"
    parts.append(f"### ripgrep's flags that triseek does not have\n\n{head}{''.join(refused)}")
    return "\n".join(parts)


def _markdown_name(flag: Flag) -> str:
    return f"`{_cell(spelled(flag).strip())}`"


def _undo(flag: Flag) -> str:
    return f" Undo: `--{flag.negation}`." if flag.negation else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
