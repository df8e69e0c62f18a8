"""Programs that stand for clients, and a host that finds only those."""

from __future__ import annotations

import os
import textwrap

import pytest

from tests.e2e.living import Living
from tests.programs import SHELL_TRISEEK
from triseek.agents.doctor.host import DoctorHost


@pytest.fixture
def programs(tmp_path):
    """Write a shell script into the only folder of PATH but the system's; its path."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def write(name: str, script: str) -> str:
        path = folder / name
        path.write_text("#!/bin/sh\n" + textwrap.dedent(script))
        path.chmod(0o755)
        return str(path)

    write.folder = str(folder)
    return write


@pytest.fixture
def triseek(programs):
    """A program `triseek` that is this very one."""
    return programs("triseek", SHELL_TRISEEK)


@pytest.fixture
def host(programs, tmp_path):
    """A host in an empty folder; `host(program=…)` for one that is told more."""
    (tmp_path / "cwd").mkdir()

    def make(**more) -> DoctorHost:
        path = f"{programs.folder}{os.pathsep}/usr/bin{os.pathsep}/bin"
        given = {"cwd": str(tmp_path / "cwd"), "program": "", **more}
        return DoctorHost(environ={**os.environ, "PATH": path}, **given)

    return make


@pytest.fixture
def living(home):
    with Living(home) as living:
        yield living


def only(findings):
    """The finding of a check that has one."""
    found = list(findings)
    assert len(found) == 1, found
    return found[0]
