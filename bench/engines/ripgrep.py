"""ripgrep: the reference of every answer, and the peer of every ratio."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bench import command
from bench.engines.base import ProcessEngine, first_line
from bench.model import Reply

if TYPE_CHECKING:
    from bench.model import Case


class Ripgrep(ProcessEngine):
    """`rg`, with no config file, printing what is printed to a pipe."""

    def version(self) -> str:
        """As `rg --version` says."""
        return first_line(self.program, "--version")

    def argv(self, case: Case) -> list[str]:
        """The same flags as triseek's command takes."""
        return [self.program, "--no-config", *flags(case)]

    def ask(self, case: Case, *, repeat: int = 1, keep: bool = False) -> Reply:
        """Run it; the first lines to be compared are the first in path order."""
        if not (keep and case.limit):
            return super().ask(case, repeat=repeat, keep=keep)
        whole = [*self.argv(replace(case, limit=None)), "--sort", "path"]
        ended = command.run(whole, cwd=self.root, keep=True, lines_max=case.limit)
        return Reply((ended.seconds,), ended.output)


def flags(case: Case) -> list[str]:
    """A case in ripgrep's own flags, pattern and path last."""
    globs = [part for glob in case.globs for part in ("-g", glob)]
    if case.mode == "paths":
        return ["--files", *globs]
    chosen = ["--color", "never"]
    chosen += ["-c"] if case.mode == "count" else ["-n", "--no-heading"]
    chosen += ["-F"] if case.fixed else []
    chosen += ["-i"] if case.ignore_case else []
    chosen += ["-w"] if case.word else []
    patterns = [part for pattern in case.patterns for part in ("-e", pattern)]
    return [*chosen, *globs, *patterns, "."]
