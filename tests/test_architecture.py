"""What may be imported where, seen from running processes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "triseek"
SLOW = (
    "json", "re", "enum", "typing", "dataclasses", "pathlib", "socket", "subprocess", "threading",
    "logging", "collections", "contextlib", "functools", "pydantic",
)  # fmt: skip
"""Each would take as long to import as the daemon takes to answer."""
HEAVY = ("numba", "pyarrow", "typer", "rich", "numpy", "re2")
PROTOCOL = ("mcp", "mcp_types", "pydantic", "anyio", "asyncio", "uvicorn", "starlette")


def loaded_by(statement: str) -> set[str]:
    """Top-level modules that are there only because of the statement."""
    before, after = (
        _modules(f"import sys, os\n{code}\nprint(' '.join(sys.modules))")
        for code in ("", statement)
    )
    return after - before


def _modules(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize(
    ("statement", "light_of"),
    [
        ("import triseek", HEAVY),
        ("import triseek.cli.main", HEAVY),
        ("import triseek.cli.main, triseek.cli.fast", (*HEAVY, *SLOW)),
        ("import triseek.model.search, triseek.model.index, triseek.errors, triseek.paths", HEAVY),
        ("import triseek.kernels.cache; triseek.kernels.cache.is_ready()", HEAVY),
        ("import triseek.engine.service", ("numba", "pyarrow", "typer", "rich")),
        ("import triseek.store.manifest", ("numba", "pyarrow", "typer", "rich")),
        ("import triseek.cli.mcp_verb", (*HEAVY, *PROTOCOL, "json", "dataclasses", "logging")),
        (
            "import triseek.mcp.agent_verb, triseek.mcp.hosting",
            ("numba", "pyarrow", "typer", "rich", "numpy", *PROTOCOL),
        ),
        (  # a client of the memory waits for the first answer
            "import triseek.cli.memory_verb, triseek.memory.profile.loop",
            (*HEAVY, *PROTOCOL, "sqlite3", "dataclasses", "logging", "re2"),
        ),
        ("import triseek.ui.app", ("numba", "pyarrow", "typer", "rich", "mcp", "mcp_types")),
        (
            "import triseek.app.arguments, triseek.mcp.schemas, triseek.search.digest",
            (*HEAVY, *PROTOCOL),
        ),
        ("import triseek.app.registry", ("numba", "pyarrow", "typer", "rich", *PROTOCOL)),
        # What the daemon is made of: it asks no model, and nobody else either.
        (
            "import triseek.cli.compose, triseek.cli.remote, triseek.daemon.services",
            ("typer", "rich", "httpx2", "httpcore2", "mcp", "uvicorn", "starlette"),
        ),
        ("import triseek.cli.command_tree", ("httpx2", "httpcore2", "mcp", "pyarrow", "numba")),
        # All that a server needs for its first answer, and what it needs then.
        (
            "import triseek.mcp.server, triseek.mcp.session, triseek.mcp.hosting",
            ("numba", "pyarrow", "typer", "rich", "numpy", "re2"),
        ),
        (
            "import triseek.mcp.tool_handlers, triseek.daemon.standalone",
            ("numba", "pyarrow", "typer", "rich"),
        ),
    ],
)
def test_a_light_module_loads_nothing_heavy(statement, light_of):
    assert loaded_by(statement).isdisjoint(light_of)


def test_no_module_is_named_for_having_no_subject():
    banned = {"utils", "helpers", "common", "misc", "util"}

    assert not [path for path in PACKAGE.rglob("*") if path.stem in banned]


def test_only_models_that_the_user_named_are_asked_over_the_network():
    def naming(name: str) -> list[str]:
        return sorted(
            str(path.relative_to(PACKAGE))
            for path in PACKAGE.rglob("*.py")
            if re.search(rf"^\s*(import|from) .*\b{name}\b", path.read_text("utf-8"), re.MULTILINE)
        )

    assert naming("httpx2") == ["cli/model_endpoint.py", "zoekt/transport.py"]
    assert naming("model_endpoint") == ["cli/commands/brief.py"]
    others = re.compile(
        r"^\s*(import|from) (requests|aiohttp|urllib3|urllib.request|http.client|ftplib|smtplib)\b",
        re.MULTILINE,
    )
    asking = [path for path in PACKAGE.rglob("*.py") if others.search(path.read_text("utf-8"))]
    assert asking == [PACKAGE / "memory/vectors/endpoint.py"]


def test_only_fetch_and_libc_call_the_operating_system():
    callers = [
        path.name
        for path in (PACKAGE / "kernels").glob("*.py")
        if "c_openat" in path.read_text(encoding="utf-8")
    ]

    assert sorted(callers) == ["fetch.py", "libc.py"]


STARTS = re.compile(
    r"subprocess\.(Popen|run|call|check_call|check_output)\(|os\.(fork|forkpty|system|popen|"
    r"posix_spawnp?|spawn\w+)\(|create_subprocess_\w+\(|multiprocessing"
)
MAY_START = {
    "ipc/children.py",  # ends what it starts with its parent
    "ipc/spawn.py",  # the daemon outlives whoever wanted it
    "ipc/aside.py",  # so does what starts it
    "terminal/pager.py",  # is the user's, and ends with its input
    "workflows/box/runner.py",  # ends with its input, a pipe that this process holds
    "workflows/box/child/launch.py",  # that process: it ends all its descendants first
    "workflows/box/names.py",  # names it as a module that scripts may not import
}


def test_every_child_is_started_where_it_ends_with_its_parent():
    starting = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if STARTS.search(path.read_text("utf-8"))
    }
    assert starting == MAY_START
