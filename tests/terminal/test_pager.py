"""The pager is the user's, and Ctrl-C is the pager's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from triseek.terminal import pager


def test_ctrl_c_is_the_pagers_own(tmp_path):
    """As in less: it does not end the command, whose pager would be left without a terminal."""
    waits = tmp_path / "waits"
    waits.write_text("#!/bin/sh\ntrap 'echo caught' INT\necho ready\nsleep 1\ncat >/dev/null\n")
    waits.chmod(0o755)
    with subprocess.Popen(
        [sys.executable, "-c", START.format(pager=str(waits))], cwd=tmp_path,
        stdout=subprocess.PIPE, start_new_session=True, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, 2)
        rest = process.stdout.read()

    assert (rest, process.returncode) == ("caught\nwritten\n", 0)


START = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["PAGER"] = {pager!r}
sys.stdout.isatty = lambda: True
from triseek.terminal.pager import paged
with paged() as write:
    for _ in range(20_000):
        write("a line\\n")
print("written")
"""


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, ["less"]),
        ({"PAGER": "less -S"}, ["less", "-S"]),
        ({"PAGER": "'my pager' -x"}, ["my pager", "-x"]),
        ({"PAGER": " "}, []),
        ({"PAGER": "cat"}, []),
        ({"PAGER": "'"}, []),
    ],
)
def test_the_pager_is_the_users(environ, words):
    assert pager.command(environ) == words


def test_without_a_terminal_text_goes_to_standard_output(capfdbinary):
    with pager.paged() as write:
        write("é\n")

    assert capfdbinary.readouterr().out == "é\n".encode()
