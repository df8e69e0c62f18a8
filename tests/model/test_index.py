"""Size categories of trees."""

from __future__ import annotations

import pytest

from triseek.model.index import category_of

MIB, GIB = 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("files", "size", "category"),
    [
        (0, 0, "small"),
        (4_999, 200 * MIB - 1, "small"),
        (5_000, 0, "medium"),
        (0, 200 * MIB, "medium"),
        (50_000, 0, "large"),
        (0, 2 * GIB, "large"),
        (500_000, 20 * GIB, "large"),
        (500_001, 0, "very_large"),
        (0, 20 * GIB + 1, "very_large"),
    ],
)
def test_a_tree_is_as_large_as_its_files_or_its_bytes(files: int, size: int, category: str) -> None:
    assert category_of(files, size) == category
