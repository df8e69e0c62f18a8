"""What the measurement needs from an engine."""

from __future__ import annotations

import os
import shutil
import sys
from abc import ABC, abstractmethod
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import answer, command
from bench.model import Faulty, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.model import Build, Case, Corpus


class Engine(ABC):
    """One program, on one corpus, with a scratch folder of its own for its index."""

    repeat_max = 1
    """How often one turn may ask: processes once, so that turns interleave evenly."""

    def __init__(self, name: str, settings: Mapping[str, Any], scratch: Path) -> None:
        self.name = name
        self.settings = settings
        self.scratch = scratch / name
        self.root = Path()
        self.rule: answer.Rule = settings["answers"]

    def missing(self) -> str:
        """Why it cannot run here; empty when it can."""
        wanted = (self.settings.get("program"), self.settings.get("indexer"))
        absent = [program for program in wanted if program and not program_path(program)]
        return f"{' and '.join(absent)} not found on PATH" if absent else ""

    @abstractmethod
    def version(self) -> str:
        """Its version, in one line."""

    def refuses(self, case: Case) -> str:
        """Why it is not asked this; empty when it is."""
        return _reason(self.settings.get("cannot", {}), case) or _reason(
            self.settings.get("differs", {}), case
        )

    def prepare(self, corpus: Corpus) -> Build | None:
        """Get ready to search `corpus` from nothing; the cost, when there is an index."""
        self.root = corpus.root
        return None

    def update(self) -> Build | None:
        """Take in what changed on disk; None where nothing needs to be done."""
        return None

    @abstractmethod
    def ask(self, case: Case, *, repeat: int = 1, keep: bool = False) -> Reply:
        """Ask once, or `repeat` times; with `keep`, the output too."""

    def read(self, case: Case, reply: Reply) -> answer.Answer:
        """What it answered."""
        return answer.read(reply.output, case.mode)

    def resident_bytes(self) -> int:
        """Memory a daemon of its holds; 0 without one."""
        return 0

    def close(self) -> None:
        """Stop whatever it started; most start nothing."""
        return


class ProcessEngine(Engine):
    """An engine that is one command per question."""

    found_nothing = (1,)
    """Exit codes that mean an empty answer."""
    limits_itself = False
    """Whether the command is told how many lines are wanted; if not, it is stopped at the last."""

    @abstractmethod
    def argv(self, case: Case) -> list[str]:
        """The command; it runs in the corpus's root."""

    def environment(self) -> dict[str, str]:
        """Variables to set for it."""
        return {}

    def ask(self, case: Case, *, repeat: int = 1, keep: bool = False) -> Reply:
        """Run the command to its end."""
        seconds, output = [], b""
        for _ in range(repeat):
            ended = command.run(
                self.argv(case),
                cwd=self.root,
                env=self.environment(),
                keep=keep,
                lines_max=None if self.limits_itself else case.limit,
            )
            if ended.code and ended.code not in self.found_nothing:
                raise Faulty(f"{self.name} ended with {ended.code}: {ended.errors[:200]}")
            seconds.append(ended.seconds)
            output = ended.output
        return Reply(tuple(seconds), output)

    @property
    def program(self) -> str:
        """The path of its program."""
        return program_path(self.settings["program"])


def program_path(program: str) -> str:
    """Find a program beside this Python first, so that a pinned wheel wins; empty when absent."""
    beside = Path(sys.executable).parent / program
    return str(beside) if os.access(beside, os.X_OK) else shutil.which(program) or ""


def first_line(*argv: str) -> str:
    """The first line a command prints."""
    ended = command.run(argv, cwd=Path.cwd(), keep=True)
    return (ended.output.decode(errors="replace").splitlines() or [""])[0].strip()


def size_of(folder: Path) -> int:
    """Bytes in all files below `folder`."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def either(case: Case) -> str:
    """All the patterns of a case as one regular expression."""
    return (
        case.patterns[0]
        if len(case.patterns) == 1
        else "|".join(f"(?:{pattern})" for pattern in case.patterns)
    )


def _reason(table: Mapping[str, str], case: Case) -> str:
    return next((why for name, why in table.items() if fnmatch(case.name, name)), "")
