"""What changed in a file, if that is short enough to be worth more than reading it again."""

from __future__ import annotations

import re
from collections import Counter
from difflib import unified_diff

LINES_MAX = 200
BYTES_MAX = 8 * 1024
_WORK_MAX = 30_000
"""Pairs of equal lines: what it may take to compare two texts once, some hundredths of a second."""
_AROUND = 3
_HUNK = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


def between(old: bytes, new: bytes, name: str) -> str | None:
    """A unified diff; None if it is too long, too costly, or shows nothing.

    Args:
        old: Text.
        new: Text.
        name: Stands in the diff's head.
    """
    before, after = _lines(old), _lines(new)
    # Only what lies between the first change and the last is compared.
    start = max(0, _same(before, after) - _AROUND)
    before, after = before[start:], after[start:]
    end = max(0, _same(before[::-1], after[::-1]) - _AROUND)
    before, after = before[: len(before) - end], after[: len(after) - end]
    if _work(before, after) > _WORK_MAX:
        return None
    label = "".join(char if char.isprintable() else "?" for char in name)
    made: list[str] = []
    size = 0
    for line in unified_diff(before, after, f"a/{label}", f"b/{label}", lineterm="", n=_AROUND):
        made.append(_moved(line, start) if line.startswith("@@") else line)
        size += len(line.encode("utf-8", "surrogatepass")) + 1
        if len(made) > LINES_MAX or size > BYTES_MAX:
            return None
    return "\n".join(made) + "\n" if made else None


def _lines(data: bytes) -> list[str]:
    lines = data.decode("utf-8", "replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    else:
        lines[-1] += "\n\\ No newline at end of file"
    return lines


def _work(before: list[str], after: list[str]) -> int:
    often = Counter(after)
    return sum(often[line] for line in before)


def _moved(line: str, by: int) -> str:
    """A hunk's head, its lines counted from the beginning of the file."""
    head = _HUNK.match(line)
    if head is None:
        return line
    old, old_count, new, new_count = head.groups(default="")
    return f"@@ -{int(old) + by}{old_count} +{int(new) + by}{new_count} @@{line[head.end() :]}"


def _same(some: list[str], others: list[str]) -> int:
    same = 0
    for one, other in zip(some, others, strict=False):
        if one != other:
            break
        same += 1
    return same
