"""Writes a case as shell lines that make the tree and run both programs."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING

from tests.fuzz.arena import IN_PROCESS, INDEXED
from tests.fuzz.case import BASE, ROOT

if TYPE_CHECKING:
    from tests.fuzz.arena import Answer
    from tests.fuzz.case import Case, Entry
    from tests.fuzz.compare import Difference

SHOWN_MOST = 600
"""Bytes of an answer that are shown."""


def setup_lines(case: Case, backend: str) -> list[str]:
    """Lines that make the tree in a new folder, build the index and go to the working folder."""
    lines = [
        'base=$(mktemp -d); cd "$base"; mkdir home state',
        'export HOME="$base/home" TRISEEK_HOME="$base/state" TRISEEK_NO_DAEMON=1',
    ]
    folders = {os.path.dirname(entry.path) for entry in (*case.tree.entries, *case.tree.edits)}
    folders |= {entry.path for entry in case.tree.entries if entry.kind == "folder"}
    folders |= {case.cwd, ROOT}
    inner = [
        each for each in folders if each and not any(o.startswith(each + b"/") for o in folders)
    ]
    lines.append("mkdir -p " + " ".join(quoted(folder) for folder in sorted(inner)))
    lines += [_made(entry) for entry in case.tree.entries if entry.kind != "folder"]
    if backend in INDEXED or case.tree.edits:
        lines.append(f"triseek build {quoted(ROOT)} >/dev/null 2>&1")
    lines += [_made(entry) for entry in case.tree.edits]
    if backend in ("daemon", "client"):
        lines.append("triseek daemon start >/dev/null; unset TRISEEK_NO_DAEMON")
    lines.append(f"cd {quoted(case.cwd)}")
    return lines


def search_lines(case: Case, backend: str) -> tuple[str, str]:
    """The commands of ripgrep and triseek."""
    words = " ".join(_word(word) for word in case.words(BASE))
    before = "" if case.stdin is None else f"{printf(case.stdin)} | "
    after = " </dev/null" if case.stdin is None else ""
    engine = f"--engine={IN_PROCESS[backend]}" if backend in IN_PROCESS else "search"
    return (
        f"{before}rg --no-config --sort=path {words}{after}",
        f"{before}triseek {engine} {words}{after}",
    )


def report(difference: Difference) -> str:
    """The shell lines of a difference, and what both programs say."""
    case, backend = difference.case, difference.backend
    theirs, ours = search_lines(case, backend)
    lines = [
        *setup_lines(case, backend),
        theirs,
        *_said(difference.theirs),
        ours,
        *_said(difference.ours),
    ]
    return "\n".join(lines)


def _said(answer: Answer) -> list[str]:
    lines = [f"# exit status {answer.status}"]
    out = answer.out[:SHOWN_MOST]
    lines += [f"#   {_visible(line)}" for line in out.splitlines(keepends=True)]
    if len(answer.out) > SHOWN_MOST:
        lines.append(f"#   … {len(answer.out)} bytes")
    lines += [f"#   stderr: {_visible(line)}" for line in answer.err[:300].splitlines()]
    return lines


def _visible(line: bytes) -> str:
    text = line.decode(errors="backslashreplace")
    end = "" if text.endswith("\n") else "(no line end)" if text else ""
    text = text.removesuffix("\n")
    return (
        "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text) + end
    )


def _made(entry: Entry) -> str:
    if entry.kind == "link":
        return f"ln -s {quoted(entry.data)} {quoted(entry.path)}"
    if entry.kind == "removed":
        return f"rm {quoted(entry.path)}"
    return f"{printf(entry.data)} > {quoted(entry.path)}"


def printf(data: bytes) -> str:
    """A command that writes bytes, with octal escapes; long repetitions as a loop."""
    if len(data) > 2000:
        return _long(data)
    return f"printf {_format(data)}" if data else "printf ''"


def _format(data: bytes) -> str:
    pieces = []
    for byte in data:
        char = chr(byte)
        if char == "\n":
            pieces.append(r"\n")
        elif char == "%":
            pieces.append("%%")
        elif char == "\\":
            pieces.append(r"\\")
        elif 32 <= byte < 127 and char != "'":
            pieces.append(char)
        else:
            pieces.append(f"\\{byte:03o}")
    # printf takes what begins with a dash for an option.
    text = "".join(pieces)
    return f"'\\055{text[1:]}'" if text.startswith("-") else f"'{text}'"


def _long(data: bytes) -> str:
    """Runs of a repeated piece are written by a loop."""
    pieces, at = [], 0
    for match in re.finditer(rb"(?s)([^\n]{0,60}\n|.)\1{200,}", data):
        if match.start() > at:
            pieces.append(f"printf {_format(data[at : match.start()])}")
        piece = match[1]
        count = len(match[0]) // len(piece)
        pieces.append(f"printf {_format(piece)}'%.0s' $(seq {count})")
        at = match.end()
    if at < len(data):
        pieces.append(f"printf {_format(data[at:])}")
    return "{ " + "; ".join(pieces) + "; }"


def quoted(text: bytes) -> str:
    """Any bytes but NUL as one word of the shell."""
    if text.isascii() and text.decode().isprintable():
        return shlex.quote(text.decode())
    try:
        if text.decode().isprintable():
            return shlex.quote(text.decode())
    except UnicodeDecodeError:
        pass
    if b"\n" in text and text.isascii():
        return shlex.quote(text.decode())
    return f'"$({printf(text)})"'


def _word(word: str) -> str:
    head, base, tail = word.partition(BASE)
    if not base:
        return quoted(os.fsencode(word))
    return "".join((_or_nothing(head), '"$base"', _or_nothing(tail)))


def _or_nothing(text: str) -> str:
    return quoted(os.fsencode(text)) if text else ""
