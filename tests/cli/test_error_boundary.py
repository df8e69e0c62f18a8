"""An error becomes one line and a status."""

from __future__ import annotations

import pytest

from triseek.cli.error_boundary import settled
from triseek.errors import Cancelled, InvalidRequest
from triseek.terminal import status


def failing(error: Exception):
    def work() -> int:
        raise error

    return work


def test_an_error_is_one_line_with_its_next_step() -> None:
    lines: list[str] = []
    error = InvalidRequest("bad\nvalue \x1b", next_step="Try 1.")

    assert settled(failing(error), lines.append, []) == status.ERROR
    assert lines == ["triseek: bad value \\x1b. Try 1."]


def test_the_end_of_a_request_is_the_callers() -> None:
    with pytest.raises(Cancelled):
        settled(failing(Cancelled("gone")), print, [])
