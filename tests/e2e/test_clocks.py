"""The wall clock is set ten days ahead or back under a daemon: no answer changes, nothing is lost.

Every process of the test reads the time with a shift, which a file says: `sitecustomize` in a
folder of PYTHONPATH. Times of files are those of the kernel, so they lie in the future or the past.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests import rg
from tests.conftest import plant
from tests.e2e.living import Living

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.long

DAYS_S = 10 * 24 * 3600
SHIFTED = """
import os, time

def shifted(real, unit):
    def now():
        with open(os.environ["TEST_CLOCK"]) as shift:
            return real() + int(shift.read()) * unit
    return now

time.time, time.time_ns = shifted(time.time, 1), shifted(time.time_ns, 10**9)
"""


@pytest.mark.rg
@pytest.mark.parametrize("shift", [DAYS_S, -DAYS_S], ids=["ahead", "back"])
def test_a_clock_that_is_set_changes_no_answer(tmp_path: Path, shift: int) -> None:
    root, clock = tmp_path / "tree", tmp_path / "clock"
    plant(root, {f"f{number}.txt": f"needle {number}\n" for number in range(30)})
    plant(tmp_path / "patch", {"sitecustomize.py": SHIFTED})
    clock.write_text("0")
    with Living(tmp_path / "state") as living:
        living.env |= {"PYTHONPATH": str(tmp_path / "patch"), "TEST_CLOCK": str(clock)}
        assert living.run("build", cwd=root).status == 0
        living.start()
        living.wait_watched(str(root))
        assert living.run("session", "open", "before", cwd=root).status == 0
        assert living.run("snapshot", "create", cwd=root).status == 0

        clock.write_text(str(shift))
        for number, at in enumerate((None, shift, -shift)):
            edit(root / "f7.txt", f"edited {number}\n", at)
            assert_same(living, root)
        assert living.run("session", "open", "after", cwd=root).status == 0
        assert living.run("snapshot", "create", cwd=root).status == 0
        assert_both_are_listed(living, root, shift)

        assert living.run("daemon", "stop").status == 0
        edit(root / "f8.txt", "edited 3\n", shift)
        assert_same(living, root)
        assert living.run("update", cwd=root).status == 0
        assert_same(living, root)
        living.let_start_again()
        living.start()
        living.wait_watched(str(root))
        clock.write_text("0")
        edit(root / "f9.txt", "edited 4\n", None)
        assert_same(living, root)
        assert_both_are_listed(living, root, shift)
        assert living.run("check", cwd=root).status == 0


def edit(path: Path, text: str, seconds: int | None) -> None:
    """Write a file, and set its time so far from now; None leaves it as it is."""
    path.write_text(text)
    if seconds is not None:
        at = path.stat().st_mtime + seconds
        os.utime(path, (at, at))


def assert_same(living: Living, root: Path) -> None:
    """The command line answers what ripgrep answers."""
    for words in (["-n", "edited|needle 7"], ["-c", "."]):
        said = living.run(*words, cwd=root)
        found = subprocess.run(
            [rg.program(), "--no-config", "--sort", "path", *words],
            cwd=root, stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
        assert (said.status, said.out) == (found.returncode, found.stdout), said


def assert_both_are_listed(living: Living, root: Path, shift: int) -> None:
    """Both sessions and their snapshots are there, as far apart as the clock was set."""
    listed = json.loads(living.run("session", "list", "--json", cwd=root).out)["sessions"]
    created = {each["goal"]: each["created_at"] for each in listed}
    assert set(created) == {"before", "after"}
    assert abs(created["after"] - created["before"] - shift) < DAYS_S / 10
    snapshots = json.loads(living.run("snapshot", "list", "--json", cwd=root).out)["snapshots"]
    assert len(snapshots) == 2
