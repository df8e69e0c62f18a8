"""Describes tool uses by name and input, for the tools that several agents have in common."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.agents.payloads import fields
from triseek.agents.shell.shell_reads import ShellUse, shell_use, without_numbers
from triseek.model.hook_event import CommandRun, FileRead, ToolUse

if TYPE_CHECKING:
    from triseek.agents.payloads.fields import Fields

_PATHS = ("file_path", "filePath", "path", "absolute_path", "target_file", "notebook_path")
_MCP_READS = frozenset(("read", "read_file", "view", "view_file", "get_file", "open_file"))
_MCP_WRITES = frozenset(
    ("write", "write_file", "edit", "edit_file", "create_file", "replace", "replace_file")
)
_OURS = re.compile(r"(?:^|_)triseek_+(\w+)$")
_QUERIES = ("query", "pattern", "regex", "content_query", "path_query", "goal", "glob_pattern")
_PATCH = re.compile(r"\A\s*apply_?patch\b|\*\*\* Begin Patch")
_CODEX_PATCH = re.compile(
    r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$", re.MULTILINE
)
_UNIFIED_PATCH = re.compile(r"^(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+?)\s*$", re.MULTILINE)
_PATCHED_MAX = 1000
_NUMBER = re.compile(r"^[ \t]*\d+(?:\t|→|: |\| ?|$)", re.MULTILINE)
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh"))


def native_read(name: str, read: FileRead, *, whole: bool = True) -> ToolUse:
    """Return the use of a tool that shows lines of a file. whole: whether it does nothing else."""
    if not read.path or (read.last is not None and read.last < read.first):
        return ToolUse(name=name)
    return ToolUse(name=name, reads=(read,), only_reads=whole)


def counted(
    tool_input: Fields, cwd: str, *, usual: int | None = None, most: int | None = None
) -> FileRead:
    """Read path, offset (from 1) and limit from a tool's input.

    usual: the number of lines shown if the input has no limit; None: all.
    most: the most lines that are shown.
    """
    first = max(1, tool_input.line("offset") or 1)
    requested = tool_input.line("limit")
    limit = usual if requested is None else requested
    if most is not None and limit is not None:
        limit = min(limit, most)
    last = None if limit is None else first + limit - 1
    return FileRead(path=tool_input.path(cwd, *_PATHS), first=first, last=last)


def between(tool_input: Fields, cwd: str) -> FileRead:
    """Read path, first and last line from a tool's input."""
    first = max(1, tool_input.line("start_line", "startLine") or 1)
    last = tool_input.line("end_line", "endLine")
    return FileRead(path=tool_input.path(cwd, *_PATHS), first=first, last=last)


def edit(name: str, tool_input: Fields, cwd: str) -> ToolUse:
    """Return the use of a tool that writes the file its input names."""
    path = tool_input.path(cwd, *_PATHS)
    return ToolUse(name=name, edits=(path,) if path else (), edits_unknown=not path)


def patch(name: str, text: str, cwd: str) -> ToolUse:
    """Return the use of a tool that applies a patch."""
    edits = tuple(path for file in _patched(text) if (path := fields.absolute(file, cwd)))
    return ToolUse(name=name, edits=edits, edits_unknown=not edits)


def _patched(patch: str) -> tuple[str, ...]:
    """Return the paths a patch names, as written there, in order and without duplicates."""
    form = _CODEX_PATCH if "*** Begin Patch" in patch else _UNIFIED_PATCH
    paths = dict.fromkeys(match[1] for match in form.finditer(patch))
    paths.pop("/dev/null", None)
    return tuple(paths)[:_PATCHED_MAX]


def search(name: str, tool_input: Fields) -> ToolUse:
    """Return the use of a tool that searches and changes nothing."""
    return ToolUse(name=name, search=tool_input.text(*_QUERIES))


def shell(
    name: str, command: object, cwd: str, *, stays: bool = False, over: bool = False
) -> ToolUse:
    """Return the use of a tool that runs a command: a text for a shell, or a list of words.

    stays: whether later commands run in the folder of a `cd`, so that the `cd` has an effect.
    over: whether the command has run, and `cwd` is the folder after it.
    """
    text = script(command)
    whole = " ".join(text) if isinstance(text, list) else text or ""
    run = CommandRun(text=whole, cwd=cwd) if whole else None
    if _PATCH.search(whole):
        return replace(patch(name, whole, cwd), edits_unknown=True)
    use = shell_use(text, cwd, moved=stays and over) if text else ShellUse(may_write=True)
    return ToolUse(
        name=name,
        reads=use.reads,
        only_reads=use.only_reads and not (stays and use.goes),
        edits=use.edits,
        edits_unknown=use.may_write,
        search=use.search,
        command=run,
    )


def of_file(use: ToolUse, command: object, output: str | None) -> str | None:
    """Return a command's output without the numbers that it put before a file's lines."""
    text = script(command) if use.reads and output is not None else None
    if output is None or text is None or not shell_use(text, "/").numbered:
        return output
    return without_numbers(output)


def unnumbered(output: str) -> str:
    """Return a read tool's output without the number before each line, as `cat -n` writes it."""
    return _NUMBER.sub("", output)


def numbered(output: str, first: int, mark: str) -> str:
    """Return the lines without their numbers, as long as these count up from `first`."""
    lines: list[str] = []
    for number, line in enumerate(output.split("\n"), first):
        before, separator, text = line.partition(mark)
        if not separator or before.strip() != str(number):
            break
        lines.append(text)
    return "\n".join(lines)


def mcp(name: str, tool_input: Fields, cwd: str) -> ToolUse:
    """Return the use of an MCP server's tool, recognized by the last part of its name."""
    verb = _verb(name)
    if is_ours(name):
        return search(name, tool_input)
    if verb in _MCP_READS:
        read = FileRead(path=tool_input.path(cwd, *_PATHS))
        # Only the server knows its other input fields, and the base folder of a relative path.
        whole = len(tool_input) == 1 and os.path.isabs(tool_input.text(*_PATHS))  # noqa: PTH117
        return native_read(name, read, whole=whole)
    if verb in _MCP_WRITES:
        return edit(name, tool_input, cwd)
    return ToolUse(name=name, edits_unknown=True)


def _verb(name: str) -> str:
    """Return a server's own name of a tool: after two underscores, or a known verb after one."""
    if "__" in name:
        return name.rpartition("__")[2]
    verbs = (verb for verb in _MCP_READS | _MCP_WRITES if name.endswith(f"_{verb}"))
    return max(verbs, key=len, default="")


def is_mcp(name: str) -> bool:
    """Whether a tool is an MCP server's, or ours in an agent's own form of such names."""
    return name.startswith("mcp_") or is_ours(name)


def is_ours(name: str) -> bool:
    """Whether a tool is one of triseek's, in any agent's form of the name."""
    return _OURS.search(name) is not None


def script(command: object) -> str | list[str] | None:
    """Return a shell's script, or the words of a program run without a shell; None for neither."""
    if isinstance(command, str):
        return command
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        return None
    if len(command) == 3 and command[0].rpartition("/")[2] in _SHELLS:
        return str(command[2]) if command[1] in ("-c", "-lc", "-cl") else None
    return command
