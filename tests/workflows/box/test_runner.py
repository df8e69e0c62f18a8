"""Scripts run to their end: entry points, results, exit codes, caps, the host's functions."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.workflows.box.machine import EACH_TIER, NEEDS_KERNEL, TIERS, execute
from triseek.errors import InvalidQuery
from triseek.workflows.box.runner import run
from triseek.workflows.box.tiers import Boundaries
from triseek.workflows.execution import Limits, Script

if TYPE_CHECKING:
    from triseek.workflows.execution import Tier

pytestmark = pytest.mark.long


@EACH_TIER
def test_run_takes_arguments_and_returns_a_result(tier: Tier) -> None:
    result = execute(
        "def run(args):\n    return [args, None, 1.5, 'é']", {"a": {"b": 1}}, tier=tier
    )
    assert result.success
    assert (result.tier, result.exit_code) == (tier, 0)
    assert (result.has_result, result.result_json) == (True, [{"a": {"b": 1}}, None, 1.5, "é"])
    assert (result.stdout, result.stderr) == ("", "")
    assert result.timing_ms > 0


@EACH_TIER
def test_host_functions_are_called(tier: Tier) -> None:
    source = """
from runtime import zoekt_tools
from runtime.zoekt_tools import search
import runtime.zoekt_tools as tools
def run(args):
    return [search("a"), tools.search(query="b", limit=2), zoekt_tools.search("c", 3)]
"""
    result = execute(source, tier=tier)
    assert [row["limit"] for rows in result.result_json for row in rows] == [10, 2, 3]
    assert [call.split(")")[0] for call in result.calls] == [
        "search(query='a'", "search(query='b', limit=2", "search(query='c', limit=3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "exit_code", "value"),
    [
        ("async def run(args):\n    return 'a'", 0, "a"),
        ("def run(args):\n    return None", 0, None),
        ("def run(args):\n    return 3", 3, None),
        ("def run(args):\n    return True", 0, True),
        ("def run(args):\n    print('noise')\n    return []", 0, []),
        ("def run(args):\n    print('no end', end='')\n    return []", 0, []),
        ("print('__RESULT_JSON__=1')\nprint('__RESULT_JSON__=2')\ndef main(): pass", 0, 2),
        ("import sys\ndef main():\n    print('__RESULT_JSON__=' + sys.argv[2])", 0, {}),
        ("def main():\n    print('[1, 2]')", 0, [1, 2]),
        ("def main():\n    print('__RESULT_JSON__=[]')\n    return 4", 4, []),
        ("import sys\nprint('__RESULT_JSON__=0')\nsys.exit(3)", 3, 0),
    ],
)  # fmt: skip
@NEEDS_KERNEL
def test_entry_points_and_markers(source: str, exit_code: int, value: object) -> None:
    result = execute(source)
    assert (result.exit_code, result.has_result, result.result_json) == (exit_code, True, value)
    assert result.success == (exit_code == 0)
    assert "__RESULT_JSON__" not in result.stdout


@pytest.mark.parametrize(
    ("source", "exit_code", "message"),
    [
        ("def run(args):\n    return float('nan')", 1, "Out of range float values"),
        ("def run(args):\n    raise ValueError('why')", 1, 'line 2, in run\n    raise ValueError'),
        ("def run(args):\n    return object()", 1, "not JSON serializable"),
        ("import sys\nsys.exit(3)", 3, "result marker not found"),
        ("import sys\nsys.exit('reason')", 1, "reason"),
        ("x = 1", 1, "missing entrypoint: expected run(args) or legacy main()"),
        ("def run(args)", 1, "SyntaxError"),
        ("print('__RESULT_JSON__={')\ndef main(): pass", 0, "malformed result marker JSON: "),
        ("print('__RESULT_JSON__=NaN')\ndef main(): pass", 0, "malformed result marker JSON: NaN"),
        ("print('__RESULT_JSON__=' + '[' * 100000)\ndef main(): pass", 0, "nested too deeply"),
        ("print('__RESULT_JSON__=' + '[' * 101 + ']' * 101)\ndef main(): pass", 0, "too deeply"),
        ("def run(args):\n    return 'x' * (1 << 21)", 0, "result is longer than 1048576 bytes"),
        ("def run(args):\n    return bytearray(2 << 30)", 137, "out of memory"),
        ("import os\nos.abort()", 134, ""),
        ("import ctypes\nctypes.string_at(0)", 139, ""),
    ],
)  # fmt: skip
@NEEDS_KERNEL
def test_failures_are_described(source: str, exit_code: int, message: str) -> None:
    result = execute(source)
    assert (result.exit_code, result.has_result) == (exit_code, False)
    assert message in result.stderr
    assert "triseek" not in result.stderr  # no frame of the box itself


@NEEDS_KERNEL
def test_surrogates_do_not_leave_the_box() -> None:
    result = execute("def run(args):\n    return ['\\ud800', 'a\\u20ac']")
    assert result.result_json == ["?", "a€"]
    result = execute("def run(args):\n    print('\\ud800')\n    return 1.5")
    assert result.stdout.encode()


@NEEDS_KERNEL
def test_output_is_cut_and_the_result_is_kept() -> None:
    source = """
