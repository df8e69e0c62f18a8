"""`how`: how a command is really run here, and how often that passes."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from triseek.history.answers.conversation_ref import ConversationRef, conversation
from triseek.history.answers.later_events import OUTPUT_TAIL, run_outcome
from triseek.history.commands_run import main_run, runs_of
from triseek.history.freshness import FileMark, freshness_of
from triseek.history.synthesis.session_events import relative

if TYPE_CHECKING:
    from triseek.history.commands_run import Run
    from triseek.model.freshness import Freshness
    from triseek.store.sqlite import Database

RUNS_MAX = 5_000
"""Runs that are examined, newest first."""
_DECLARED_IN = {
    "make": "Makefile", "npm": "package.json", "yarn": "package.json", "pnpm": "package.json",
    "bun": "package.json", "cargo": "Cargo.toml", "go": "go.mod", "just": "justfile",
    "mvn": "pom.xml", "tox": "tox.ini", "nox": "noxfile.py", "rake": "Rakefile",
}  # fmt: skip
"""Program → the file that says what its subcommands do."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of running it."""

    text: str
    """The words that matter: without wrappers, variables and redirections."""
    as_typed: str
    """The whole command of the last run."""
    folder: str
    """Where it runs, relative to the root; "" for the root."""
    runs: int
    passed: int
    failed: int
    """The outcome of the others is unknown."""
    median_ms: int
    """0 if unknown."""
    last_ms: int
    conversation: ConversationRef
    """That of the last run."""
    freshness: Freshness | None
    """Whether the files that it names, or that declare it, have changed since the last run."""


@dataclass(frozen=True, slots=True)
class HowAnswer:
    """How a program is run."""

    program: str
    variants: tuple[Variant, ...]
    """Those that share most words with what was asked first, then those that passed most."""
    runs: int
    """All runs that were examined."""


@dataclass(slots=True)
class _Runs:
    run: Run
    as_typed: str
    session_id: int
    last_ms: int
    count: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    times: list[int] = field(default_factory=list)


def how(database: Database, command: str, *, project: str = "", limit: int = 8) -> HowAnswer:
    """Return how a command is run.

    Args:
        database: The history.
        command: A program (`pytest`), with a subcommand (`npm run`), or a whole command.
        project: Only conversations of this project; "" for all.
        limit: The most variants.

    Raises: as `Database`.
    """
    asked = main_run(runs_of(command[:2_000]))
    program = asked.program if asked else " ".join(command.split())[:100]
    wanted = asked.operands if asked else frozenset()
    groups: dict[tuple[str, str, str], _Runs] = {}
    total = 0
    with database.read() as connection:
        rows = connection.execute(
            # The inner query reads no outputs, and so may sort all runs of the program.
            "SELECT command, exit_status, failed, created_at_epoch, ended_at_epoch, session_id,"
            " project, root, cwd, substr(output, ?1) FROM tool_events"
            " JOIN sessions ON sessions.id = session_id WHERE tool_events.id IN ("
            "SELECT DISTINCT event_id FROM event_programs"
            " JOIN tool_events ON tool_events.id = event_id"
            " JOIN sessions ON sessions.id = session_id"
            " WHERE program >= ?2 AND program < ?3 AND (?4 = '' OR project = ?4 OR root = ?4)"
            " ORDER BY event_id DESC LIMIT ?5) ORDER BY tool_events.id DESC",
            (-OUTPUT_TAIL, program, f"{program}!", project, RUNS_MAX),
        )
        for text, status, failed, begun, ended, session_id, project_, root, cwd, output in rows:
            for run in runs_of(text):
                if run.program != program and not run.program.startswith(f"{program} "):
                    continue
                total += 1
                folder = relative(run.folder or cwd, root) if root else run.folder
                where = "" if folder == root else folder
                group = groups.setdefault(
                    # Clones and worktrees of a project are the same place.
                    (run.text, where, project_ or root),
                    _Runs(run, text, session_id, begun),
                )
                group.count += 1
                group.outcomes[run_outcome(run, status, failed, output)] += 1
                group.times += [ended - begun] if 0 < begun < ended else []
        variants = sorted(
            groups.items(),
            key=lambda item: (
                -len(wanted & item[1].run.operands), -item[1].outcomes["passed"],
                -item[1].count, -item[1].last_ms, item[0],
            ),
        )[:limit]  # fmt: skip
        shown = tuple(
            _variant(where, group, conversation(connection, group.session_id))
            for (_, where, _), group in variants
        )
    return HowAnswer(program, shown, total)


def _variant(folder: str, group: _Runs, of_session: ConversationRef) -> Variant:
    return Variant(
        group.run.text, group.as_typed, folder, group.count, group.outcomes["passed"],
        group.outcomes["failed"], round(median(group.times)) if group.times else 0, group.last_ms,
        of_session, _freshness(folder, group, of_session.root),
    )  # fmt: skip


def _freshness(folder: str, group: _Runs, root: str) -> Freshness | None:
    """Return whether the files that a run depends on have changed since."""
    prefix = f"{folder}/" if folder and not folder.startswith("/") else ""
    declared = _DECLARED_IN.get(group.run.program.split(" ")[0])
    names = [word for word in group.run.operands if "/" in word and "://" not in word]
    names = [name.split("::")[0] for name in names if "*" not in name and "…" not in name]
    files: list[FileMark] = [{"path": prefix + declared}] if declared else []
    if not declared:
        files = [
            {"path": name if name.startswith("/") else prefix + name} for name in sorted(names)
        ]
    return freshness_of(root, json.dumps({"files": files}), group.last_ms)
