"""Limits of runs: the settings `workflows.*`, and the variables of zoekt-mcp that mean the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek import config
from triseek.errors import InvalidRequest
from triseek.workflows.execution import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.config import Settings

VARIABLES = {
    "EXECUTION_TIMEOUT_DEFAULT": "workflows_timeout_default",
    "EXECUTION_TIMEOUT_MAX": "workflows_timeout_max",
    "EXECUTION_STDOUT_MAX_BYTES": "workflows_stdout_max_bytes",
    "EXECUTION_STDERR_MAX_BYTES": "workflows_stderr_max_bytes",
}
"""Variables of zoekt-mcp, each with the setting it sets where triseek's own variable does not."""
BYTES_MAX = 16 << 20
SECONDS_MAX = 3_600


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What the user has set for runs."""

    timeout_default: int
    """Seconds."""
    timeout_max: int
    stdout_max_bytes: int
    stderr_max_bytes: int
    runner: str
    """`python` or `monty`."""
    weakest_tier: str
    """`kernel` or `process`."""

    def limits(self, timeout_seconds: float) -> Limits:
        """Return the limits of a run.

        timeout_seconds: What was asked for; 0 or less stands for the default.
        """
        wanted = timeout_seconds if timeout_seconds > 0 else self.timeout_default
        return Limits(
            seconds=float(min(wanted, self.timeout_max)),
            stdout_bytes=self.stdout_max_bytes,
            stderr_bytes=self.stderr_max_bytes,
        )


def read(environ: Mapping[str, str]) -> RunSettings:
    """Return the settings for runs, in some environment.

    Raises:
        InvalidRequest: A setting or a variable is not valid.
    """
    settings = config.read(environ=environ)
    numbers = {
        name: _number(settings, environ, variable, name) for variable, name in VARIABLES.items()
    }
    return RunSettings(
        timeout_default=min(numbers["workflows_timeout_default"], SECONDS_MAX),
        timeout_max=min(numbers["workflows_timeout_max"], SECONDS_MAX),
        stdout_max_bytes=min(numbers["workflows_stdout_max_bytes"], BYTES_MAX),
        stderr_max_bytes=min(numbers["workflows_stderr_max_bytes"], BYTES_MAX),
        runner=settings.workflows_runner,
        weakest_tier=settings.workflows_weakest_tier,
    )


def _number(settings: Settings, environ: Mapping[str, str], variable: str, name: str) -> int:
    """Return a setting: by its own variable, by that of zoekt-mcp, by the file, or its default."""
    text = environ.get(variable, "").strip()
    if not text or environ.get(f"TRISEEK_{name.upper()}"):
        return int(getattr(settings, name))
    if text.isascii() and text.isdigit() and len(text) <= 12 and int(text) >= 1:
        return int(text)
    raise InvalidRequest(
        f"{variable}: {text[:40]!r} is not a whole number from 1", next_step=f"Correct {variable}."
    )
