"""Markdown of texts from outside, which may hold backticks, line ends and control characters."""

from __future__ import annotations

import re

from triseek.model.plain_text import visible

_TICKS = re.compile(r"`+")


def code(text: str) -> str:
    """Return a text as a code span of one line."""
    line = " ".join(visible(text).splitlines())
    ticks = "`" * (1 + _longest(line, 0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def fenced(text: str, language: str = "text") -> list[str]:
    """Return a text as the lines of a fenced block; the fence is longer than any in the text."""
    fence = "`" * max(3, 1 + _longest(text, 2))
    return [f"{fence}{language}", *visible(text).split("\n"), fence]


def _longest(text: str, least: int) -> int:
    """Return the length of the longest row of backticks, at least `least`."""
    return max((len(ticks) for ticks in _TICKS.findall(text)), default=least)
