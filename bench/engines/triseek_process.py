"""triseek's command: a new process for each question."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench import command
from bench.engines.base import ProcessEngine, size_of
from bench.engines.ripgrep import flags
from bench.model import Build, Faulty

if TYPE_CHECKING:
    from bench.model import Case, Corpus


class TriseekProcess(ProcessEngine):
    """`python -m triseek`, its state in scratch."""

    limits_itself = True

    def missing(self) -> str:
        """Why it cannot run here; empty when it can."""
        ended = command.run(self._command("--version"), cwd=_here(), env=self.environment())
        last = (ended.errors.splitlines() or ["no message"])[-1]
        return f"python -m triseek --version: {last}" if ended.code else ""

    def version(self) -> str:
        """As `triseek --version` says."""
        argv = self._command("--version")
        ended = command.run(argv, cwd=_here(), env=self.environment(), keep=True)
        return ended.output.decode().splitlines()[0]

    def environment(self) -> dict[str, str]:
        """Its state is in scratch, the compiled kernels are the user's own."""
        return environment(self.scratch)

    def prepare(self, corpus: Corpus) -> Build:
        """Compile the kernels, unmeasured, then build from nothing."""
        super().prepare(corpus)
        shutil.rmtree(self.scratch / "indexes", ignore_errors=True)
        self.scratch.mkdir(parents=True, exist_ok=True)
        self._run("warmup")
        return self._measured("build")

    def update(self) -> Build | None:
        """The command of that name."""
        return self._measured("update")

    def argv(self, case: Case) -> list[str]:
        """The same flags as ripgrep, and one that ripgrep has not."""
        limit = ["--limit", str(case.limit)] if case.limit else []
        return self._command(*limit, *flags(case))

    def _measured(self, verb: str) -> Build:
        ended = self._run(verb, str(self.root))
        return Build(
            seconds=ended.seconds,
            peak_rss_bytes=ended.peak_rss_bytes,
            index_bytes=size_of(self.scratch / "indexes"),
            note="the whole command, interpreter included",
        )

    def _run(self, *words: str) -> command.Ended:
        ended = command.run(self._command(*words), cwd=self.root, env=self.environment())
        if ended.code:
            raise Faulty(f"triseek {words[0]} ended with {ended.code}: {ended.errors[-200:]}")
        return ended

    def _command(self, *words: str) -> list[str]:
        return command_line(*words)


def command_line(*words: str, python: str = sys.executable) -> list[str]:
    """Run the command; `-P` because the folder searched may hold a `typing` of its own."""
    return [python, "-P", "-m", "triseek", *words]


def environment(home: Path | str, *, kernels: bool = True) -> dict[str, str]:
    """Variables that keep state in `home`, and find this very package from any folder.

    No daemon: one that a search leaves behind would answer the next, and outlive the run.

    With `kernels`, those the user has compiled are used (and compiled where there are none): a
    minute that would otherwise be spent in each run, for each engine.
    """
    from triseek.kernels import cache

    compiled = cache.directory() if kernels else os.path.join(home, "kernels-of-its-own")
    above = str(Path(__file__).parents[2])
    return {
        "TRISEEK_HOME": str(home),
        "TRISEEK_NO_DAEMON": "1",
        "PYTHONPATH": above,
        "NUMBA_CACHE_DIR": compiled,
    }


def _here() -> Path:
    return Path.cwd()
