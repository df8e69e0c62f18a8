"""What agents ask of the workflow tools; names and defaults are those of zoekt-mcp.

The docstring of a class is its tool's description, the one under a field that argument's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from triseek.model.tool import STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCapabilitiesRequest:
    """Find workflows that answer a question on code in many repositories, by 2-5 keywords."""

    __pydantic_config__: ClassVar = STRICT

    query: str
    """Keywords of the task; empty for all."""
    limit: int = 8
    """Most hits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCapabilitiesRequest:
    """List all workflows and functions. A newer name of search_capabilities without a query."""

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCapabilityRequest:
    """Read how to call a workflow or function: arguments, examples, limits, result."""

    __pydantic_config__: ClassVar = STRICT

    capability_id: str
    """As search_capabilities lists it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWorkflowCliRequest:
    """Run a prebuilt workflow: `<workflow_id> [--flag value]...`."""

    __pydantic_config__: ClassVar = STRICT

    command: str
    """As `symbol_usage --query "ProcessOrder lang:go" --limit 8`."""
    timeout_seconds: int = 30
    """Time limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCustomWorkflowCodeRequest:
    """Run a Python script over runtime.zoekt_tools, only if no workflow fits."""

    __pydantic_config__: ClassVar = STRICT

    code: str
    """Defines `run(args)` or `async run(args)`; what it returns is the result."""
    args: dict[str, Any] = field(default_factory=dict)
    """Passed to `run`."""
    timeout_seconds: int = 30
    """Time limit."""
