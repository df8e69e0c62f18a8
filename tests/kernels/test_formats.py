"""What callers hand to kernels has exactly the types that the kernels declare."""

import numba
import numpy as np
import pytest

from triseek.kernels import jit
from triseek.kernels.formats import ROW, BlockBuffers, Dfa, LineHits, Needles, read_only
from triseek.model.search import PatternSpec
from triseek.query.pattern import Pattern


def test_a_read_only_array_is_the_same_array_and_cannot_be_written():
    array = np.zeros(3, np.int64)

    assert read_only(array) is array
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_the_automaton_of_a_pattern_is_of_the_declared_type():
    dfa = Pattern(PatternSpec(patterns=("a[b-d]+",))).dfa

    assert isinstance(dfa, Dfa)
    assert numba.typeof(dfa) == jit.DFA


def test_needles_are_read_only_and_hits_are_written():
    numbers = read_only(np.zeros(2, np.int64))
    columns = np.empty(4, np.uint64), np.empty(4, np.uint64), np.empty(4, np.uint8)

    assert numba.typeof(Needles(np.frombuffer(b"ab", np.uint8), numbers, numbers)) == jit.NEEDLES
    assert numba.typeof(LineHits(*columns)) == jit.LINE_HITS_OUT


def test_buffers_of_blocks_have_a_column_for_each_fact():
    kinds = (
        np.int64, np.uint64, np.uint32,
        np.uint32, np.uint64, np.uint64, np.uint32, np.uint8, np.uint64,
    )  # fmt: skip

    assert numba.typeof(BlockBuffers(*(np.empty(1, kind) for kind in kinds))) == jit.BLOCKS_OUT


def test_rows_are_packed():
    assert ROW.itemsize == 4 + 4 * 8 + 1
