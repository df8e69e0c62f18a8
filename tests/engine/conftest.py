"""What several tests of the engine ask for."""

from __future__ import annotations

import os

import pytest

from tests.engine import answers
from triseek.engine.engine import Engine
from triseek.index.build import build

WORDS = ("alpha", "beta", "gamma", "needle")


@pytest.fixture
def followed(tmp_path):
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    os.makedirs(f"{root}/.git")
    files = {f"d{i}/s{j}/f{k}.txt": f"{WORDS[k % 4]} {i} {j}\n" for i in range(3) for j in range(3)
             for k in range(4)}  # fmt: skip
    answers.write(root, {**files, "top.txt": "needle\n", ".gitignore": "*.log\nbuild/\n"})
    build(root, index_dir)
    engine = Engine(root, index_dir=index_dir)
    engine.watch(str(tmp_path / "cookies"))
    yield engine
    engine.unwatch()
