"""Compares two answers, and says of which kind a difference is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.fuzz.arena import Answer
    from tests.fuzz.case import Case

BUG = 70
"""Exit status of a triseek that failed by its own mistake."""


class Difference(NamedTuple):
    """What differs between triseek and ripgrep in one case on one backend."""

    case: Case
    backend: str
    ours: Answer
    theirs: Answer
    aspects: tuple[str, ...]
    """Of bug, status, stdout, stderr: those that differ."""


def compared(case: Case, backend: str, ours: Answer, theirs: Answer) -> Difference | None:
    """The difference between two answers, None if there is none that counts."""
    aspects = []
    if ours.status == BUG:
        aspects.append("bug")
    if ours.status != theirs.status:
        aspects.append("status")
    if masked(case, ours.out) != masked(case, theirs.out):
        aspects.append("stdout")
    if bool(without_notes(ours.err)) != bool(theirs.err):
        aspects.append("stderr")
    return Difference(case, backend, ours, theirs, tuple(aspects)) if aspects else None


def masked(case: Case, out: bytes) -> bytes:
    """Standard output without what depends on the run or the backend (heading "Statistics")."""
    if case.has("--json"):
        out = re.sub(rb'"elapsed(_total)?":\{[^}]*\}', b'"elapsed":{}', out)
        if any(flag[0].startswith("-m") for flag in case.flags):
            out = re.sub(rb'"bytes_searched":\d+', b"", out)
        head, end, last = out.rstrip(b"\n").rpartition(b"\n")
        out = head + end + re.sub(rb'"(searches|bytes_searched)":\d+', b"", last)
    if case.has("--stats"):
        return re.sub(rb"\d+ (files searched|bytes searched)|[\d.]+ (seconds.*)", rb"\1\2", out)
    return out


def without_notes(err: bytes) -> bytes:
    """Standard error without triseek's notes, which are no complaints."""
    lines = err.splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(b"triseek: note: "))
