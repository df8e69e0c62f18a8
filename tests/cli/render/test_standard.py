"""The grep-like format: the rows of a file, and those of many files at once."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.render.rendering import Kept, found_in, rendered
from triseek.cli.render.standard import Standard
from triseek.cli.render.style import OutputStyle
from triseek.engine.search.backends.base import ROW, Batch
from triseek.errors import Cancelled
from triseek.model import budget


def test_nothing_is_written_for_a_client_that_has_gone() -> None:
    def ask() -> None:
        raise Cancelled("the client has gone")

    with budget.limited(ask=ask), pytest.raises(Cancelled):
        Standard(OutputStyle(path=True, stats=True), Kept()).file(
            found_in(b"x\n" * 9, list(range(9)))
        )


def test_rows_that_are_not_adjacent_are_separated_and_context_is_marked() -> None:
    look = OutputStyle(path=True, line_number=True, context=True)
    found = found_in(b"x\nb\nc\nx\n", [0, 1, 3])

    assert rendered(look, found) == b"a%b:1:x\na%b-2-b\n--\na%b:4:x\n"


def test_many_files_at_once_are_written_as_one_by_one() -> None:
    rows = [(0, 1, 0, 0, 2, False), (0, 3, 4, 4, 8, False), (1, 9, 70, 8, 9, False)]
    batch = Batch([b"a", b"b"], np.array([2, 1]), np.array(rows, ROW), b"x\nb\nx y\nx")
    out = Kept()
    renderer = Standard(OutputStyle(path=True, line_number=True), out)

    assert renderer.is_plain
    renderer.batch(batch, lambda path: b"./" + path)

    assert out.all() == b"./a:1:x\n./a:3:x y\n./b:9:x\n"
    assert renderer.counts.files_matched == 2
    assert not Standard(OutputStyle(path=True, heading=True), out).is_plain
