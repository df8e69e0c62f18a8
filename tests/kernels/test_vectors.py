from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import vectors as oracle
from triseek.kernels import vectors
from triseek.memory.vectors.matrix import nearest_plainly

BYTE = st.integers(-127, 127)
FACTOR = st.sampled_from([0.0, 0.25, 0.5, 1.0])  # exact in float32, so that ties are ties


@given(st.data(), st.integers(1, 5), st.integers(0, 12), st.integers(0, 6))
@settings(deadline=None)
def test_the_nearest_are_those_of_a_sort(data, width, count, most):
    row = st.lists(BYTE, min_size=width, max_size=width)
    rows = data.draw(st.lists(row, min_size=count, max_size=count))
    factors = data.draw(st.lists(FACTOR, min_size=count, max_size=count))
    wanted = data.draw(st.lists(st.integers(0, 1), min_size=count, max_size=count))
    query = data.draw(row)
    matrix = np.array(rows, np.int8).reshape(count, width)
    columns = (
        np.array(factors, np.float32), np.array(wanted, np.uint8), np.array(query, np.int8)
    )  # fmt: skip
    places, scores = np.empty(most, np.int64), np.empty(most, np.float32)
    size = vectors.nearest(matrix.reshape(-1), *columns, places, scores)
    expected = oracle.nearest(rows, factors, wanted, query, most)
    assert list(zip(places[:size].tolist(), scores[:size].tolist(), strict=True)) == expected
    plainly = nearest_plainly(matrix, *columns, most)
    assert plainly.tolist() == [number for number, _ in expected]


def test_long_vectors_do_not_overflow():
    rows, query = np.full(8_192, -127, np.int8), np.full(8_192, -127, np.int8)
    places, scores = np.empty(1, np.int64), np.empty(1, np.float32)
    one = np.ones(1, np.float32)
    assert vectors.nearest(rows, one, np.ones(1, np.uint8), query, places, scores) == 1
    assert scores[0] == np.float32(8_192 * 127 * 127)
