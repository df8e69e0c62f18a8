"""What an engine answered, reduced to what can be compared; and the comparison.

Lines are compared per file, by a digest over their numbers and one over numbers and text, so an
answer of a million lines stays small. Engines print files in any order, but a file's lines
together and in order.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from bench.model import Mode

_LINE = re.compile(rb"(.*?):(\d+):(.*)", re.DOTALL)
_BINARY = re.compile(
    rb"(?:Binary file )?(.*?):? (?:binary file matches|matches|WARNING: stopped searching binary)"
)
_SHOWN = 3
_LOST_MAX = 0.05

Rule: TypeAlias = Literal["exact", "own"]


class FileAnswer(NamedTuple):
    """One file's part of an answer."""

    found: int
    numbers: bytes
    """Digest of the line numbers."""
    text: bytes
    """Digest of numbers and text."""


@dataclass(slots=True)
class Answer:
    """A whole answer."""

    files: dict[bytes, FileAnswer] = field(default_factory=dict)
    binary: set[bytes] = field(default_factory=set)
    """Files of which only "binary file matches" was said."""

    @property
    def lines(self) -> int:
        """Matching lines in all."""
        return sum(file.found for file in self.files.values())

    @property
    def digest(self) -> str:
        """One short word for all of it, the same in whatever order it came."""
        state = hashlib.blake2b(digest_size=8)
        for path in sorted(self.files):
            state.update(path + b"\0" + self.files[path].text)
        return state.hexdigest()


class Verdict(NamedTuple):
    """How an answer compares with the reference."""

    status: Literal["equal", "explained", "differs"]
    note: str


def read(output: bytes, mode: Mode, *, below: bytes = b"") -> Answer:
    """Parse `path:number:text`, `path:count` or `path` lines; `below` is cut from paths."""
    if mode == "lines":
        return _read_lines(output, below)
    answer = Answer()
    for line in output.splitlines():
        path, count = (line, b"0") if mode == "paths" else line.rsplit(b":", 1)
        if mode == "paths" or int(count):
            answer.files[_relative(path, below)] = FileAnswer(int(count), b"", count.strip())
    return answer


def _read_lines(output: bytes, below: bytes) -> Answer:
    answer = Answer()
    found: dict[bytes, _Tally] = {}
    for line in output.split(b"\n"):
        if not line:
            continue
        path, number, text = _parts(line)
        if path is None:
            _note(answer, line, below)
            continue
        tally = found.get(path)
        if tally is None:
            tally = found[path] = _Tally()
        tally.add(number, text)
    answer.files = {_relative(path, below): tally.done() for path, tally in found.items()}
    return answer


def _parts(line: bytes) -> tuple[bytes | None, bytes, bytes]:
    parts = line.split(b":", 2)
    if len(parts) == 3 and parts[1].isdigit():
        return parts[0], parts[1], parts[2]
    found = _LINE.fullmatch(line)
    return (found[1], found[2], found[3]) if found else (None, b"", b"")


def _note(answer: Answer, line: bytes, below: bytes) -> None:
    found = _BINARY.match(line)
    if found is None:
        raise Faulty(f"an output line that is no match: {line[:120]!r}")
    answer.binary.add(_relative(found.group(1), below))


class _Tally:
    def __init__(self) -> None:
        self.count = 0
        self.numbers = hashlib.blake2b(digest_size=8)
        self.text = hashlib.blake2b(digest_size=8)

    def add(self, number: bytes, text: bytes) -> None:
        self.count += 1
        self.numbers.update(number + b"\n")
        self.text.update(number + b":" + text.removesuffix(b"\r") + b"\n")

    def done(self) -> FileAnswer:
        return FileAnswer(self.count, self.numbers.digest(), self.text.digest())


def _relative(path: bytes, below: bytes) -> bytes:
    return (
        path.removeprefix(below).removeprefix(b"./").lstrip(b"/")
        if below
        else (path.removeprefix(b"./"))
    )


def compare(reference: Answer, answer: Answer, rule: Rule, listed: AbstractSet[bytes]) -> Verdict:
    """Hold an answer against ripgrep's.

    `exact`: the same files, numbers and text. `own`: the engine has file rules of its own, so
    files that ripgrep does not list are left out, and whole files may be missing (at most 5 %);
    what it says of a file both know must be the same lines.
    """
    doubtful = reference.binary | answer.binary
    ours = {path: file for path, file in answer.files.items() if path not in doubtful}
    theirs = {path: file for path, file in reference.files.items() if path not in doubtful}
    if rule == "exact":
        return _exact(theirs, ours)
    return _own(theirs, {path: file for path, file in ours.items() if path in listed}, len(ours))


def _exact(theirs: dict[bytes, FileAnswer], ours: dict[bytes, FileAnswer]) -> Verdict:
    if theirs == ours:
        return Verdict("equal", "")
    wrong = [path for path in theirs.keys() & ours.keys() if theirs[path] != ours[path]]
    missing, extra = theirs.keys() - ours.keys(), ours.keys() - theirs.keys()
    return Verdict(
        "differs",
        f"files missing {_some(missing)}, extra {_some(extra)}, with other lines {_some(wrong)}",
    )


def _own(
    theirs: dict[bytes, FileAnswer], ours: dict[bytes, FileAnswer], unfiltered: int
) -> Verdict:
    wrong = [
        path
        for path, file in ours.items()
        if path not in theirs or _core(theirs[path]) != _core(file)
    ]
    missing = theirs.keys() - ours.keys()
    extra = unfiltered - len(ours)
    if wrong:
        return Verdict("differs", f"files with other lines {_some(wrong)}")
    if len(missing) > max(3, _LOST_MAX * len(theirs)):
        return Verdict("differs", f"files missing {_some(missing)} of {len(theirs)}")
    if missing or extra:
        return Verdict(
            "explained", f"{len(missing)} files skipped and {extra} added by its own file rules"
        )
    return Verdict("equal", "")


def _core(file: FileAnswer) -> tuple[int, bytes]:
    return file.found, file.numbers


def _some(paths: Iterable[bytes]) -> str:
    names = sorted(paths)
    shown = ", ".join(name.decode(errors="replace") for name in names[:_SHOWN])
    return f"{len(names)} ({shown})" if names else "0"
