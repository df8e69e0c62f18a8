"""Errors: their codes, and the same error in another process."""

from __future__ import annotations

import pytest

from triseek import errors
from triseek.errors import TriseekError

KINDS = TriseekError.__subclasses__()
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)


@each_kind
def test_what_another_process_reports_is_the_same_error_here(kind: type[TriseekError]) -> None:
    raised = kind("it failed", next_step="Do this.")

    error = errors.named(raised.code, raised.message, next_step=raised.next_step)

    assert type(error) is kind
    assert (error.code, error.message, error.next_step) == (kind.code, "it failed", "Do this.")


@each_kind
def test_an_error_without_a_next_step_has_that_of_its_kind(kind: type[TriseekError]) -> None:
    assert kind("it failed").next_step == kind.next_step


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.InvalidQuery, "INVALID_QUERY"),
        (errors.FormatTooNew, "FORMAT_TOO_NEW"),
        (errors.Busy, "BUSY"),
    ],
)
def test_a_code_is_the_name_of_its_class(kind: type[TriseekError], code: str) -> None:
    assert kind.code == code


def test_a_code_that_no_class_has_is_kept() -> None:
    error = errors.named("FROM_LATER", "unknown", next_step="")

    assert type(error) is TriseekError
    assert error.code == "FROM_LATER"
