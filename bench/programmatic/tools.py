"""The two ways of triseek: its single tools, and its workflows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.programmatic import steps
from bench.programmatic.shell import LINES_MAX, SOURCES, defining
from bench.programmatic.steps import Answer, Step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.agents.client import Client
    from bench.programmatic.shell import Shell
    from bench.programmatic.tasks import Task

FILES_MAX, USAGES_MAX = 25, 100
"""Files that a workflow is asked for: the most that `config_trace` and `impact_analysis` take."""
PAGE = 100
"""Lines of one answer of `search_content`: the most that it takes."""
SCRIPTS = {
    kind: Path(__file__).with_name("scripts").joinpath(f"{kind}.py").read_text(encoding="utf-8")
    for kind in ("trace", "usages", "config")
}
FIRST_USE = {
    "trace": ("trace symbol repositories", "cross_repo_trace"),
    "usages": ("callers of a function", "impact_analysis"),
    "config": ("configuration setting", "config_trace"),
}
"""What an agent searches the catalog for, and the workflow it then reads about."""
FUNCTIONS = ("find_repos", "outline", "search", "search_symbols", "usages")
"""The functions that the scripts call."""


async def single(client: Client, shell: Shell, task: Task) -> list[Answer]:
    """Return what two policies know that use the search tools: all lines, or little at first."""
    asked = {"query": task.name, "word": True} | _path(task)
    lines = await _pages(client, asked)
    shown = frozenset[tuple[str, int]]().union(*(step.shown for step in lines))
    policies = [Answer("single", "all lines", [*lines, *shell.reads(task, shown)])]
    if task.kind == "usages":
        pack = {"goal": f"where is {task.name} used", "max_files": 12, "budget_tokens": 4000}
        narrow = [await _search(client, "context_pack", pack)]
    else:
        files = {**asked, "output_mode": "files", "limit": PAGE}
        narrow = [await _search(client, "search_content", files)]
    if task.kind == "trace":
        pattern = {"query": defining(task.name), "mode": "regex"}
        narrow.append(await _search(client, "search_content", pattern))
    elif task.kind == "config":
        code = {**asked, "glob": " ".join(SOURCES), "limit": PAGE}
        narrow.append(await _search(client, "search_content", code))
    shown = frozenset[tuple[str, int]]().union(*(step.shown for step in narrow))
    policies.append(Answer("single", "narrow", [*narrow, *shell.reads(task, shown)]))
    return policies


async def workflow(client: Client, folders: Mapping[str, str], task: Task) -> list[Answer]:
    """Return what an agent knows that runs the workflow for a task."""
    names = {folder: name for name, folder in folders.items()}
    commands = {
        "trace": f"cross_repo_trace --symbol {task.name} --max-repos {len(folders)}",
        "usages": f"impact_analysis --symbol {task.name} --repo {{}} --limit {USAGES_MAX}",
        "config": f"config_trace --name {task.name} --repo {{}} --limit {FILES_MAX}",
    }
    line = commands[task.kind].format(names.get(task.repository))
    run = [await _command(client, folders, task.repository, line)]
    if task.kind == "usages":
        path, first, end = task.definitions[0]
        if (path, first) in run[0].shown and (path, end) not in run[0].shown:
            below = path.partition("/")[2]
            line = f"outline --repo {names[task.repository]} --path {below}"
            run.append(await _command(client, folders, task.repository, line))
    return [Answer("workflow", task.kind, run)]


async def script(client: Client, folders: Mapping[str, str], task: Task) -> list[Answer]:
    """Return what an agent knows that writes a script for a task."""
    names = {folder: name for name, folder in folders.items()}
    args = {"name": task.name} | ({"repo": names[task.repository]} if task.repository else {})
    arguments = {"code": SCRIPTS[task.kind], "args": args}
    called = await client.call("run_custom_workflow_code", arguments)
    shown = steps.of_script(called.text, task.repository, folders)
    step = Step("run_custom_workflow_code", arguments, called.text, called.seconds, shown)
    return [Answer("script", task.kind, [step])]


async def first_use(client: Client, kind: str) -> tuple[list[Step], list[Step]]:
    """Return what an agent reads before its first workflow of a kind, and before a script."""
    query, name = FIRST_USE[kind]
    found = await _catalog(client, "search_capabilities", {"query": query})
    page = await _catalog(client, "read_capability", {"capability_id": name})
    pages = [
        await _catalog(client, "read_capability", {"capability_id": identifier})
        for identifier in (
            "execution.run_custom_workflow_code", *(f"runtime.{each}" for each in FUNCTIONS)
        )
    ]  # fmt: skip
    return [found, page], [found, *pages]


async def _catalog(client: Client, tool: str, arguments: Mapping[str, Any]) -> Step:
    called = await client.call(tool, arguments)
    return Step(tool, arguments, called.text, called.seconds, frozenset())


async def _command(client: Client, folders: Mapping[str, str], repository: str, line: str) -> Step:
    arguments = {"command": line}
    called = await client.call("run_workflow_cli", arguments)
    shown = steps.of_markdown(called.text, repository, folders)
    return Step("run_workflow_cli", arguments, called.text, called.seconds, shown)


async def _pages(client: Client, asked: Mapping[str, Any]) -> list[Step]:
    """Search, and turn pages as long as fewer lines are known than a shell's output may have."""
    pages: list[Step] = []
    while len(pages) * PAGE < LINES_MAX:
        offset = {"offset": len(pages) * PAGE} if pages else {}
        page = await _search(client, "search_content", {**asked, "limit": PAGE, **offset})
        pages.append(page)
        if "[truncated" not in page.text:
            break
    return pages


async def _search(client: Client, tool: str, arguments: Mapping[str, Any]) -> Step:
    called = await client.call(tool, arguments)
    return Step(tool, arguments, called.text, called.seconds, steps.of_digest(called.text))


def _path(task: Task) -> dict[str, str]:
    return {"path": task.repository} if task.repository else {}
