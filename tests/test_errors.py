"""Errors: their codes, and the same error in another process."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from triseek import errors
from triseek.errors import TriseekError

KINDS = TriseekError.__subclasses__()
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)


@each_kind
def test_what_another_process_reports_is_the_same_error_here(kind: type[TriseekError]) -> None:
    raised = kind("it failed", next_step="Do this.", tool_step="Do that.")

    error = errors.named(
        raised.code, raised.message, next_step=raised.next_step, tool_step=raised.tool_step
    )

    assert type(error) is kind
    assert (error.code, error.message) == (kind.code, "it failed")
    assert (error.next_step, error.tool_step) == ("Do this.", "Do that.")


@each_kind
def test_an_error_without_a_next_step_has_that_of_its_kind(kind: type[TriseekError]) -> None:
    assert kind("it failed").next_step == kind.next_step


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.InvalidQuery, "INVALID_QUERY"),
        (errors.FormatTooNew, "FORMAT_TOO_NEW"),
        (errors.Busy, "BUSY"),
    ],
)
def test_a_code_is_the_name_of_its_class(kind: type[TriseekError], code: str) -> None:
    assert kind.code == code


def test_a_code_that_no_class_has_is_kept() -> None:
    error = errors.named("FROM_LATER", "unknown", next_step="", tool_step="")

    assert type(error) is TriseekError
    assert error.code == "FROM_LATER"


OF_THE_COMMAND_LINE = re.compile(r"`triseek |(?<![\w`?])--?[A-Za-z]")
"""A command or a flag, which an agent that has called a tool cannot pass."""
PEOPLES = (
    "cli", "compat", "terminal", "agents", "ui", "loopback", "stats", "daemon/process.py",
    "app/audit.py", "mcp/http.py",
    "sessions/pack.py", "sessions/signing.py", "history/tombstones.py",
    "memory/dreaming/undo.py", "memory/vectors/minilm.py",
)  # fmt: skip
"""What only people meet: commands, the page, starting a server, packs, imports, settings."""
FROM_THE_CONTRACT = errors.IndexUnavailable.tool_step


@each_kind
def test_an_agent_is_told_of_tools_and_a_person_of_commands(kind):
    step = kind.tool_step or kind.next_step
    assert step == FROM_THE_CONTRACT or not OF_THE_COMMAND_LINE.search(step)


def test_a_next_step_on_the_command_line_has_another_for_tools():
    package = Path(errors.__file__).parent
    wrong = []
    for path in package.rglob("*.py"):
        name = path.relative_to(package).as_posix()
        if name.startswith(PEOPLES) or "/commands/" in name or name.endswith("/commands.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            steps = {
                keyword.arg: ast.unparse(keyword.value)
                for keyword in (node.keywords if isinstance(node, ast.Call) else ())
                if keyword.arg in ("next_step", "tool_step")
            }
            shown = steps.get("tool_step") or steps.get("next_step", "")
            if OF_THE_COMMAND_LINE.search(shown.lstrip("f'\"")):
                wrong.append((name, node.lineno, shown))
    assert wrong == []


def test_a_step_of_its_own_takes_the_place_of_both():
    plain, own = errors.InvalidQuery("no"), errors.InvalidQuery("no", next_step="Try b.")
    both = errors.InvalidQuery("no", next_step="Pass -b.", tool_step="Pass b: true.")

    assert [(each.next_step, each.tool_step) for each in (plain, own, both)] == [
        (errors.InvalidQuery.next_step, errors.InvalidQuery.tool_step),
        ("Try b.", ""),
        ("Pass -b.", "Pass b: true."),
    ]
