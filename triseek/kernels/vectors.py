"""The nearest of many vectors, each kept as signed bytes with a factor of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba

from triseek.kernels.jit import BYTES, F32S, F32S_OUT, I8S, I64, I64S_OUT, kernel

if TYPE_CHECKING:
    import numpy as np


@kernel(I64, I8S, F32S, BYTES, I8S, I64S_OUT, F32S_OUT)
def nearest(
    rows: np.ndarray,
    factors: np.ndarray,
    wanted: np.ndarray,
    query: np.ndarray,
    places: np.ndarray,
    scores: np.ndarray,
) -> int:
    """Find the rows with the greatest products with a query; return how many there are.

    rows: int8[n × d], one vector after another. factors: float32[n]; a row's numbers times its
    factor are the vector. wanted: uint8[n], 0 for rows to pass over. query: int8[d]. places,
    scores: int64 and float32, of the size of the answer: row numbers and products times factors,
    the greatest first, the lower row number first where they are equal.
    """
    width = numba.uint64(query.size)
    size = numba.int64(0)
    most = places.size
    if most == 0:
        return 0
    for row in range(factors.size):
        if wanted[row] == 0:
            continue
        begin = numba.uint64(row) * width
        total = numba.int32(0)
        for i in range(width):
            total += numba.int32(rows[begin + i]) * numba.int32(query[i])
        score = numba.float32(total) * factors[row]
        if size == most:
            if score <= scores[size - 1]:
                continue
            at = size - 1
        else:
            at = size
            size += 1
        while at > 0 and scores[at - 1] < score:
            scores[at] = scores[at - 1]
            places[at] = places[at - 1]
            at -= 1
        scores[at] = score
        places[at] = row
    return size
