"""build, update, index-status, check, measure, warmup and stats export, for real."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import triseek
from tests.cli.trees import plant

if TYPE_CHECKING:
    from pathlib import Path


def test_a_tree_is_measured_without_an_index(tmp_path: Path) -> None:
    root = plant(tmp_path / "tree")

    measured = json.loads(triseek(["measure", "--json", str(root)], tmp_path).out)

    assert measured["category"] == "small"
    assert measured["files"] == sum(each["files"] for each in measured["extensions"])


def test_without_an_index_its_status_says_so_with_1(tmp_path: Path) -> None:
    outcome = triseek(["index-status"], tmp_path)

    assert outcome.status == 1
    assert "no index; run `triseek build`" in outcome.out.decode()


def test_a_check_without_an_index_is_an_error_with_a_next_step(tmp_path: Path) -> None:
    outcome = triseek(["check"], tmp_path)

    assert outcome.status == 2
    assert "triseek build" in outcome.err


@pytest.mark.slow
def test_an_index_is_built_used_updated_checked_and_exported(tmp_path: Path) -> None:
    """Compiles the kernels where that has not been done."""
    root = plant(tmp_path / "tree")
    report = json.loads(triseek(["build", "--json"], root).out)
    assert report["generation"] == 1
    assert report["files_indexed"] > 20

    assert "index (" in triseek(["needle"], root, terminal=True).out.decode(errors="replace")
    (root / "new.txt").write_text("a needle, newly\n")
    assert b"new.txt:a needle, newly\n" in triseek(["needle"], root).out
    assert json.loads(triseek(["update", "--json"], root).out)["generation"] == 2

    status = json.loads(triseek(["index-status", "--json", "a"], root).out)
    assert status["present"]
    assert status["generation"] == 2
    assert triseek(["check"], root).status == 0
    assert triseek(["reindex"], root).status == 0
    written = json.loads(
        triseek(["stats", "export", "--format", "json", "--out", str(tmp_path), "--json"], root).out
    )["written"]
    assert len(written) == 3
    assert triseek(["stats", "export", "--format", "xls"], root).status == 2


@pytest.mark.slow
def test_kernels_are_warmed(tmp_path: Path) -> None:
    assert json.loads(triseek(["warmup", "--json"], tmp_path).out)["kernels"] > 5
