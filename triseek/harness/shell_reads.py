"""What a shell command shows, searches or may write, as far as its words tell."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from triseek.harness.line_filters import Filter, Lines, line_filter, then
from triseek.harness.shell_words import Redirect, Step, Word, steps
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
"""Commands that write no files but where they are redirected to."""
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
"""Options of grep and rg that take the next word with them. -E and -r are grep's without one."""
_GREP_BARE = frozenset(("-E", "-r"))


class ShellUse(NamedTuple):
    """What a shell command does."""

    reads: tuple[FileRead, ...] = ()
    only_reads: bool = False
    numbered: bool = False
    """Whether numbers stand before all the lines it shows."""
    edits: tuple[str, ...] = ()
    may_write: bool = False
    search: str = ""
    goes: bool = False
    """Whether it ends in another folder than it began in, or that is not known."""


_UNKNOWN = ShellUse(may_write=True, goes=True)


def shell_use(command: str | list[str], cwd: str, *, moved: bool = False) -> ShellUse:
    """What a command does in a folder.

    command: for a shell, or the words of one program.
    moved: whether `cwd` is where the shell was afterwards, and not where it began.
    """
    if isinstance(command, str):
        told = steps(command)
    else:
        told = (Step("", tuple(command), ()),) if command else None
    if told is None:
        return _UNKNOWN
    found = [_Pipeline(each) for each in _pipelines(told)]
    return _together(found, _begun(cwd, found) if moved else cwd)


def without_numbers(output: str) -> str:
    """What `nl` and `cat -n` have numbered, as it stands in the file."""
    return _NUMBERED.sub("", output)


def _pipelines(told: tuple[Step, ...]) -> list[list[Step]]:
    found: list[list[Step]] = []
    for step in told:
        if step.joiner == "|":
            found[-1].append(step)
        else:
            found.append([step])
    return found


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
        found = pipeline.reads(folder)
        only = only and found is not None and pipeline.joiner != "||"
        if found is not None and pipeline.joiner != "||":
            reads += found
            numbered.add(pipeline.numbered)
        if pipeline.loses_folder():
            folder = None
    return ShellUse(
        reads=tuple(reads),
        only_reads=only and bool(reads),
        numbered=numbered == {True},
        edits=tuple(edits),
        may_write=any(each.may_write() for each in pipelines),
        goes=folder != cwd,
        search=next((text for each in pipelines if (text := each.search())), ""),
    )


def _begun(ended: str, pipelines: list[_Pipeline]) -> str:
    """Where a shell began that is somewhere now; a folder it left by `..` has no name."""
    moves = [move for each in pipelines if (move := each.moves()) is not None]
    if not moves or "" in moves or any(map(os.path.isabs, moves)):
        return ended
    parts = os.path.normpath("/".join(moves)).split("/")
    up = parts.count("..")
    down = "".join(f"/{part}" for part in parts[up:] if part != ".")
    if not ended.endswith(down):
        return ended
    return (ended.removesuffix(down) or "/") + "/-" * up


def _moved(folder: str | None, to: str) -> str | None:
    """Where `cd` goes: a shell takes `..` from the name, not from where a link leads."""
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
        """The folder that a `cd` goes to, "" if it is not known; None if it is no `cd`."""
        step = self.parts[0]
        if len(self.parts) > 1 or not step.words or step.words[0] != "cd":
            return None
        words = [word for word in step.words[1:] if word != "--"]
        to = words[0] if len(words) == 1 else None
        return (
            ""
            if to is None or to.startswith("-") or not all(map(_is_harmless, step.redirects))
            else to
        )

    def is_silent(self) -> bool:
        """Whether it shows nothing but words that the agent wrote itself."""
        step = self.parts[0]
        if len(self.parts) > 1 or step.redirects or None in step.words:
            return False
        name, *rest = step.words
        plain = name in ("true", ":") or name == "echo"
        return plain or (name == "printf" and len(rest) == 1 and not str(rest[0]).startswith("-"))

    def loses_folder(self) -> bool:
        """Whether commands after it may run elsewhere."""
        name = self.parts[0].words[:1]
        return len(self.parts) == 1 and (name in ((), (None,)) or name[0] in _MOVES)

    def reads(self, folder: str | None) -> list[FileRead] | None:
        """What it shows; None if it does anything else, or it cannot be told."""
        filters: list[Filter] = []
        for number, step in enumerate(self.parts):
            found = _filter(step)
            if found is None or bool(found.files) != (number == 0):
                return None
            filters.append(found)
        self.numbered = any(each.numbers for each in filters)
        if sum(each.numbers for each in filters) > 1:
            return None
        source, parts = filters[0], filters[0].parts
        if len(filters) > 1 and len(source.files) != 1:
            return None
        for each in filters[1:]:
            follows = then(parts, each.parts)
            if follows is None:
                return None
            parts = follows
        return _of_files(source.files, parts, folder)

    def written(self) -> list[str]:
        """Where its output goes instead of to the agent."""
        return [
            each.target
            for step in self.parts
            for each in step.redirects
            if each.target is not None and not _is_harmless(each) and not _is_nowhere(each.target)
        ]

    def may_write(self) -> bool:
        """Whether a file may be other afterwards that `written` does not name."""
        if any(each.target is None for step in self.parts for each in step.redirects):
            return True
        return self.moves() is None and not all(_is_quiet(step.words) for step in self.parts)

    def search(self) -> str:
        """What its first command looks for."""
        words = self.parts[0].words
        if words[:2] == ("git", "grep"):
            words = words[1:]
        if not words or words[0] not in _GREPS:
            return ""
        return _pattern(words)


def _filter(step: Step) -> Filter | None:
    known = tuple(word for word in step.words if word is not None)
    if not known or len(known) != len(step.words) or not all(map(_is_harmless, step.redirects)):
        return None
    return line_filter(known)


def _is_harmless(redirect: Redirect) -> bool:
    """Whether all of a command's proper output still goes where it went."""
    return redirect.stream == "2" and redirect.target in ("/dev/null", "&1")


def _is_nowhere(target: str) -> bool:
    """Whether a redirection's target is no file."""
    return target in ("/dev/null", "/dev/stdout", "/dev/stderr") or target.startswith("&")


def _of_files(
    files: tuple[str, ...], parts: tuple[Lines, ...], folder: str | None
) -> list[FileRead] | None:
    found: list[FileRead] = []
    for name in files:
        paths = _joined(folder, [name])
        if not name or not paths:
            return None
        found += [
            FileRead(path=paths[0], first=each.first, last=each.last, tail=each.tail)
            for each in parts
        ]
    return found


def _is_quiet(words: tuple[Word, ...]) -> bool:
    name = words[0] if words else None
    if name == "git":
        return len(words) > 1 and words[1] in _QUIET_GIT
    if name == "find":
        return not any(word is None or word in _FIND_WRITES for word in words)
    if name == "sed":
        known = tuple(word for word in words if word is not None)
        return len(known) == len(words) and line_filter(known) is not None
    if name == "sort":
        return not any(word is None or word.startswith(("-o", "--output")) for word in words)
    return name in _QUIET or name in _GREPS


def _pattern(words: tuple[Word, ...]) -> str:
    """The first word that is neither an option nor an option's value, or what follows `-e`."""
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
