"""What the fast path may load: seen from a process that has loaded nothing yet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLAIN = {
    "abc",
    "codecs",
    "encodings",
    "genericpath",
    "io",
    "os",
    "os.path",
    "posixpath",
    "site",
    "stat",
}
"""What a bare interpreter has, or nearly."""
FROZEN = {"_socket", "time", "_abc", "_codecs", "_collections_abc", "_io", "_stat", "__future__"}


def loaded_by(statement: str, *flags: str) -> set[str]:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\nbefore = set(sys.modules)\n"
    code += f"{statement}\nprint(*sorted(set(sys.modules) - before), sep='\\n')"
    done = subprocess.run(
        [sys.executable, *flags, "-c", code], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_frames_and_the_address_load_nothing_but_the_socket():
    found = loaded_by("import triseek.ipc.wire, triseek.ipc.address", "-S", "-E")

    ours = {name for name in found if name.split(".")[0] == "triseek"}
    assert ours == {
        "triseek",
        "triseek.paths",
        "triseek.ipc",
        "triseek.ipc.wire",
        "triseek.ipc.address",
    }
    assert found - ours <= PLAIN | FROZEN


def test_connecting_loads_nothing_more(tmp_path):
    statement = (
        f"import os; os.environ['TRISEEK_HOME'] = {str(tmp_path)!r}\n"
        "from triseek.ipc import address\n"
        "try: address.connect(1)\nexcept address.Absent: pass"
    )
    found = loaded_by(statement, "-S", "-E")

    assert {name for name in found if name.split(".")[0] != "triseek"} <= PLAIN | FROZEN


@pytest.mark.parametrize("module", ["client", "spawn", "lock"])
def test_the_rest_of_the_package_loads_nothing_heavy(module):
    found = {name.split(".")[0] for name in loaded_by(f"import triseek.ipc.{module}")}

    assert found.isdisjoint(
        ("numpy", "numba", "pyarrow", "typer", "rich", "asyncio", "socket", "subprocess", "logging")
    )
