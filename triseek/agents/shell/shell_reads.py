"""Determines from its words what a shell command shows, searches or may write."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from triseek.agents.shell.line_filters import Filter, line_filter, then
from triseek.agents.shell.shell_words import Redirect, Step, Word, steps
from triseek.model.hook_event import FileRead

_NUMBERED = re.compile(r"^[ \t]*\d+(?:\t|$)|^[ \t]+$", re.MULTILINE)
_GREPS = frozenset(("rg", "grep", "egrep", "fgrep", "ag", "ack", "ugrep"))
_QUIET = frozenset(
    (
        "cat", "head", "tail", "nl", "ls", "pwd", "echo", "printf", "wc", "stat", "file",
        "which", "type", "true", "false", ":", "test", "[", "date", "uname", "whoami", "id",
        "hostname", "basename", "dirname", "realpath", "readlink", "du", "df", "ps", "cut",
        "tr", "diff", "cmp", "comm", "column", "jq", "md5sum", "sha1sum", "sha256sum", "od",
        "more", "bat", "batcat", "sleep",
    )
)  # fmt: skip
"""Commands that write no files except by redirection."""
_QUIET_GIT = frozenset(
    (
        "status", "log", "diff", "show", "blame", "ls-files", "ls-tree", "rev-parse",
        "grep", "describe", "shortlog", "cat-file",
    )
)  # fmt: skip
_FIND_WRITES = ("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls")
_MOVES = frozenset(("pushd", "popd", "eval", "source", ".", "builtin", "command", "exec"))
"""Commands after which the working folder is not known."""
_VALUED = frozenset(
    (
        "-A", "-B", "-C", "-m", "-g", "-t", "-T", "-f", "-j", "-d", "-D", "--glob",
        "--iglob", "--type", "--type-not", "--max-count", "--include", "--exclude",
        "--exclude-dir", "--context", "--after-context", "--before-context", "--max-depth",
        "--file", "--sort", "--sortr", "--color", "--colour", "--threads", "--encoding",
        "-E", "-M", "--max-columns", "-r", "--replace",
    )
)  # fmt: skip
"""Options of grep and rg whose value is the next word; grep's -E and -r take no value."""
_GREP_BARE = frozenset(("-E", "-r"))


class ShellUse(NamedTuple):
    """What a shell command does."""

    reads: tuple[FileRead, ...] = ()
    only_reads: bool = False
    numbered: bool = False
    """Whether all lines that it shows are numbered."""
    edits: tuple[str, ...] = ()
    may_write: bool = False
    search: str = ""
    goes: bool = False
    """Whether it ends in another folder than it began in, or that is unknown."""


_UNKNOWN = ShellUse(may_write=True, goes=True)


def shell_use(command: str | list[str], cwd: str, *, moved: bool = False) -> ShellUse:
    """Return what a command does in a folder.

    command: a text for a shell, or the words of one program.
    moved: whether `cwd` is the shell's folder after the command, not before it.
    """
    if isinstance(command, str):
        parsed = steps(command)
    else:
        parsed = (Step("", tuple(command), ()),) if command else None
    if parsed is None:
        return _UNKNOWN
    pipelines = [_Pipeline(parts) for parts in _pipelines(parsed)]
    return _together(pipelines, _begun(cwd, pipelines) if moved else cwd)


def without_numbers(output: str) -> str:
    """Remove the line numbers that `nl` and `cat -n` print."""
    return _NUMBERED.sub("", output)


def _pipelines(parsed: tuple[Step, ...]) -> list[list[Step]]:
    pipelines: list[list[Step]] = []
    for step in parsed:
        if step.joiner != "|":
            pipelines.append([])
        pipelines[-1].append(step)
    return pipelines


def _together(pipelines: list[_Pipeline], cwd: str) -> ShellUse:
    folder: str | None = cwd
    reads: list[FileRead] = []
    edits: list[str] = []
    numbered: set[bool] = set()
    only = True
    for pipeline in pipelines:
        edits += _joined(folder, pipeline.written())
        move = pipeline.moves()
        if move is not None:
            folder = _moved(folder, move)
            continue
        if pipeline.is_silent():
            continue
        shown = pipeline.reads(folder) if pipeline.joiner != "||" else None
        only = only and shown is not None
        if shown is not None:
            reads += shown
            numbered.add(pipeline.numbered)
        if pipeline.loses_folder():
            folder = None
    return ShellUse(
        reads=tuple(reads),
        only_reads=only and bool(reads),
        numbered=numbered == {True},
        edits=tuple(edits),
        may_write=any(pipeline.may_write() for pipeline in pipelines),
        goes=folder != cwd,
        search=next((text for pipeline in pipelines if (text := pipeline.search())), ""),
    )


def _begun(ended: str, pipelines: list[_Pipeline]) -> str:
    """Return the folder a shell began in, from where it ended; `-` for each folder left by `..`."""
    moves = [move for pipeline in pipelines if (move := pipeline.moves()) is not None]
    if not moves or "" in moves or any(map(os.path.isabs, moves)):
        return ended
    parts = os.path.normpath("/".join(moves)).split("/")
    up = parts.count("..")
    down = "".join(f"/{part}" for part in parts[up:] if part != ".")
    if not ended.endswith(down):
        return ended
    return (ended.removesuffix(down) or "/") + "/-" * up