import sys
def run(args):
    print('x' * 40960)
    sys.stderr.write('y' * 40960)
    return 'z'
"""
    result = execute(source)
    assert result.stdout == "x" * 32768 + "\n[stdout truncated at 32768 bytes]"
    assert result.stderr == "y" * 32768 + "\n[stderr truncated at 32768 bytes]"
    assert result.result_json == "z"


@NEEDS_KERNEL
def test_arguments_of_any_size() -> None:
    result = execute("def run(args):\n    return len(args['text'])", {"text": "x" * (8 << 20)})
    assert result.exit_code == (8 << 20) & 255
    assert result.result_json is None
    assert execute("def run(a): return [len(a['t'])]", {"t": "x" * (8 << 20)}).result_json == [
        8 << 20
    ]


@NEEDS_KERNEL
def test_the_folder_is_empty_and_its_own() -> None:
    source = """
import os, io
def run(args):
    before = os.listdir('.')
    io.open('file', 'w').write('text')
    mode = oct(os.stat('file').st_mode & 0o777)
    return [before, io.open('file').read(), mode, os.environ['HOME'] == os.getcwd()]
"""
    assert execute(source).result_json == [[], "text", "0o600", True]


@NEEDS_KERNEL
def test_the_environment_is_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECRET", "ZOEKT_API_URL", "PYTHONPATH", "LD_PRELOAD_NOT"):
        monkeypatch.setenv(name, "x")
    names = set(execute("import os\ndef run(args): return list(os.environ)").result_json)
    assert names <= {"HOME", "LANG", "LC_ALL", "LC_CTYPE", "PATH", "TZ", "MALLOC_ARENA_MAX"}


@NEEDS_KERNEL
def test_threads_call_functions_side_by_side() -> None:
    together = threading.Barrier(4, timeout=10)

    def meet(number: int) -> int:
        together.wait()
        return number

    source = """
import asyncio
from runtime.zoekt_tools import meet
async def run(args):
    return await asyncio.gather(*[asyncio.to_thread(meet, n) for n in range(4)])
"""
    assert execute(source, functions={"meet": meet}).result_json == [0, 1, 2, 3]


@NEEDS_KERNEL
def test_what_functions_raise_is_raised_in_the_script() -> None:
    def refuse(query: str = "") -> None:
        raise InvalidQuery(f"no such field: {query}")

    def fail() -> None:
        raise KeyError("inner")

    def endless() -> object:
        return object()

    source = """
from runtime.zoekt_tools import refuse, fail, endless, ZoektRuntimeError
def run(args):
    said = []
    for call in (lambda: refuse("x"), fail, endless, lambda: refuse({1, 2}),
                 lambda: refuse("y" * 2000000)):
        try:
            call()
        except ZoektRuntimeError as error:
            said.append(str(error)[:60])
    for call in (lambda: refuse(1, 2), lambda: refuse(nope=1)):
        try:
            call()
        except TypeError as error:
            said.append(str(error))
    return said
"""
    functions = {"refuse": refuse, "fail": fail, "endless": endless}
    said = execute(source, functions=functions).result_json
    assert said == [
        "no such field: x",
        "fail failed: KeyError: 'inner'",
        "endless: the result is no JSON: Object of type object is not",
        "refuse: Object of type set is not JSON serializable",
        "refuse: 2000059 bytes of arguments; at most 1048576 can be p",
        "refuse() takes 1 arguments, not 2",
        "refuse() has no argument 'nope'; it has: query",
    ]


@NEEDS_KERNEL
def test_all_allowed_modules_can_be_imported_behind_the_walls() -> None:
    source = """
