"""A disk that fills up during build or update: one clear line, and the old index still answers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import Outcome, triseek
from tests.e2e.generated import GeneratedTree
from tests.e2e.test_crash import folder_of, leftovers
from triseek.kernels import cache

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
FILES = 1_500


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file system of 4 MB as the state folder."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("root may not mount here: see the test with a limit on file sizes")
    monkeypatch.setenv("TRISEEK_HOME", str(disk))
    # Kernels are compiled by now, elsewhere: the disk is for the index alone.
    monkeypatch.setenv("NUMBA_CACHE_DIR", cache.directory())
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.mark.root
@pytest.mark.parametrize("verb", ["build", "update"])
def test_a_full_disk_leaves_the_old_index_as_it_was(
    verb: str, small_disk: Path, tmp_path: Path
) -> None:
    tree = GeneratedTree(tmp_path / "tree", FILES // 3)
    assert triseek(["build"], tree.root).status == 0
    before = answers(tree)
    grow(tree)
    (small_disk / "ballast").write_bytes(b"\0" * (free(small_disk) - 300_000))
    kept = listing(folder_of(tree.root))

    full = triseek([verb], tree.root)

    complains_in_one_line(full)
    assert "No space left" in full.err
    assert listing(folder_of(tree.root)) == kept
    assert leftovers(folder_of(tree.root)) == []
    assert answers(tree)[1:] == before[1:]
    right = triseek(["--engine=scan", "-n", *ALL], tree.root)
    assert triseek(["--engine=index", "-n", *ALL], tree.root) == right

    (small_disk / "ballast").unlink()
    again = triseek([verb], tree.root)
    assert again.status == 0 or "No space left" in again.err


@pytest.mark.root
def test_a_first_build_on_a_full_disk_leaves_nothing_and_searches_go_on(
    small_disk: Path, tmp_path: Path
) -> None:
    tree = GeneratedTree(tmp_path / "tree", FILES)
    (small_disk / "ballast").write_bytes(b"\0" * (free(small_disk) - 200_000))

    full = triseek(["build"], tree.root)

    complains_in_one_line(full)
    assert [path for path in folder_of(tree.root).rglob("*") if path.is_file()] in (
        [],
        [folder_of(tree.root) / "lock"],
    )
    found = triseek(["-n", "token_of_file_0001"], tree.root)
    assert found.status == 0
    assert found.out == triseek(["--engine=scan", "-n", "token_of_file_0001"], tree.root).out


@pytest.mark.parametrize("verb", ["build", "update"])
def test_a_limit_on_file_sizes_is_an_error_like_a_full_disk(verb: str, tmp_path: Path) -> None:
    """Where nobody may mount: writing past RLIMIT_FSIZE fails with EFBIG."""
    tree = GeneratedTree(tmp_path / "tree", FILES // 3)
    assert triseek(["build"], tree.root).status == 0
    grow(tree)
    kept = listing(folder_of(tree.root))

    full = limited([verb], tree.root, 60_000)

    complains_in_one_line(full)
    assert "File too large" in full.err
    assert listing(folder_of(tree.root)) == kept
    right = triseek(["--engine=scan", "-n", *ALL], tree.root)
    assert triseek(["--engine=index", "-n", *ALL], tree.root) == right


ALL = ["-e", "token_of_file_0003", "-e", "grown_0001", "-e", "token_of_change"]


def grow(tree: GeneratedTree) -> None:
    """Many new files, but fewer than would make an update a build."""
    tree.change(0)
    for number in range(100):
        noise = os.urandom(3_000).hex()
        (tree.root / f"grown{number:04d}.txt").write_text(f"grown_{number:04d}\n{noise}\n")


def answers(tree: GeneratedTree) -> list[bytes]:
    return [triseek(["-n", token], tree.root).out for token in ("grown_0001", "token_of_file_0003")]


def complains_in_one_line(full: Outcome) -> None:
    assert full.status == 2, full.err
    assert full.err.startswith("triseek: cannot write the index")
    assert full.err.count("\n") == 1


def limited(words: list[str], folder: Path, size: int) -> Outcome:
    """triseek as a process that may not write larger files."""
    program = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size})); "
        "from triseek.cli import main; sys.exit(main.run(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr.decode())


def listing(folder: Path) -> dict[str, int]:
    """Every file of an index but the writer's lock and the reader's memo, with its size."""
    return {
        str(path.relative_to(folder)): path.stat().st_size
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("lock", "checked.json")
    }


def free(disk: Path) -> int:
    found = os.statvfs(disk)
    return found.f_bavail * found.f_frsize
