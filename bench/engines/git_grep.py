"""git grep over a tree that is no repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.engines.base import ProcessEngine, first_line

if TYPE_CHECKING:
    from bench.model import Case


class GitGrep(ProcessEngine):
    """`git grep --no-index -I`, Perl's regular expressions."""

    def version(self) -> str:
        """As `git --version` says."""
        return first_line(self.program, "--version")

    def refuses(self, case: Case) -> str:
        """It has globs of its own, and lists no files that way."""
        if case.mode == "paths":
            return "lists files of a repository only"
        if case.limit:
            return "no order to take the first lines of"
        return super().refuses(case)

    def argv(self, case: Case) -> list[str]:
        """Everything below the root; a glob is a pathspec here."""
        chosen = ["-c"] if case.mode == "count" else ["-n"]
        chosen += ["-F"] if case.fixed else ["-P"]
        chosen += ["-i"] if case.ignore_case else []
        chosen += ["-w"] if case.word else []
        patterns = [part for pattern in case.patterns for part in ("-e", pattern)]
        grep = [self.program, "grep", "--no-index", "--no-color", "-I"]
        return [*grep, *chosen, *patterns, "--", *(case.globs or ["."])]
