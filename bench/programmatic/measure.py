"""A run: tasks of several repositories, each done in four ways."""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from bench import command, machine
from bench.agents.client import connected
from bench.engines.triseek_process import command_line, environment
from bench.model import Faulty
from bench.programmatic import tools, trees
from bench.programmatic.shell import Shell
from bench.programmatic.steps import Answer, best
from bench.programmatic.tasks import SEED, Sources, drawn
from triseek.app.registry import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench.programmatic.steps import Step
    from bench.programmatic.tasks import Task
    from bench.programmatic.trees import Repository
    from bench.progress import Progress

TOOLSETS = ("--toolsets", "search,workflows")
MISSING_MAX = 3
"""Missing facts that are recorded as examples."""


def run(below: Path, clones: Mapping[str, str], rg: str, progress: Progress) -> dict[str, Any]:
    """Measure.

    Args:
        below: The folder of the repositories; those that are there are kept.
        clones: Clones to take repositories from instead of their addresses, by name.
        rg: The program.
        progress: What is being done.

    Raises:
        Faulty: A repository cannot be had here, there are too few names, or a tool failed.
    """
    progress.say("cloning")
    repositories = trees.prepared(below, clones)
    progress.say("drawing tasks")
    tasks = drawn(Sources(below, [each.name for each in repositories], rg))
    with _indexed(below, repositories, progress) as environ:
        measured = anyio.run(_measured, below, repositories, tasks, environ, progress)
    return {
        "seed": SEED,
        "machine": machine.describe(),
        "repositories": [each._asdict() for each in repositories],
        **measured,
    }


@contextlib.contextmanager
def _indexed(
    below: Path, repositories: Sequence[Repository], progress: Progress
) -> Iterator[dict[str, str]]:
    """Index the repositories and start a daemon; the environment of its clients."""
    with tempfile.TemporaryDirectory(prefix="triseek-bench-") as scratch:
        environ = environment(Path(scratch) / "state") | {"TMPDIR": scratch, "HOME": scratch}
        del environ["TRISEEK_NO_DAEMON"]
        progress.say("building indexes, and starting the daemon")
        for folder in (*(below / each.name for each in repositories), below):
            _triseek(below, environ, "build", str(folder))
        _triseek(below, environ, "daemon", "start")
        try:
            yield environ
        finally:
            _triseek(below, environ, "daemon", "stop")


def _triseek(folder: Path, environ: Mapping[str, str], *words: str) -> None:
    ended = command.run(command_line(*words), cwd=folder, env=environ)
    if ended.code:
        raise Faulty(f"triseek {words[0]}: {ended.errors[-200:]}")


async def _measured(
    below: Path,
    repositories: Sequence[Repository],
    tasks: Sequence[Task],
    environ: Mapping[str, str],
    progress: Progress,
) -> dict[str, Any]:
    folders = {each.full_name: each.name for each in repositories}
    shell = Shell(below)
    async with connected(below, environ, options=TOOLSETS) as client:
        first = {}
        for kind in tools.FIRST_USE:
            of_workflow, of_script = await tools.first_use(client, kind)
            first[kind] = {"workflow": _cost(of_workflow), "script": _cost(of_script)}
        rows = []
        for task in progress.each(list(tasks), "task"):
            policies = {
                "workflow": await tools.workflow(client, folders, task),
                "script": await tools.script(client, folders, task),
                "single": await tools.single(client, shell, task),
                "grep": await anyio.to_thread.run_sync(shell.answers, task),
            }
            rows.append(_row(task, policies))
        listed = await client.tools()
    sizes = {
        toolset: sum(
            listed[tool.name] for tool in TOOLS if tool.toolset == toolset and tool.is_listed
        )
        for toolset in ("search", "workflows")
    }
    return {"first_use": first, "listed": sizes, "tasks": rows}


def _cost(steps: Sequence[Step]) -> dict[str, int]:
    return {"calls": len(steps), "tokens": sum(step.tokens for step in steps)}


def _row(task: Task, policies: Mapping[str, Sequence[Answer]]) -> dict[str, Any]:
    return {
        "kind": task.kind,
        "name": task.name,
        "repository": task.repository,
        "lines": task.lines,
        "reported": task.is_reported,
        "facts": dict(Counter(fact.group for fact in task.facts)),
        "ways": {
            way: _way(task, best(task, answers))
            | {"policies": {each.policy: _figures(task, each) for each in answers}}
            for way, answers in policies.items()
        },
    }


def _way(task: Task, answer: Answer) -> dict[str, Any]:
    missing = answer.missing(task)
    return {
        "policy": answer.policy,
        **_figures(task, answer),
        "missing": dict(Counter(fact.group for fact in missing)),
        "examples": [min(fact.places) for fact in missing[:MISSING_MAX]],
    }


def _figures(task: Task, answer: Answer) -> dict[str, Any]:
    return {
        **_cost(answer.steps),
        "ms": round(1000 * sum(step.seconds for step in answer.steps), 1),
        "recall": round(answer.recall(task), 4),
        "uses": round(answer.share_of_uses(task), 4),
    }
