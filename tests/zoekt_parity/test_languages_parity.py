"""Languages of files: the real Zoekt's names and ours."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests import zoekt_programs
from tests.zoekt_parity import server
from triseek.query.zoekt.languages import language_of

if TYPE_CHECKING:
    from tests.zoekt_parity.conftest import Served

pytestmark = pytest.mark.long

TREES = [sysconfig.get_path("purelib"), sysconfig.get_path("stdlib"), "/usr/local/go/src", "/etc"]
FILES = 2000
SHARE = 0.95
"""Least share of a tree's files that have Zoekt's name; /etc is mostly files without endings."""


def test_names_of_the_repositories_are_zoekts(served: Served) -> None:
    different = {
        (file["FileName"], file["Language"], ours)
        for file in server.files(served.url, "f:.")
        if (ours := _ours(served.trees[file["Repository"]], file["FileName"])) != file["Language"]
    }
    assert not different


@pytest.mark.slow
@pytest.mark.parametrize("source", TREES)
def test_names_of_a_real_tree_are_zoekts(source: str, tmp_path: Path) -> None:
    if not Path(source).is_dir():
        pytest.skip(f"{source} is not here")
    try:
        zoekt_programs.installed()
    except zoekt_programs.Unreachable as error:
        pytest.skip(str(error))
    tree, indexes = tmp_path / "tree", tmp_path / "indexes"
    indexes.mkdir()
    _sample(Path(source), tree)
    zoekt_programs.index(tree, indexes, "-disable_ctags")
    with zoekt_programs.serving(indexes) as url:
        files = server.files(url, "f:.")
    equal = sum(_ours(tree, file["FileName"]) == file["Language"] for file in files)
    print(f"{source}: {equal} of {len(files)} names are equal ({equal / len(files):.1%})")
    assert equal > SHARE * len(files)


def _ours(tree: Path, name: str) -> str:
    return language_of(name.encode(), (tree / name).read_bytes())


def _sample(source: Path, target: Path) -> None:
    files = sorted(
        path
        for path in source.rglob("*")
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts
        and path.stat().st_size < 1 << 20
    )  # fmt: skip
    for path in Random(1).sample(files, min(FILES, len(files))):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
