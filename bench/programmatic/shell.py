"""Searching and reading in a shell, as agents do without triseek."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bench import command
from bench.programmatic import steps
from bench.programmatic.steps import Answer, Step

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.programmatic.tasks import Place, Task

LINES_MAX = 250
"""Lines of output that an agent takes."""
WINDOW = 40
"""Lines that are read at once."""
WINDOWS_MAX = 6
KEYWORDS = "def|class|func|function|fn|struct|enum|trait|type|interface"
SOURCES = ("*.py", "*.go", "*.rs", "*.ts", "*.tsx", "*.js", "!*test*", "!*/test*/**")
"""Globs of code that is no test."""


def defining(name: str) -> str:
    """Return a regular expression for lines that look as if they define a name."""
    return rf"\b({KEYWORDS})\b.{{0,60}}\b{name}\b"


class Shell:
    """A shell in the folder of the repositories."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def answers(self, task: Task) -> list[Answer]:
        """Return what the two policies know: all lines, or little at first."""
        folder = task.repository or "."
        lines = self._rg(f"-n -w {task.name} {folder}")
        all_lines = [lines, *self.reads(task, lines.shown)]
        searches = [self._rg(options.format(task.name, folder)) for options in _NARROW[task.kind]]
        shown = frozenset[tuple[str, int]]().union(*(step.shown for step in searches))
        narrow = [*searches, *self.reads(task, shown)]
        return [Answer("grep", "all lines", all_lines), Answer("grep", "narrow", narrow)]

    def reads(self, task: Task, shown: frozenset[Place]) -> list[Step]:
        """Read the definition of a task to its end, if it is among the lines that are shown."""
        if task.kind != "usages":
            return []
        path, line, end = task.definitions[0]
        if (path, line) not in shown:
            return []
        starts = range(line, min(end + 1, line + WINDOW * WINDOWS_MAX), WINDOW)
        return [self._sed(path, start, start + WINDOW - 1) for start in starts]

    def _rg(self, options: str) -> Step:
        line = f"rg {options} | head -{LINES_MAX}"
        output, seconds = self._run(line)
        return Step("shell", {"command": line}, output, seconds, steps.of_rg(output))

    def _sed(self, path: str, first: int, last: int) -> Step:
        line = f"sed -n {first},{last}p {path}"
        output, seconds = self._run(line)
        shown = {(path, number) for number in range(first, first + output.count("\n"))}
        return Step("shell", {"command": line}, output, seconds, frozenset(shown))

    def _run(self, line: str) -> tuple[str, float]:
        began = time.perf_counter()
        argv: Sequence[str] = ("/bin/sh", "-c", line)
        ended = command.run(argv, cwd=self._root, keep=True)
        return ended.output.decode(errors="replace"), time.perf_counter() - began


_GLOBS = " ".join(f"-g '{glob}'" for glob in SOURCES)
_DEFINING = f"-n '{defining('{0}').replace('{0,60}', '{{0,60}}')}' {{1}}"
_NARROW = {
    "trace": ("-c -w {0} {1}", _DEFINING),
    "usages": (_DEFINING, "-n -w -m 2 {0} {1}"),
    "config": ("-l -w {0} {1}", f"-n -w {_GLOBS} {{0}} {{1}}"),
}
"""Options of rg for each kind of task: what says where, then what is needed of it."""
