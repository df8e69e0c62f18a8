"""What a tool does, by its name and its input: the tools that several agents have in common."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from triseek.harness.patches import patched
from triseek.harness.payloads import fields
from triseek.harness.shell_reads import ShellUse, shell_use, without_numbers
from triseek.model.hook_event import FileRead, ToolUse

if TYPE_CHECKING:
    from triseek.harness.payloads.fields import Fields

_PATHS = ("file_path", "filePath", "path", "absolute_path", "target_file", "notebook_path")
_MCP_READS = frozenset(("read", "read_file", "view", "view_file", "get_file", "open_file"))
_MCP_WRITES = frozenset(
    ("write", "write_file", "edit", "edit_file", "create_file", "replace", "replace_file")
)
_OURS = re.compile(r"(?:^|_)triseek_+(\w+)$")
_QUERIES = ("query", "pattern", "regex", "content_query", "path_query", "goal", "glob_pattern")
_PATCH = re.compile(r"\A\s*apply_?patch\b|\*\*\* Begin Patch")
_NUMBER = re.compile(r"^[ \t]*\d+(?:\t|→|: |\| ?|$)", re.MULTILINE)
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh"))


class Read(NamedTuple):
    """A read by a tool made for it."""

    path: str
    first: int = 1
    last: int | None = None


def native_read(name: str, read: Read, *, whole: bool = True) -> ToolUse:
    """A tool that shows lines of a file. whole: whether nothing else is shown or done."""
    if not read.path or (read.last is not None and read.last < read.first):
        return ToolUse(name=name)
    return ToolUse(
        name=name,
        reads=(FileRead(path=read.path, first=read.first, last=read.last),),
        only_reads=whole,
    )


def counted(given: Fields, cwd: str, *, usual: int | None = None, most: int | None = None) -> Read:
    """Path, offset (from 1) and limit.

    usual: how many lines are shown if no limit is told; None: all.
    most: how many lines are shown at most.
    """
    first = max(1, fields.line(given, "offset") or 1)
    told = fields.line(given, "limit")
    limit = usual if told is None else told
    if most is not None and limit is not None:
        limit = min(limit, most)
    path = fields.path(given, cwd, *_PATHS)
    return Read(path, first, None if limit is None else first + limit - 1)


def between(given: Fields, cwd: str) -> Read:
    """Path, first and last line."""
    first = max(1, fields.line(given, "start_line", "startLine") or 1)
    return Read(fields.path(given, cwd, *_PATHS), first, fields.line(given, "end_line", "endLine"))


def edit(name: str, given: Fields, cwd: str) -> ToolUse:
    """A tool that writes the files its input names."""
    path = fields.path(given, cwd, *_PATHS)
    return ToolUse(name=name, edits=(path,) if path else (), edits_unknown=not path)


def patch(name: str, text: str, cwd: str) -> ToolUse:
    """A tool that takes a patch."""
    edits = tuple(path for each in patched(text) if (path := fields.absolute(each, cwd)))
    return ToolUse(name=name, edits=edits, edits_unknown=not edits)


def search(name: str, given: Fields) -> ToolUse:
    """A tool that looks for something and changes nothing."""
    return ToolUse(name=name, search=fields.text(given, *_QUERIES))


def shell(
    name: str, command: object, cwd: str, *, stays: bool = False, over: bool = False
) -> ToolUse:
    """A tool that runs a command: one text for a shell, or a list of words.

    stays: whether later commands run where a `cd` has led to, so that the `cd` is not nothing.
    over: whether the command has run, and `cwd` is the folder after it.
    """
    text = script(command)
    whole = " ".join(text) if isinstance(text, list) else text or ""
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
    )


def of_file(use: ToolUse, command: object, output: str | None) -> str | None:
    """A command's output, without the numbers it has put before a file's lines."""
    text = script(command) if use.reads and output is not None else None
    if output is None or text is None or not shell_use(text, "/").numbered:
        return output
    return without_numbers(output)


def unnumbered(output: str) -> str:
    """A read tool's output without the number before each line, as `cat -n` writes it."""
    return _NUMBER.sub("", output)


def numbered(output: str, first: int, mark: str) -> str:
    """The lines that stand after their numbers, as long as these go on from `first`."""
    found: list[str] = []
    for number, line in enumerate(output.split("\n"), first):
        before, told, text = line.partition(mark)
        if not told or before.strip() != str(number):
            break
        found.append(text)
    return "\n".join(found)


def mcp(name: str, given: Fields, cwd: str) -> ToolUse:
    """A tool of an MCP server, known by the last part of its name."""
    ours = _OURS.search(name)
    verb = _verb(name)
    if ours is not None:
        return search(name, given)
    if verb in _MCP_READS:
        read = Read(fields.path(given, cwd, *_PATHS))
        # What other words of its input mean, and where a path counts from, only its server knows.
        known = len(given) == 1 and os.path.isabs(fields.text(given, *_PATHS))  # noqa: PTH117
        return native_read(name, read, whole=known)
    if verb in _MCP_WRITES:
        return edit(name, given, cwd)
    return ToolUse(name=name, edits_unknown=True)


def _verb(name: str) -> str:
    """What a server calls its tool: after two underscores, or one where agents write one."""
    if "__" in name:
        return name.rpartition("__")[2]
    known = (each for each in _MCP_READS | _MCP_WRITES if name.endswith(f"_{each}"))
    return max(known, key=len, default="")


def is_mcp(name: str) -> bool:
    """Whether a tool is an MCP server's, or ours under an agent's own way to name those."""
    return name.startswith("mcp_") or _OURS.search(name) is not None


def is_ours(name: str) -> bool:
    """Whether a tool is one of triseek's, however the agent writes its name."""
    return _OURS.search(name) is not None


def script(command: object) -> str | list[str] | None:
    """What a shell is told to run, or the words of a program run without one; None for neither."""
    if isinstance(command, str):
        return command
    if not isinstance(command, list) or not all(isinstance(each, str) for each in command):
        return None
    if len(command) == 3 and command[0].rpartition("/")[2] in _SHELLS:
        return str(command[2]) if command[1] in ("-c", "-lc", "-cl") else None
    return command
