from __future__ import annotations

import numpy as np
import pytest

from triseek.memory.vectors.matrix import Matrix


def unit(rng: np.random.Generator, count: int, width: int = 16) -> np.ndarray:
    vectors = rng.standard_normal((count, width)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(5))
def test_what_was_put_last_is_searched(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix, kept = Matrix(16), {}
    for _ in range(30):  # far more than there is room for at first, with many replaced
        ids = rng.choice(600, rng.integers(1, 60), replace=False).tolist()
        vectors = unit(rng, len(ids))
        matrix.put(ids, vectors)
        kept |= dict(zip(ids, vectors, strict=True))
        assert len(matrix) == len(kept)
    query = unit(rng, 1)[0]
    products = {number: float(vector @ query) for number, vector in kept.items()}
    nearest = sorted(products, key=lambda number: -products[number])
    assert set(nearest[:10]) <= set(matrix.search(query, 30))
    odd = [number for number in nearest if number % 2]
    assert set(odd[:10]) <= set(matrix.search(query, 30, only=[*odd, 9_999]))
    assert all(number % 2 for number in matrix.search(query, 600, only=odd))
    assert all(number % 2 for number in matrix.search(query, 600, without=set(nearest) - set(odd)))
    assert sorted(matrix.search(query, 10_000)) == sorted(kept)
    assert matrix.search(query, 5, only=[]) == []


def test_numbers_that_are_none_are_left_out() -> None:
    matrix = Matrix(2)
    matrix.put([1, 2, 3], np.array([[np.nan, 1], [np.inf, 0], [0, 1]], np.float16))
    assert matrix.search(np.array([0, 1], np.float32), 9) == [3]
    assert Matrix(2).search(np.array([0, 1], np.float32), 9) == []
