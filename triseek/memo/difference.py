"""A diff of a file, if it is short enough to be worth more than reading the file again."""

from __future__ import annotations

import re
from collections import Counter
from difflib import unified_diff

LINES_MAX = 200
BYTES_MAX = 8 * 1024
_WORK_MAX = 30_000
"""Pairs of equal lines, the cost of comparing two texts once: some hundredths of a second."""
_AROUND = 3
_HUNK = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


def between(old: bytes, new: bytes, name: str) -> str | None:
    """Return a unified diff; None if it is too long, too costly, or empty.

    Args:
        old: The text before.
        new: The text after.
        name: The file's name, for the diff's header.
    """
    before, after = _lines(old), _lines(new)
    # Only the lines between the first change and the last are compared.
    start = max(0, common_start(before, after) - _AROUND)
    before, after = before[start:], after[start:]
    end = max(0, common_start(before[::-1], after[::-1]) - _AROUND)
    before, after = before[: len(before) - end], after[: len(after) - end]
    if _work(before, after) > _WORK_MAX:
        return None
    label = "".join(char if char.isprintable() else "?" for char in name)
    diff: list[str] = []
    size = 0
    for line in unified_diff(before, after, f"a/{label}", f"b/{label}", lineterm="", n=_AROUND):
        diff.append(_moved(line, start) if line.startswith("@@") else line)
        size += len(line.encode("utf-8", "surrogatepass")) + 1
        if len(diff) > LINES_MAX or size > BYTES_MAX:
            return None
    return "\n".join(diff) + "\n" if diff else None


def _lines(data: bytes) -> list[str]:
    lines = data.decode("utf-8", "replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    else:
        lines[-1] += "\n\\ No newline at end of file"
    return lines


def _work(before: list[str], after: list[str]) -> int:
    counts = Counter(after)
    return sum(counts[line] for line in before)


def _moved(line: str, by: int) -> str:
    """Return a hunk's header with its lines counted from the beginning of the file."""
    head = _HUNK.match(line)
    if head is None:
        return line
    old, old_count, new, new_count = head.groups(default="")
    return f"@@ -{int(old) + by}{old_count} +{int(new) + by}{new_count} @@{line[head.end() :]}"


def common_start(some: list[str], others: list[str]) -> int:
    """Return the number of lines at the beginning that two texts have in common."""
    if some == others:
        return len(some)
    pairs = enumerate(zip(some, others, strict=False))
    shorter = min(len(some), len(others))
    return next((number for number, (one, other) in pairs if one != other), shorter)
