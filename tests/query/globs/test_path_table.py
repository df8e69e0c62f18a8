"""Columns of paths say what the paths say one by one."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from triseek.query.globs.gitignore import parse_line
from triseek.query.globs.path_table import PathTable

PATHS = [
    b"a",
    b"src/lib.rs",
    b"src/deep/er/lib.rs",
    b"srcs/x",
    b"a-name-longer-than-a-window.c",
    b"x/",
]


def test_depths_folders_and_prefixes_are_those_of_the_paths():
    table = PathTable.of(PATHS[:5])
    assert table.depths.tolist() == [1, 2, 4, 2, 1]
    assert table.folders.table.paths == [b"src", b"src/deep", b"src/deep/er", b"srcs"]
    assert table.folders.parents.tolist() == [-1, 0, 1, -1]
    assert table.folders.of_path.tolist() == [-1, 0, 2, 3, -1]
    assert table.starts_with(b"src/").tolist() == [False, True, True, False, False]
    assert table.starts_with(b"src/deep/er/lib").tolist() == [False, False, True, False, False]
    assert table.ends_with(b"longer-than-a-window.c").tolist() == [False] * 4 + [True]
    assert table.equals(b"a").tolist() == [True] + [False] * 4


def test_a_table_can_be_made_of_columns_that_exist_already():
    blob = np.frombuffer(b"\0\0a/b.c\0\0\0c.c\0d", np.uint8)
    table = PathTable(blob, np.array([2, 10, 14]), np.array([7, 13, 15]))
    assert table.paths == [b"a/b.c", b"c.c", b"d"]
    assert table.matches([parse_line("*.c")]).tolist() == [True, True, False]
    assert table.matches([parse_line("/c.c")]).tolist() == [False, True, False]


def test_an_empty_table_is_no_special_case():
    table = PathTable.of([])
    assert table.matches([parse_line("*.c"), parse_line("[!a]x")]).tolist() == []
    assert table.depths.tolist() == []
    assert len(table.folders.table) == 0


PARTS = st.text("aAbB/._-", min_size=1, max_size=6).map(str.encode) | st.sampled_from(
    [b"\xff", "üÜ".encode(), b"K", "\u212a".encode(), b"[", b"\n"]
)


@given(st.lists(st.lists(PARTS, min_size=1, max_size=4).map(b"".join), max_size=8), PARTS)
@example([b"a/b", b"a", b"b"], b"/")
@example([b"a/b/", b"a/b"], b"b/")
@example([b"a/b", b"c"], b"/b")
@example([b"x"] * 3, b"//")
def test_containing_is_being_in_the_path_in_any_case_of_ascii(paths, literal):
    held = [literal.lower() in path.lower() for path in paths]

    assert PathTable.of(paths).containing(literal).tolist() == held


@pytest.mark.parametrize("literal", [b"a", b"lib.rs", b"LIB", b"c/", b"window.c"])
def test_containing_on_the_tables_own_paths(literal):
    held = [literal.lower() in path for path in PATHS]

    assert PathTable.of(PATHS).containing(literal).tolist() == held
