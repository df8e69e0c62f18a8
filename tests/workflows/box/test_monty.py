"""Monty as runner: the same markers, caps and results."""

from __future__ import annotations

import time

import pytest

from tests.workflows.box.machine import execute
from triseek.workflows.execution import ExecutionResult, Limits

pytest.importorskip("pydantic_monty")


def monty(source: str, **options: object) -> ExecutionResult:
    """Run a script in Monty."""
    return execute(source, runner="monty", **options)  # type: ignore[arg-type]


def test_results_markers_and_functions() -> None:
    source = """
from runtime.zoekt_tools import search, ZoektRuntimeError as Failure
import runtime.zoekt_tools as tools
print("noise")
async def run(args):
    try:
        search(nope=1)
    except Failure as error:
        return [args, search("a", limit=2), tools.search(query="b"), str(error)]
"""
    result = execute(source, {"x": [1]}, runner="monty")
    assert (result.success, result.tier, result.exit_code) == (True, "monty", 0)
    assert result.stdout == "noise\n"
    assert result.result_json == [
        {"x": [1]},
        [{"query": "a", "limit": 2}],
        [{"query": "b", "limit": 10}],
        "search: no argument 'nope'",
    ]
    assert len(result.calls) == 2


@pytest.mark.parametrize(
    ("source", "exit_code", "has_result", "message"),
    [
        ("def run(args): return 3", 3, True, ""),
        ("def run(args): return None", 0, True, ""),
        ("print('__RESULT_JSON__=[1]')", 0, True, ""),
        ("def run(args): return float('nan')", 1, False, "the result is no JSON"),
        ("def run(args): raise ValueError('why')", 1, False, "ValueError: why"),
        ("def run(args) 1", 1, False, "SyntaxError"),
        ("x = 'y' * (10 << 30)\ndef run(args): pass", 137, False, "MemoryError"),
        ("def run(args): return open('/etc/passwd').read()", 1, False, "PermissionError"),
        ("import os\ndef run(args): return os.environ", 1, False, "not supported"),
        ("def run(args): return 'x' * (1 << 21)", 0, False, "result is longer than"),
    ],
)
def test_exit_codes(source: str, exit_code: int, has_result: bool, message: str) -> None:
    result = monty(source)
    assert (result.exit_code, result.has_result) == (exit_code, has_result), result.stderr
    assert message in result.stderr


def test_it_is_ended() -> None:
    begin = time.monotonic()
    result = monty("while True: pass", limits=Limits(seconds=0.5))
    assert (result.exit_code, result.stderr) == (124, "execution timed out")
    result = monty("while True: print('x' * 1000)", limits=Limits(seconds=30, stdout_bytes=9))
    assert (result.exit_code, result.stdout) == (137, "x" * 9 + "\n[stdout truncated at 9 bytes]")
    result = monty("while True: pass", cancelled=lambda: True)
    assert (result.exit_code, "cancelled" in result.stderr) == (1, True)
    assert time.monotonic() - begin < 15


def test_the_policy_is_asked_first() -> None:
    result = monty("import os\ndef run(args): pass", validate=True)
    assert result.safety_rejections == ["banned_import: os"]
