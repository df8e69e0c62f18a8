"""Makes an `ExecutionResult` of what a script has printed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from triseek.workflows.box.functions import depth
from triseek.workflows.execution import (
    NOT_STARTED,
    REJECTED,
    TIMED_OUT,
    ExecutionResult,
    Limits,
    Tier,
)

if TYPE_CHECKING:
    from triseek.workflows.box.output import Output

MAX_DEPTH = 100
"""Levels of a result; each one indents all that is inside."""


def not_started(reason: str) -> ExecutionResult:
    """Return the result of a script that was not run, because the box could not be set up."""
    return ExecutionResult(success=False, exit_code=NOT_STARTED, tier="none", stderr=reason)


def rejected(rejections: list[str]) -> ExecutionResult:
    """Return the result of a script that the safety policy rejects."""
    return ExecutionResult(
        success=False,
        exit_code=REJECTED,
        tier="none",
        stderr="custom workflow code rejected by safety policy",
        safety_rejections=rejections,
    )


def finished(
    stdout: Output, stderr: Output, exit_code: int, tier: Tier, limits: Limits, notes: list[str]
) -> ExecutionResult:
    """Return the result of a script that has run.

    Args:
        stdout: what it has printed.
        stderr: what it has printed there.
        exit_code: of the script; `TIMED_OUT` if it was ended: no result is looked for then.
        tier: what it ran behind.
        limits: those it ran under.
        notes: lines to add to `stderr`.
    """
    result = ExecutionResult(
        success=exit_code == 0, exit_code=exit_code, tier=tier, stdout=stdout.text()
    )
    if exit_code == TIMED_OUT:
        notes = [*notes, "execution timed out"]
    else:
        try:
            result.result_json = _result(stdout, result.stdout, limits)
            result.has_result = True
        except ValueError as error:
            notes = [*notes, str(error)]
    result.stderr = "\n".join(filter(None, [stderr.text().rstrip("\n"), *notes]))
    return result


def _result(stdout: Output, text: str, limits: Limits) -> Any:  # noqa: ANN401
    if stdout.result_too_long:
        raise ValueError(f"result is longer than {limits.result_bytes} bytes")
    if stdout.result is not None:
        try:
            return parse(stdout.result.decode("utf-8", "replace"))
        except ValueError as error:
            raise ValueError(f"malformed result marker JSON: {error}") from None
    try:
        if not stdout.truncated:
            return parse(text)
    except ValueError:
        pass
    raise ValueError("result marker not found")


def parse(text: str) -> Any:  # noqa: ANN401
    """Parse the JSON of a script: no NaN, no lone surrogates, no depth that costs its readers.

    Raises:
        ValueError: it is no JSON.
    """
    try:
        value = json.loads(text, parse_constant=_reject_constant)
        if "\\u" in text:
            clean = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
            value = json.loads(clean)
        is_deep = depth(value, MAX_DEPTH) > MAX_DEPTH
    except RecursionError:
        is_deep = True
    if is_deep:
        raise ValueError(f"it is nested too deeply: more than {MAX_DEPTH} levels")
    return value


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
