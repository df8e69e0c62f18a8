"""One root's maintenance, turn by turn, on a real tree and index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from triseek.daemon import root_maintainer
from triseek.daemon.index_jobs import IndexJobs
from triseek.daemon.root_maintainer import RootMaintainer
from triseek.engine.engine import Engine
from triseek.errors import BackendFailure
from triseek.index.build import build
from triseek.index.merge import TIER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[RootMaintainer]:
    root = tmp_path / "root"
    root.mkdir()
    for number in range(200):
        (root / f"{number}.txt").write_text("some words\n" * 200)
    build(str(root), str(tmp_path / "index"))
    engine = Engine(str(root), index_dir=str(tmp_path / "index"))
    index_jobs = IndexJobs()
    index_jobs.warm.set()
    yield RootMaintainer(engine, index_jobs, may_build=False, folders_max=100)
    engine.unwatch()


def test_a_tree_that_never_rests_does_not_gather_segments(
    kept: RootMaintainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(root_maintainer, "PATIENCE_S", 0.0)
    monkeypatch.setattr(root_maintainer, "FEW", 0)
    kept._quiet_s = 1_000.0

    for number in range(4 * TIER):
        (tmp_path / "root" / f"new-{number}.txt").write_text(f"words of {number}\n")
        kept._turn()

    assert kept.engine.reader().generation > 2 * TIER
    assert len(kept.engine.reader().views) <= TIER + 1


def test_no_child_is_started_for_a_root_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(BackendFailure, match=r"^the folder is gone$"):
        IndexJobs().run("update", str(tmp_path / "gone"))
