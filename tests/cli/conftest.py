"""A tree planted once, and a state folder of its own for each test session."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import triseek
from tests.cli.trees import plant

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant(tmp_path_factory.mktemp("cli") / "tree")


@pytest.fixture(scope="session")
def indexed_tree(tmp_path_factory: pytest.TempPathFactory, state: Path) -> Path:
    """The same tree with an index. Compiles kernels where that has not been done."""
    root = plant(tmp_path_factory.mktemp("indexed") / "tree")
    (root / "pats.txt").write_text("needle\nfoo.\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRISEEK_HOME", str(state))
        built = triseek(["build"], root)
    assert built.status == 0, built.err
    return root


@pytest.fixture(scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(autouse=True)
def _own_state(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRISEEK_HOME", str(state))
    monkeypatch.delenv("RIPGREP_CONFIG_PATH", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture
def needs_rg() -> None:
    if shutil.which("rg") is None:
        pytest.skip("rg is not on PATH")
