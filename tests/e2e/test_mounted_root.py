"""File systems that are mounted over a root, or below it, and go again, while a daemon watches.

The mounts are those of a namespace, so that nobody else on the machine sees them. The whole test
runs in it as a process of its own: this file, as a module.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import namespaces, rg
from tests.e2e.living import ROOT, Living

pytestmark = pytest.mark.long

TMPFS = "mount -t tmpfs none /mnt"
PATTERN = "of_the_(disk|mount)"
ASKED = (["-n", PATTERN], ["-l", "."], ["--files"], ["-n", PATTERN, "sub"])


@pytest.mark.rg
@pytest.mark.skipif(bool(namespaces.refusal(TMPFS)), reason=namespaces.refusal(TMPFS))
def test_answers_are_those_of_what_is_mounted_now(home, tmp_path):
    done = subprocess.run(
        namespaces.command(
            sys.executable, "-m", "tests.e2e.test_mounted_root", str(home), str(tmp_path)
        ),
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr


def main(home: str, folder: str) -> None:
    """What the test does, inside the namespace."""
    root = Path(folder) / "tree"
    plant(root, "of_the_disk")
    with Living(home) as living:
        assert living.run("build", cwd=root).status == 0
        living.start()
        living.wait_watched(str(root))
        for number in range(2):
            for place in (root, root / "sub"):
                mount("-t", "tmpfs", "none", place)
                assert_same(living, root)
                plant(place, "of_the_mount")
                assert_same(living, root)
                (place / "file.txt").write_text(f"of_the_mount, edited {number}\n")
                assert_same(living, root)
                subprocess.run(["umount", place], check=True)
                assert_same(living, root)
                (root / "sub/file.txt").write_text(f"of_the_disk, edited {number}\n")
                assert_same(living, root)
        assert b"of_the_disk, edited 1" in living.run("-n", PATTERN, cwd=root).out


def plant(folder: Path, text: str) -> None:
    """Make the folder, and files in it and in a folder below."""
    (folder / "sub").mkdir(parents=True, exist_ok=True)
    for name in ("file.txt", "sub/file.txt", f"{text}.txt"):
        (folder / name).write_text(f"{text}\n")


def mount(*words: str | Path) -> None:
    """Mount, seen by this namespace alone."""
    subprocess.run(["mount", *words], check=True)


def assert_same(living: Living, root: Path) -> None:
    """The command line answers what ripgrep answers."""
    for words in ASKED:
        said = living.run(*words, cwd=root)
        found = subprocess.run(
            [rg.program(), "--no-config", "--sort", "path", *words],
            cwd=root, stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
        assert (said.status, said.out) == (found.returncode, found.stdout), (words, said)


if __name__ == "__main__":
    main(*sys.argv[1:])
