"""The real ripgrep, of the version we measure ourselves by, asked for its list of files."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys

import pytest

VERSION = b"ripgrep 15.1.0"


@functools.cache
def program() -> str:
    """Path of rg 15.1.0, beside this interpreter or on PATH; without one the test is skipped."""
    beside = os.path.join(os.path.dirname(sys.executable), "rg")
    for path in (beside, shutil.which("rg")):
        if path and os.access(path, os.X_OK):
            said = subprocess.run([path, "--version"], capture_output=True, check=True).stdout
            if said.startswith(VERSION):
                return path
    pytest.skip("needs rg 15.1.0")


def files(
    root: bytes | str | os.PathLike[str], *arguments: str, environment: dict[str, str]
) -> list[bytes]:
    """What `rg --files --sort path` lists, started in `root`."""
    command = [program(), "--no-config", "--files", "--sort", "path", "--null", *arguments]
    done = subprocess.run(
        command,
        cwd=os.fsencode(root),
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert b"error: " not in done.stderr, done.stderr
    return done.stdout.split(b"\0")[:-1]
