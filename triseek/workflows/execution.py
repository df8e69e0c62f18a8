"""What a run of a script is asked for, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Tier: TypeAlias = Literal["kernel", "bubblewrap", "monty", "process", "none"]
"""What separates a script from the machine. kernel: landlock and seccomp. bubblewrap: namespaces,
and seccomp. monty: an interpreter without system calls, in a process of its own. process: a process
with limits and nothing else; only if the user has set it. none: nothing was run."""
MARKER = "__RESULT_JSON__="
"""Begins the last line of output that holds the result."""
TIMED_OUT, NOT_STARTED, OUT_OF_MEMORY, REJECTED, BAD_ARGUMENTS = 124, 70, 137, 1, 2
"""Exit codes."""

Functions: TypeAlias = "Mapping[str, Callable[..., Any]]"
"""The functions of `runtime.zoekt_tools` by name, as the host runs them: keyword arguments and
results are JSON. An exception of `TriseekError` is raised in the script as `ZoektRuntimeError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Python source to run."""

    name: str
    source: str
    trusted: bool = False
    """Whether triseek ships it: it is not checked, and runs where there is no kernel boundary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one run."""

    seconds: float = 30.0
    stdout_bytes: int = 32_768
    stderr_bytes: int = 32_768
    result_bytes: int = 1 << 20
    memory_bytes: int = 1 << 30


@dataclass(slots=True, kw_only=True)
class ExecutionResult:
    """What a run returned."""

    success: bool
    exit_code: int
    tier: Tier
    stdout: str = ""
    stderr: str = ""
    result_json: Any = None
    has_result: bool = False
    """Whether a result was printed; it may be null."""
    timing_ms: int = 0
    safety_rejections: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    """The host functions that were called, one line each with name, arguments and milliseconds."""
