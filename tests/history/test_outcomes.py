"""How a command ended, although a pipe hides its status."""

from __future__ import annotations

import pytest

from tests.history import outputs
from triseek.history.outcomes import outcome_of


@pytest.mark.parametrize(
    ("status", "failed", "output", "hides", "expected"),
    [
        (0, None, "anything", False, "passed"), (1, None, "", False, "failed"),
        (None, True, "", False, "failed"), (None, False, "x", False, "passed"),
        (None, None, "x", False, "unknown"), (0, None, "x", True, "unknown"),
        (0, None, "", True, "passed"), (0, None, outputs.PYTEST_FAILED, True, "failed"),
        (0, None, outputs.PYTEST_PASSED, True, "passed"), (None, None, outputs.GCC, False, "failed"),  # noqa: E501
        (0, False, outputs.CARGO_ERROR, True, "failed"), (0, False, "ok  \tshop\t0.1s", True, "passed"),  # noqa: E501
    ],
)  # fmt: skip
def test_outcomes(status, failed, output, hides, expected):
    assert outcome_of(status, failed, output, hides_status=hides) == expected
