"""Where one stands and how a path was typed: names, globs, depths and links are ripgrep's."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import command, rg, triseek
from tests.cli.trees import plant
from triseek.cli.operands import OperandPlace, runs
from triseek.cli.resolve import Operand

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.rg, pytest.mark.usefixtures("needs_rg")]

FROM_THE_ROOT = [
    "needle", "-L needle", "needle link.txt", "needle linkdir", "needle linkdir/", "needle broken",
    "-L -l needle sub", "needle ../outside.txt", "needle ..", "needle ../other .", "--files ..",
    "-g '/a/*.txt' needle .", "-g '*.txt' needle ../other", "--files linkdir", "--files broken",
    "-l needle a/../a", "-l needle a/.", "-l needle ./a/..", "-l needle a//c",
]  # fmt: skip

FROM_BELOW = [
    "needle", "needle .", "-g 'c/*.py' needle", "-g '/c/*.py' needle", "-g '!c' needle",
    "-d1 -l needle", "-d2 -l needle", "--files", "--files -d1", "-l needle ..", "-l needle ../sub",
    "-l needle c", "-c needle b.txt ../z.c", "--iglob 'C/*.PY' needle", "-l -g 'a/*' needle ../",
    "-d1 -l needle c", "-l needle --max-filesize 30", "-tpy -l needle", "-l -uu needle",
]  # fmt: skip


def furnish(base: Path) -> Path:
    root = plant(base / "tree")
    for target, link in (
        ("a.txt", "link.txt"), ("a", "linkdir"), ("nowhere", "broken"), ("..", "sub/loop"),
        ("tree", "../alias"),
    ):  # fmt: skip
        os.symlink(target, root / link)
    (base / "outside.txt").write_text("needle outside\n")
    (base / "other").mkdir()
    (base / "other/o.txt").write_text("needle other\n")
    return root


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return furnish(tmp_path_factory.mktemp("places"))


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, state: Path) -> Path:
    root = furnish(tmp_path_factory.mktemp("indexed places"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRISEEK_HOME", str(state))
        assert triseek(["build"], root).status == 0
    return root


def same(words: str, folder: Path) -> None:
    mine, its = triseek(shlex.split(words), folder), rg(shlex.split(words), folder)

    assert (mine.status, mine.out) == (its.status, its.out)


@pytest.mark.parametrize("words", FROM_THE_ROOT)
def test_paths_are_shown_as_they_were_typed(words: str, furnished: Path) -> None:
    same(words, furnished)


@pytest.mark.parametrize("words", FROM_BELOW)
def test_globs_and_depths_count_from_where_one_stands(words: str, furnished: Path) -> None:
    same(words, furnished / "a")


@pytest.mark.slow
@pytest.mark.parametrize("words", FROM_BELOW)
def test_an_index_of_a_folder_above_changes_nothing(words: str, indexed: Path) -> None:
    same(words, indexed / "a")


def test_absolute_paths_stay_absolute(furnished: Path) -> None:
    same(f"needle '{furnished}'", furnished)
    same(f"-H needle '{furnished / 'a.txt'}'", furnished / "a")


def test_standing_behind_a_link_is_standing_there(furnished: Path) -> None:
    same("needle", furnished.parent / "alias")
    same("-l needle ..", furnished.parent / "alias" / "a")


def test_names_that_are_not_utf8_can_be_named(tree: Path) -> None:
    name = os.fsdecode(b"nonutf8-\xff.txt")

    mine, its = command(["-H", "needle", name], tree), rg(["-H", "needle", name], tree)

    assert mine.out == its.out == b"nonutf8-\xff.txt:needle\n"


def test_neighbouring_files_are_one_search() -> None:
    a, b, folder, c = (Operand(name, kind) for name, kind in (
        ("a", "file"), ("b", "file"), ("d", "tree"), ("c", "file"),
    ))  # fmt: skip

    assert list(runs((a, b, folder, c))) == [(a, b), (folder,), (c,)]


@pytest.mark.parametrize(
    ("inside", "typed", "shown"),
    [
        (b"", "", b"sub/a.py"),
        (b"sub", "", b"a.py"),
        (b"sub", ".", b"./a.py"),
        (b"", "../x/", b"../x/sub/a.py"),
    ],
)
def test_a_path_is_shown_as_ripgrep_would_print_it(inside: bytes, typed: str, shown: bytes) -> None:
    naming = OperandPlace(None, inside, typed)  # type: ignore[arg-type]

    assert naming.shown(b"sub/a.py") == shown
    assert naming.all_shown([b"sub/a.py"]) == [shown]