import argparse, asyncio, bisect, collections.abc, dataclasses, datetime, difflib, functools, heapq
import itertools, json, math, operator, re, statistics, string, sys, textwrap, typing, decimal
def run(args):
    now = datetime.datetime.now().astimezone()
    return [statistics.median([3, 1, 2]), str(decimal.Decimal('1.10')), now.year > 2000]
"""
    assert execute(source).result_json == [2, "1.10", True]


@EACH_TIER
def test_time_is_over(tier: Tier) -> None:
    begin = time.monotonic()
    result = execute(
        "print('__RESULT_JSON__=1')\nwhile True: pass", tier=tier, limits=Limits(seconds=1.0)
    )
    assert (result.exit_code, result.stderr, result.has_result) == (
        124,
        "execution timed out",
        False,
    )
    assert time.monotonic() - begin < 8


@NEEDS_KERNEL
def test_time_is_over_before_the_script_begins() -> None:
    result = execute("def run(args): return []", limits=Limits(seconds=0.001))
    assert (result.exit_code, result.stderr) == (124, "execution timed out")
    result = execute("def run(args): return []", cancelled=lambda: True)
    assert (result.exit_code, "cancelled" in result.stderr) == (1, True)


@NEEDS_KERNEL
def test_nobody_waits_any_more() -> None:
    begin = time.monotonic()
    result = execute("while True: pass", cancelled=lambda: time.monotonic() - begin > 0.5)
    assert (result.exit_code, "cancelled" in result.stderr) == (1, True)
    assert time.monotonic() - begin < 8


def test_a_rejected_script_is_not_run() -> None:
    result = run(Script(name="x", source="import os\ndef run(a): pass"), {}, {}, Limits())
    assert (result.exit_code, result.tier) == (1, "none")
    assert result.stderr == "custom workflow code rejected by safety policy"
    assert result.safety_rejections == ["banned_import: os"]


def test_a_machine_without_a_boundary_refuses_and_says_why() -> None:
    script = Script(name="x", source="def run(args): return []")
    result = run(script, {}, {}, Limits(), boundaries=Boundaries(0, False, ""))
    assert (result.exit_code, result.tier, result.success) == (70, "none", False)
    assert "no Landlock" in result.stderr
    assert 'set workflows.weakest_tier to "process"' in result.stderr


def test_a_script_of_triseeks_runs_without_a_boundary_and_unchecked() -> None:
    script = Script(
        name="x", trusted=True, source="import os\nif __name__ == '__main__': print('[1]')"
    )
    result = run(script, {}, {}, Limits(), boundaries=TIERS["process"])
    assert (result.tier, result.result_json) == ("process", [1])


def test_bad_arguments_are_the_callers_mistake() -> None:
    script = Script(name="x", source="def run(args): return []")
    with pytest.raises(ValueError, match="JSON"):
        run(script, {"x": float("nan")}, {}, Limits(), weakest="process")
    with pytest.raises(TypeError, match="named parameters"):
        run(script, {}, {"f": lambda *words: words}, Limits(), weakest="process")


def test_an_interpreter_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys._base_executable", "/nonexistent/python")
    result = execute("def run(args): return []", tier="process")
    assert result.exit_code == 70
    assert "runner failed to start subprocess: " in result.stderr


def test_json_arguments_survive() -> None:
    args: dict[str, Any] = {"deep": json.loads("[" * 50 + "]" * 50), "n": 10**30, "s": "\x00\n"}
    assert execute("def run(args): return args", args, tier="process").result_json == args


@EACH_TIER
def test_threads_are_counted(tier: Tier) -> None:
    source = """
import threading
threading.stack_size(1 << 15)
wait = threading.Event().wait
def main():
    while True:
        threading.Thread(target=wait, daemon=True).start()
"""
    result = execute(source, tier=tier)
    assert result.exit_code == 137
    assert "ended for more than 256 threads and processes" in result.stderr


def test_a_hundred_threads_are_no_bomb() -> None:
    source = """
import threading, time
threading.stack_size(1 << 15)
def run(args):
    threads = [threading.Thread(target=time.sleep, args=(0.3,)) for _ in range(100)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return len(threads)
"""
    assert execute(source, tier="process").exit_code == 100
