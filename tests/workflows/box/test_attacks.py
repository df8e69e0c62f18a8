"""Attacks reach nothing: the policy rejects them, and without it the walls hold.

`ways.py` and `goals.py` make more than 600 of them. Each is judged by what it tried to reach.
"""

from __future__ import annotations

import platform

import pytest

from tests.workflows.box import goals, ways
from tests.workflows.box.machine import HERE, NEEDS_BUBBLEWRAP, NEEDS_KERNEL, TIERS, execute
from tests.workflows.box.scene import attack, scene
from triseek.workflows.box.safety import check

ALL = [(way, goal) for way in ways.WAYS for goal in goals.GOALS]
_REACHES_OS = "out(lambda: 'IMPORTED ' + imp('os').__name__)"
_WITH_CONTROL = [name for name in goals.GOALS if name != "call the kernel"]


def test_there_are_hundreds() -> None:
    assert len(ALL) >= 300


@pytest.mark.parametrize("way", ways.WAYS)
def test_policy_rejects_every_way(way: str) -> None:
    assert check(ways.script(way, _REACHES_OS), {"search"})


@pytest.mark.long
@NEEDS_KERNEL
@pytest.mark.parametrize("goal", goals.GOALS)
def test_kernel_keeps_each_goal_out_of_reach(goal: str) -> None:
    _holds("plain import", goal)


@pytest.mark.long
@NEEDS_KERNEL
@pytest.mark.parametrize("way", list(ways.WAYS)[::8])
def test_ways_lead_to_modules_and_no_further(way: str) -> None:
    with scene() as stage:
        result, breaches = attack(ways.script(way, _REACHES_OS), stage)
    assert "IMPORTED os" in str(result.result_json), result.stderr
    assert breaches == []


@pytest.mark.long
@pytest.mark.parametrize("goal", _WITH_CONTROL)
def test_attacks_reach_their_goals_where_no_wall_is(goal: str) -> None:
    """Without this, a script with a mistake in it would pass for one that was contained."""
    with scene() as stage:
        _, breaches = attack(
            ways.script("plain import", goals.GOALS[goal]), stage,
            boundaries=TIERS["process"], weakest="process", trace=False,
        )  # fmt: skip
    assert breaches != []


@pytest.mark.long
@NEEDS_BUBBLEWRAP
@pytest.mark.parametrize("goal", goals.GOALS)
def test_bubblewrap_keeps_each_goal_out_of_reach(goal: str) -> None:
    with scene() as stage:
        _, breaches = attack(
            ways.script("plain import", goals.GOALS[goal]), stage,
            boundaries=TIERS["bubblewrap"], alone=False, trace=False,
        )  # fmt: skip
    assert breaches == []


_NATIVE = """
import ctypes, mmap
def run(args):
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(bytes.fromhex(CODE))
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return [ctypes.CFUNCTYPE(ctypes.c_int)(address)()]
"""
_BY_INTERRUPT = "b814000000cd80c3"  # mov eax, 20 (getpid of i386); int 0x80; ret
_BY_X32 = "b8270000400f05c3"  # mov eax, 0x40000000 | 39; syscall; ret
_BY_NUMBER = "b8270000000f05c3"  # mov eax, 39 (getpid); syscall; ret


@pytest.mark.long
@NEEDS_KERNEL
@pytest.mark.skipif(platform.machine() != "x86_64", reason="machine code of x86_64")
@pytest.mark.parametrize(
    ("code", "exit_code"), [(_BY_INTERRUPT, 159), (_BY_X32, 159), (_BY_NUMBER, 0)]
)
def test_system_calls_of_other_architectures_end_the_script(code: str, exit_code: int) -> None:
    result = execute(_NATIVE.replace("CODE", repr(code)))
    assert result.exit_code == exit_code, result.stderr  # 159: SIGSYS


@pytest.mark.slow
@NEEDS_KERNEL
@pytest.mark.parametrize("way", ways.WAYS)
def test_every_way_works(way: str) -> None:
    with scene() as stage:
        result, _ = attack(ways.script(way, _REACHES_OS), stage)
    assert "IMPORTED os" in str(result.result_json), result.stderr


@pytest.mark.slow
@NEEDS_KERNEL
@pytest.mark.parametrize(("way", "goal"), ALL)
def test_kernel_contains_all(way: str, goal: str) -> None:
    _holds(way, goal)


@pytest.mark.slow
@pytest.mark.parametrize(("way", "goal"), ALL)
def test_policy_rejects_all(way: str, goal: str) -> None:
    source = ways.script(way, goals.GOALS[goal])
    with scene() as stage:
        result, breaches = attack(source, stage, validate=True)
    assert result.safety_rejections
    assert breaches == []


@pytest.mark.slow
@pytest.mark.parametrize("goal", list(goals.GOALS)[:6])
@pytest.mark.parametrize("way", ways.WAYS)
def test_monty_contains_all(way: str, goal: str) -> None:
    pytest.importorskip("pydantic_monty")
    with scene() as stage:
        result, breaches = attack(ways.script(way, goals.GOALS[goal]), stage, runner="monty")
    assert result.tier == "monty"
    assert breaches == []


def _holds(way: str, goal: str) -> None:
    with scene() as stage:
        result, breaches = attack(ways.script(way, goals.GOALS[goal]), stage, boundaries=HERE)
    assert result.tier == "kernel"
    assert breaches == []
    # It has run to its end: it was not a mistake in it that kept it from its goal.
    assert result.exit_code == 0, result.stderr
