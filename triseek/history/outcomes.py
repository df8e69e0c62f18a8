"""How a command ended, from its exit status or, where a pipe hides that, from its output."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from triseek.history.errors import error_of, plain

Outcome: TypeAlias = Literal["passed", "failed", "unknown"]

_FAILED = re.compile(
    r"^(?:=+ .*\b\d+ (?:failed|errors?)\b.*=+|\d+ failed\b.*"  # pytest
    r"|FAILED \(.*|FAIL\t.*|FAIL|--- FAIL: .*"  # unittest, go
    r"|test result: FAILED.*|error: could not compile.*|error: test failed.*"  # cargo
    r"|Tests:\s+.*\b\d+ failed.*|Test Suites:\s+.*\b\d+ failed.*"  # jest
    r"|\[ERROR\].*|BUILD FAILURE.*|BUILD FAILED.*|\[INFO\] BUILD FAILURE"  # maven, gradle
    r"|make(?:\[\d+\])?: \*\*\* .*|npm ERR! .*|Found \d+ errors?\b.*|\S+\(\d+,\d+\): error TS\d+.*)$",  # noqa: E501
    re.MULTILINE,
)
_PASSED = re.compile(
    r"^(?:=+ .*\b\d+ passed\b.*=+|\d+ passed\b.*|OK(?: \(.*\))?|ok  \t.*|PASS|test result: ok.*"
    r"|Tests:\s+\d+ passed.*|\[INFO\] BUILD SUCCESS|BUILD SUCCESSFUL.*|Success: no issues found.*"
    r"|All checks passed!|\s*Finished (?:`\w+`|\w+) .*)$",
    re.MULTILINE,
)
_NOT_RUN = ("The user doesn't want to proceed with this tool use", "[Request interrupted by user")
"""How outputs begin of commands that a person did not allow."""


def outcome_of(
    exit_status: int | None, failed: bool | None, output: str, *, hides_status: bool = False
) -> Outcome:
    """Return how a command ended.

    Args:
        exit_status: As the agent recorded it; None if unknown.
        failed: Whether the agent says that it failed; None if unknown.
        output: What it printed.
        hides_status: Whether the status is that of another program: `pytest | tail` exits with 0.
    """
    if output.startswith(_NOT_RUN):
        return "unknown"
    if exit_status or failed:
        return "failed"
    is_known = exit_status == 0 or failed is False
    if is_known and not hides_status:
        return "passed"
    text = plain(output)
    if _FAILED.search(text) or error_of(output, None).key:
        return "failed"
    return "passed" if _PASSED.search(text) or (is_known and not text.strip()) else "unknown"
