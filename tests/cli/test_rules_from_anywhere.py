"""Globs and ignore files count from the working folder, whatever the operand and the engine."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import rg, triseek
from tests.conftest import plant

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.rg, pytest.mark.usefixtures("needs_rg")]

ENGINES = ["scan", "rg", "index"]
REFUSED = "the index does not hold"

NAMES = [
    "a.log", "b.txt", "a/a.log", "a/x.txt", "a/s/b.txt", "s/a.log", "s/b.txt", "s/s/b.txt",
    "s/foo./x", "s/tree/b.txt", "a/tree.txt",
]  # fmt: skip

ROWS = [
    ("", "-l needle --ignore-file ../rules s"),
    ("s", "-l needle --ignore-file ../../rules"),
    ("s", "-l needle --ignore-file ../../rules .."),
    ("s", "-l needle --ignore-file ../../rules ../s"),
    ("", "-l needle"),
    ("", "-l needle s ./a"),
    ("s", "-l needle"),
    ("s", "-l needle .."),
    ("s", "-l needle ./"),
    ("s", "-l needle {tree}"),
    ("..", "-l needle tree"),
    ("..", "-l needle tree/s"),
    ("s", "-l -g '!/a' needle ../../tree"),
    ("s", "-l -g '/b.txt' needle ../../tree"),
    ("s", "-l -g 'a/*.txt' needle ../../tree"),
    ("s", "-l -g '**/s/*.txt' needle"),
    ("s", "-l -g 's/**' needle"),
    ("s", "-l -g '!s/*' needle .. ../s"),
    ("s", "--files -g '*/*' .."),
    ("s", "--files -g '#a/*' .."),
    ("s", "--files -g '**' .."),
    ("s", "--files -g '!{{s,tree}}' {tree}"),
    ("s", "--files -g '!b*' {tree}"),
    ("s", "--files -g '!tree/*' {tree}"),
    ("s", "--files -g '/s/*' {tree}/s"),
    ("", "--files -g 'foo.' --iglob '*/FOO./*'"),
    ("", "--files -g '{{a,{{s,x}}}}/*'"),
]
"""A working folder below (or above) the tree, and words."""


@pytest.fixture
def tree(tmp_path: Path, home: Path) -> Path:
    """A repository, and git's global excludes with a glob that is anchored."""
    root = tmp_path / "tree"
    root.mkdir()
    plant(root, dict.fromkeys(NAMES, "needle\n"))
    (root / ".git").mkdir()
    (tmp_path / "rules").write_text("/a.log\n../s/a.log\n")
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("/a.log\n/x\n")
    return root


def check(words: str, folder: Path, engine: str) -> None:
    given = ["--sort", "path", *shlex.split(words)]
    its = rg(given, folder)
    mine = triseek(["--engine", engine, *given], folder)
    if engine == "index" and REFUSED in mine.err:
        mine = triseek(given, folder)
    assert (mine.status, mine.out) == (its.status, its.out), (words, folder, mine.err)


@pytest.mark.parametrize(("below", "words"), ROWS)
@pytest.mark.parametrize("engine", ENGINES)
def test_globs_and_ignore_files_count_from_the_working_folder(
    engine: str, below: str, words: str, tree: Path
) -> None:
    if engine == "index":
        assert triseek(["build"], tree).status == 0
    check(words.format(tree=tree), tree / below, engine)


@pytest.mark.parametrize("glob", ["/", "/{}", "{}", "**/{}", "//"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_glob_of_the_empty_path_leaves_out_the_working_folder(
    engine: str, glob: str, tree: Path, home: Path
) -> None:
    if engine == "index":
        assert triseek(["build"], tree).status == 0
    (tree.parent / "rules").write_text(f"{glob}\n")
    for asked in ("--files", "-l needle"):
        for operand in ("..", ".", "", str(tree), str(tree / "a")):
            check(f"{asked} -g '!{glob}' {operand}", tree / "s", engine)
            check(f"{asked} --ignore-file ../../rules {operand}", tree / "s", engine)
    (home / ".config/git/ignore").write_text(f"{glob}\n")
    check("--files ..", tree / "s", engine)
    check(f"--files {tree}", tree, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_invalid_glob_above_is_an_error_beside_the_results(engine: str, tree: Path) -> None:
    if engine == "index":
        assert triseek(["build"], tree).status == 0
    (tree.parent / ".gitignore").write_text("*}\nb.txt\n")
    for words in ("-l needle", "--files", "-q needle", "-l nothing"):
        check(words, tree, engine)
    mine = triseek(["--engine", engine, "-l", "needle"], tree)
    assert mine.status == 2
    assert f"{tree.parent}/.gitignore: line 1: invalid glob" in mine.err


def test_an_invalid_glob_in_the_tree_is_no_error(tree: Path) -> None:
    (tree / ".ignore").write_text("*}\nb.txt\n")
    check("-l needle", tree, "scan")


@pytest.mark.parametrize(
    "words",
    [
        "--files -g '{a,b' b.txt", "--files -t nosuch b.txt", "-q --files -g '{a,b' b.txt",
        "-Tall --type-clear=c x b.txt",
    ],
)  # fmt: skip
def test_an_invalid_filter_is_an_error_where_only_files_are_named(words: str, tree: Path) -> None:
    check(words, tree, "scan")


@pytest.mark.parametrize("words", ["--files --follow", "-l --follow needle", "--files -L s"])
def test_a_loop_is_an_error_beside_the_results(words: str, tree: Path) -> None:
    os.symlink("..", tree / "s/loop")
    check(words, tree, "scan")


@pytest.mark.parametrize("engine", ["scan", "rg"])
@pytest.mark.parametrize(
    "words", ["needle bin", "x bin", "-q needle bin", "-q needle s", "needle s"]
)
def test_a_binary_file_counts_as_one_without_a_match(words: str, engine: str, tree: Path) -> None:
    plant(tree, {"bin/x": b"\0needle\n"})
    check(f"--files-without-match {words}", tree, engine)


def test_a_size_that_no_file_can_have_is_refused(tree: Path) -> None:
    check("--files --max-filesize 34359738368G", tree, "scan")
    check("--files --max-filesize 17179869183G", tree, "scan")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_relative_path_in_a_git_file_counts_from_the_working_folder(
    engine: str, tmp_path: Path, home: Path
) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    plant(root, {"a.log": "needle\n", "b": "needle\n", "sub/a.log": "needle\n"})
    plant(root, {".git": "gitdir: ../meta\n"})
    plant(tmp_path, {"meta/commondir": "../main\n", "main/info/exclude": "a.log\n"})
    if engine == "index":
        assert triseek(["build"], root).status == 0
    for below, words in ((".", "-l needle"), ("sub", "-l needle .."), ("..", "-l needle tree")):
        check(words, root / below, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rule_above_holds_in_a_folder_below(engine: str, tmp_path: Path) -> None:
    """ripgrep's own r2770_gitignore_error and f1757."""
    root = tmp_path / "tree"
    plant(root, {".git/HEAD": "", ".gitignore": "**/bar/*\n", ".ignore": "rust/target\n"})
    names = ["foo/bar/baz", "foo/bars/baz", "rust/source.rs", "rust/target/output.html"]
    plant(root, dict.fromkeys(names, "needle\n"))
    if engine == "index":
        assert triseek(["build"], root).status == 0
    asked = [(".", ""), ("foo", ""), (".", "rust"), (".", "./rust"), ("foo", "../rust")]
    for below, words in asked:
        check(f"-l needle {words}", root / below, engine)
        check(f"--files {words}", root / below, engine)
