"""Makes a case that differs smaller, as long as it goes on to differ in the same way."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from tests.fuzz.case import ROOT, Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.fuzz.case import Case, Entry
    from tests.fuzz.compare import Difference

T = TypeVar("T")


def shrunk(
    difference: Difference, check: Callable[[Case], Difference | None], seconds: float = 20.0
) -> Difference:
    """The smallest difference of the same kind that is found within `seconds`.

    Args:
        difference: what to begin with.
        check: runs a case on the same backend; returns its difference, None if it has none.
        seconds: a bound on the time spent.
    """
    return _Shrinker(difference, check, seconds).run()


class _Shrinker:
    def __init__(
        self,
        difference: Difference,
        check: Callable[[Case], Difference | None],
        seconds: float,
    ) -> None:
        self.best = difference
        self.check = check
        self.until = time.monotonic() + seconds
        self.tried = {difference.case}

    def run(self) -> Difference:
        passes = (
            _fewer_words, _fewer_edits, _fewer_entries, _no_stdin, _less_content, _shorter_patterns,
            _shorter_values, _plain_content, _at_the_root,
        )  # fmt: skip
        self._first_success(_mentioned_files(self.best))
        improved = True
        while improved and time.monotonic() < self.until:
            improved = False
            for each in passes:
                while self._first_success(each(self.best.case)):
                    improved = True
        return self.best

    def _first_success(self, candidates: Iterator[Case]) -> bool:
        """Take the first smaller case that still differs as the best one."""
        for case in candidates:
            if time.monotonic() > self.until:
                return False
            if case in self.tried:
                continue
            self.tried.add(case)
            found = self.check(case)
            if found is not None and self._same_kind(found):
                self.best = found
                return True
        return False

    def _same_kind(self, found: Difference) -> bool:
        first = self.best
        if found.aspects[0] != first.aspects[0]:
            return False
        if found.aspects[0] != "status":
            return True
        return (found.ours.status, found.theirs.status) == (first.ours.status, first.theirs.status)


def _parts(items: Sequence[T]) -> Iterator[tuple[T, ...]]:
    """The items without some of them: without large runs first."""
    size = len(items)
    while size:
        for start in range(0, len(items), size):
            yield (*items[:start], *items[start + size :])
        size //= 2


def _mentioned_files(difference: Difference) -> Iterator[Case]:
    """Only the files named in lines that differ; then with all ignore rules."""
    ours, theirs = (set(answer.out.split(b"\n")) for answer in (difference.ours, difference.theirs))
    differing = b"\n".join(ours ^ theirs)
    tree = difference.case.tree
    for rules in (b"", b"ignore", b"/."):
        entries = tuple(
            entry
            for entry in tree.entries
            if entry.kind == "folder"
            or entry.path.removeprefix(ROOT + b"/") in differing
            or (rules and rules in entry.path)
        )
        yield replace(difference.case, tree=Tree(entries))


def _fewer_entries(case: Case) -> Iterator[Case]:
    for entries in _parts(case.tree.entries):
        present = {entry.path for entry in entries}
        edits = tuple(e for e in case.tree.edits if e.kind != "removed" or e.path in present)
        folders = {entry.path for entry in entries if entry.kind == "folder"}
        if case.cwd not in folders or b"up/root" not in folders:
            continue
        yield replace(case, tree=replace(case.tree, entries=entries, edits=edits))


def _fewer_edits(case: Case) -> Iterator[Case]:
    """No edits, or some edits made part of the tree."""
    if not case.tree.edits:
        return
    merged: dict[bytes, Entry] = {entry.path: entry for entry in case.tree.entries}
    for edit in case.tree.edits:
        merged[edit.path] = edit
    entries = tuple(entry for entry in merged.values() if entry.kind != "removed")
    yield replace(case, tree=replace(case.tree, entries=entries, edits=()))
    for edits in _parts(case.tree.edits):
        yield replace(case, tree=replace(case.tree, edits=edits))


def _fewer_words(case: Case) -> Iterator[Case]:
    for flags in _parts(case.flags):
        yield replace(case, flags=flags)
    for operands in _parts(case.operands):
        yield replace(case, operands=operands)
    for patterns in _parts(case.patterns):
        if patterns:
            yield replace(case, patterns=patterns)


def _no_stdin(case: Case) -> Iterator[Case]:
    if case.stdin is not None:
        yield replace(case, stdin=None)
        for data in _shorter_bytes(case.stdin):
            yield replace(case, stdin=data)


def _less_content(case: Case) -> Iterator[Case]:
    for field in ("entries", "edits"):
        entries = getattr(case.tree, field)
        for number, entry in enumerate(entries):
            if entry.kind != "file":
                continue
            for data in _shorter_bytes(entry.data):
                changed = (*entries[:number], entry._replace(data=data), *entries[number + 1 :])
                yield replace(case, tree=replace(case.tree, **{field: changed}))


def _shorter_bytes(data: bytes) -> Iterator[bytes]:
    """The bytes with fewer lines, then with fewer bytes."""
    if not data:
        return
    yield b""
    yield b"a\n"
    lines = data.splitlines(keepends=True)
    if len(lines) > 1:
        yield from (
            b"".join(part)
            for part in _parts(lines)
            if len(lines) <= 200 or len(part) <= len(lines) * 15 // 16
        )
    size = min(len(data), 1 << (len(data).bit_length() - 1))
    while size and size >= len(data) // 64:
        for start in range(0, len(data), size):
            yield data[:start] + data[start + size :]
        size //= 2


def _plain_content(case: Case) -> Iterator[Case]:
    """Bytes replaced by the letter a, in files that are small by now."""
    for number, entry in enumerate(case.tree.entries):
        if entry.kind != "file" or len(entry.data) > 60:
            continue
        for at, byte in enumerate(entry.data):
            if byte in b"a\n\0":
                continue
            data = entry.data[:at] + b"a" + entry.data[at + 1 :]
            entries = case.tree.entries
            changed = (*entries[:number], entry._replace(data=data), *entries[number + 1 :])
            yield replace(case, tree=replace(case.tree, entries=changed))


def _shorter_patterns(case: Case) -> Iterator[Case]:
    for number, pattern in enumerate(case.patterns):
        for shorter in _shorter_text(pattern):
            changed = (*case.patterns[:number], shorter, *case.patterns[number + 1 :])
            yield replace(case, patterns=changed)


def _shorter_values(case: Case) -> Iterator[Case]:
    for number, flag in enumerate(case.flags):
        head, sign, value = flag[0].partition("=")
        for shorter in _shorter_text(value) if sign and len(flag) == 1 else ():
            changed = (*case.flags[:number], (f"{head}={shorter}",), *case.flags[number + 1 :])
            yield replace(case, flags=changed)
        if len(flag) == 1 and flag[0][:2] in ("-g", "-r") and len(flag[0]) > 3:
            for shorter in _shorter_text(flag[0][2:]):
                if shorter and not shorter.startswith("="):
                    changed = (
                        *case.flags[:number],
                        (flag[0][:2] + shorter,),
                        *case.flags[number + 1 :],
                    )
                    yield replace(case, flags=changed)


def _shorter_text(text: str) -> Iterator[str]:
    if not text.isascii() or len(text) > 1:
        yield "a"
    for part in _parts(text):
        yield "".join(part)


def _at_the_root(case: Case) -> Iterator[Case]:
    """The same search from the indexed root, with operands as they are seen from there."""
    if case.cwd == b"up/root":
        return
    yield replace(case, cwd=b"up/root")
    moved = tuple(
        each
        if each.startswith(("{base}", "-")) or not each
        else os.fsdecode(
            os.path.relpath(os.path.join(b"/", case.cwd, os.fsencode(each)), b"/up/root")
        )
        for each in case.operands
    )
    yield replace(case, cwd=b"up/root", operands=moved)
