"""What lines an answer's text shows, so that it is compared with rg's before it is counted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bench.model import Faulty

if TYPE_CHECKING:
    from bench.tokens.questions import Question

_LINE = re.compile(r"(\d+(?:,\d+)*):")
_MORE = re.compile(r" \(\d+ of [\d,]+\)$")
_COUNTS = re.compile(r"^([\d,]+) match(?:es)? in [\d,]+ files?$", re.MULTILINE)


def shown(text: str) -> set[tuple[str, int]]:
    """Return the paths and numbers of the lines that a digest shows."""
    lines: set[tuple[str, int]] = set()
    path = ""
    for line in text.splitlines():
        numbers = _LINE.match(line)
        if numbers:
            lines.update((path, int(number)) for number in numbers[1].split(","))
        else:
            path = _MORE.sub("", line)
    return lines


def printed(output: str) -> set[tuple[str, int]]:
    """Return the paths and numbers of the lines that `rg -n` printed."""
    found = (line.split(":", 2) for line in output.splitlines())
    return {(path, int(number)) for path, number, _ in found}


def compare(question: Question, text: str, *, whole: bool) -> None:
    """Check an answer against rg's.

    Args:
        question: The question, and what rg printed.
        text: What the model saw.
        whole: Whether the answer has to show each line of rg's; else it has to count them.

    Raises:
        Faulty: it lacks a line, or counts fewer.
    """
    missing = printed(question.rg) - shown(text)
    if whole and missing:
        raise Faulty(f"{question.name}: the answer lacks {sorted(missing)[:3]}: {text[:300]}")
    counts = _COUNTS.search(text)
    if counts is None or int(counts[1].replace(",", "")) < question.lines:
        raise Faulty(f"{question.name}: rg has {question.lines} lines, the answer: {text[:200]}")