def _moved(folder: str | None, to: str) -> str | None:
    """Return the folder `cd` goes to: shells resolve `..` by name, without following links."""
    if not to or (folder is None and not os.path.isabs(to)):  # noqa: PTH117
        return None
    return os.path.normpath(os.path.join(folder or "/", to))  # noqa: PTH118


def _joined(folder: str | None, names: list[str]) -> list[str]:
    return [
        os.path.join(folder or "/", name)  # noqa: PTH118
        for name in names
        if folder is not None or os.path.isabs(name)  # noqa: PTH117
    ]


class _Pipeline:
    """Commands joined by `|`."""

    def __init__(self, parts: list[Step]) -> None:
        self.parts = parts
        self.joiner = parts[0].joiner
        self.numbered = False

    def moves(self) -> str | None:
        """Return the folder that a `cd` goes to, "" if unknown; None if it is not a `cd`."""
        step = self.parts[0]
        if len(self.parts) > 1 or step.words[:1] != ("cd",):
            return None
        words = [word or "-" for word in step.words[1:] if word != "--"]
        if len(words) != 1 or words[0].startswith("-"):
            return ""
        return words[0] if all(map(_is_harmless, step.redirects)) else ""

    def is_silent(self) -> bool:
        """Whether it prints nothing but words from the command itself."""
        step = self.parts[0]
        if len(self.parts) > 1 or step.redirects or None in step.words:
            return False
        name, *rest = step.words
        if name == "printf":
            return len(rest) == 1 and not str(rest[0]).startswith("-")
        return name in ("true", ":", "echo")

    def loses_folder(self) -> bool:
        """Whether commands after it may run in another folder."""
        name = next(iter(self.parts[0].words), None)
        return len(self.parts) == 1 and (name is None or name in _MOVES)

    def reads(self, folder: str | None) -> list[FileRead] | None:
        """Return the lines it shows; None if it does anything else, or is not understood."""
        source, *others = (_filter(step) for step in self.parts)
        if source is None or not source.files or (others and len(source.files) > 1):
            return None
        parts, self.numbered = source.parts, source.numbers
        for later in others:
            follows = then(parts, later.parts) if later and not later.files else None
            if later is None or follows is None or (self.numbered and later.numbers):
                return None
            parts, self.numbered = follows, self.numbered or later.numbers
        paths = _joined(folder, [name for name in source.files if name])
        if len(paths) < len(source.files):
            return None
        return [FileRead(path=path, **lines._asdict()) for path in paths for lines in parts]

    def written(self) -> list[str]:
        """Return the files that its output is redirected to."""
        return [
            redirect.target
            for step in self.parts
            for redirect in step.redirects
            if redirect.target is not None
            and not _is_harmless(redirect)
            and not _is_nowhere(redirect.target)
        ]

    def may_write(self) -> bool:
        """Whether it may change a file that `written` does not name."""
        if any(redirect.target is None for step in self.parts for redirect in step.redirects):
            return True
        return self.moves() is None and not all(_is_quiet(step.words) for step in self.parts)

    def search(self) -> str:
        """Return the pattern that its first command searches for."""
        words = self.parts[0].words
        if words[:2] == ("git", "grep"):
            words = words[1:]
        return _pattern(words) if words and words[0] in _GREPS else ""


def _filter(step: Step) -> Filter | None:
    return _filter_of(step.words) if all(map(_is_harmless, step.redirects)) else None


def _filter_of(words: tuple[Word, ...]) -> Filter | None:
    plain = tuple(word for word in words if word is not None)
    return line_filter(plain) if plain and len(plain) == len(words) else None


def _is_harmless(redirect: Redirect) -> bool:
    """Whether all standard output still goes where it would without the redirection."""
    return redirect.stream == "2" and redirect.target in ("/dev/null", "&1")


def _is_nowhere(target: str) -> bool:
    """Whether a redirection's target is not a file."""
    return target in ("/dev/null", "/dev/stdout", "/dev/stderr") or target.startswith("&")


def _is_quiet(words: tuple[Word, ...]) -> bool:
    name = words[0] if words else None
    if name == "git":
        return len(words) > 1 and words[1] in _QUIET_GIT
    if name == "find":
        return not any(word is None or word in _FIND_WRITES for word in words)
    if name == "sed":
        return _filter_of(words) is not None
    if name == "sort":
        return not any(word is None or word.startswith(("-o", "--output")) for word in words)
    return name in _QUIET or name in _GREPS


def _pattern(words: tuple[Word, ...]) -> str:
    """Return the first word that is not an option or its value, or the word after `-e`."""
    valued = _VALUED if words[0] == "rg" else _VALUED - _GREP_BARE
    rest = list(words[1:])
    while rest:
        word = rest.pop(0)
        if word in ("-e", "--regexp", "--"):
            return (rest[0] if rest else "") or ""
        if word in valued:
            del rest[:1]
        elif word is None or not word.startswith("-"):
            return word or ""
    return ""
