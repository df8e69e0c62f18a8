"""Commands put together by chance: what is said to be only a read is just what bash shows."""

from __future__ import annotations

import os
import random
import subprocess

import pytest

from triseek.agents.shell.shell_reads import shell_use, without_numbers

pytestmark = pytest.mark.slow

_COMMANDS = (
    "cat a", "head -n 5 a", "sed -n '2,9p' a", "tail -n 4 a", "nl -ba a", "cd sub && cat c",
    "cat a | head -3", "",
)  # fmt: skip
_TEXT = r"""
cat head tail sed nl -n -5 -n5 5 2,4p '2,4p' "3p" -ne -e $p '$p' a b sub/c ./a c ../a -- - -q +3
-n+3 -c --lines=4 --lines -ba -b | | && && ; || cd sub .. > 2>/dev/null 2>&1 & # \ 'a' "a" '' ""
$x "$x" '$x' * ? {a,b} { } echo true ~ -v '1,2p;4q' 3q ! [a] '1,3p;5,6p' '2,+2p' '5,2p' =a -E -nE
-n2,3p < ( ) ` -w 3 printf time -1 0 -n0 -A
"""
_WORDS = (*_TEXT.split(), "\n", "\\\n", "\t", '"sp ace"', "sp\\ ace")


def _command(chance):
    words = chance.choice(_COMMANDS).split()
    for _ in range(chance.randint(0, 4)):
        at = chance.randint(0, len(words))
        words[at : at + chance.choice([0, 0, 1])] = [chance.choice(_WORDS)]
    return (" " if chance.random() < 0.95 else "").join(words)


def _claimed(reads):
    for read in reads:
        with open(read.path) as file:
            lines = file.read().splitlines()
        yield from lines[-read.tail :] if read.tail else lines[read.first - 1 : read.last]


@pytest.mark.parametrize("seed", range(4))
def test_what_is_only_a_read_shows_just_what_was_said(seed, tmp_path):
    chance = random.Random(seed)
    (tmp_path / "sub").mkdir()
    for name in ("a", "b", "sub/c", "5", "-n", "sp ace", "$x"):
        lines = [f"{name} {number}" if number % 7 else "" for number in range(1, 31)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    compared = 0
    for _ in range(10_000):
        command = _command(chance)
        told = shell_use(command, str(tmp_path))
        if not told.only_reads:
            continue
        ran = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=60, check=False,
        )  # fmt: skip
        if ran.returncode or not all(os.path.exists(each.path) for each in told.reads):
            continue  # what is not there is neither credited nor refused
        compared += 1
        shown = (without_numbers(ran.stdout) if told.numbered else ran.stdout).splitlines()
        claimed = list(_claimed(told.reads))
        rest = iter(shown)
        assert all(any(line == each for each in rest) for line in claimed), command
        if "echo" not in command and "printf" not in command:
            other = {line for line in shown if line and not line.startswith("==> ")}
            assert other <= set(claimed), command
    assert compared > 500
