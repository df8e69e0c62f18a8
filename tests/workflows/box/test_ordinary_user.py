"""The walls hold for users without rights too: root could do without some of the kernel's rules."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.workflows.box import goals
from tests.workflows.box.machine import HERE, NEEDS_KERNEL

pytestmark = [pytest.mark.long, NEEDS_KERNEL]
_NOBODY = "65534"
_ROOT = Path(__file__).parents[3]
_MODULE = "tests.workflows.box.as_ordinary_user"


def test_attacks_of_an_ordinary_user_reach_nothing() -> None:
    if os.geteuid() != 0:
        pytest.skip("the other tests run as an ordinary user already")
    setpriv, python = shutil.which("setpriv"), shutil.which("python3", path="/usr/bin")
    if setpriv is None or python is None:
        pytest.skip("needs setpriv and an interpreter that everybody may execute")
    drop = [setpriv, "--reuid", _NOBODY, "--regid", _NOBODY, "--clear-groups"]
    probe = [*drop, python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
    if subprocess.run(probe, cwd="/", check=False, capture_output=True).returncode:
        pytest.skip("the system's interpreter is too old")
    environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = str(_ROOT)
    done = subprocess.run(
        [*drop, python, "-m", _MODULE],
        cwd="/", env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if "Permission denied" in done.stderr or "No module named" in done.stderr:
        pytest.skip(f"this checkout cannot be read by everybody: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["uid"] for row in rows} == {int(_NOBODY)}
    assert [row for row in rows if row["breaches"]] == []
    kernel = [row for row in rows if row["tier"] == "kernel"]
    assert [row["goal"] for row in kernel] == list(goals.GOALS)
    assert [row for row in kernel if row["exit_code"]] == []
    if HERE.bubblewrap and len(rows) > len(kernel):
        assert {row["tier"] for row in rows} == {"kernel", "bubblewrap"}
