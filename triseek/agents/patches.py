"""Reads changes of files from patches: the format of `apply_patch`, and unified diffs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triseek.agents.payloads.fields import absolute
from triseek.model.conversation import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ADD, _UPDATE, _DELETE = "*** Add File: ", "*** Update File: ", "*** Delete File: "
_MOVE, _MARK = "*** Move to: ", "*** "


def edits_of_patch(patch: str, cwd: str) -> tuple[Edit, ...]:
    """Return the changes in the text of `apply_patch`, one a file; none where no path is known.

    A file that is moved has its new path, and one that is deleted has no text.
    """
    return tuple(_edits(patch.splitlines(), cwd))


def _edits(lines: Iterable[str], cwd: str) -> Iterator[Edit]:
    path = ""
    hunk: list[str] = []
    for line in [*lines, _MARK]:
        if line.startswith(_MOVE):
            path = line.removeprefix(_MOVE)
        elif line.startswith(_MARK):
            if path and (full := _absolute(path, cwd)):
                before, after = sides(hunk)
                yield Edit(path=full, before=before, after=after)
            path, hunk = "", []
            for kind in (_ADD, _UPDATE, _DELETE):
                if line.startswith(kind):
                    path = line.removeprefix(kind)
        else:
            hunk.append(line)


def sides(lines: Iterable[str]) -> tuple[str, str]:
    """Return the removed and the added lines of hunks, each with the context around them."""
    before, after = [], []
    for line in lines:
        if line.startswith(("---", "+++", "@@", "\\")):
            continue
        text = line[1:] + "\n"
        if line[:1] in ("-", " ", ""):
            before.append(text)
        if line[:1] in ("+", " ", ""):
            after.append(text)
    return "".join(before), "".join(after)


def _absolute(path: str, cwd: str) -> str:
    full = absolute(path.strip(), cwd)
    return os.path.normpath(full) if os.path.isabs(full) else ""  # noqa: PTH117
