"""What this machine has of boundaries, and runs with parts of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workflows.box.scene import FUNCTIONS
from triseek.workflows.box import tiers
from triseek.workflows.box.runner import run
from triseek.workflows.box.tiers import Boundaries
from triseek.workflows.execution import ExecutionResult, Limits, Script, Tier

HERE = tiers.boundaries()
NEEDS_KERNEL = pytest.mark.skipif(
    not (HERE.landlock and HERE.seccomp), reason=tiers.missing(HERE) or "no kernel tier"
)
NEEDS_BUBBLEWRAP = pytest.mark.skipif(not HERE.bubblewrap, reason="no bubblewrap")
TIERS: dict[Tier, Boundaries] = {
    "kernel": Boundaries(HERE.landlock, HERE.seccomp, ""),
    "bubblewrap": Boundaries(0, HERE.seccomp, HERE.bubblewrap),
    "process": Boundaries(0, False, ""),
}
EACH_TIER = pytest.mark.parametrize(
    "tier",
    [
        pytest.param("kernel", marks=NEEDS_KERNEL),
        pytest.param("bubblewrap", marks=NEEDS_BUBBLEWRAP),
        "process",
    ],
)


def execute(
    source: str,
    args: dict[str, Any] | None = None,
    *,
    tier: Tier = "kernel",
    limits: Limits | None = None,
    trusted: bool = False,
    **options: Any,
) -> ExecutionResult:
    """Run a script in one tier, without the safety policy unless it is asked for."""
    options.setdefault("validate", False)
    options.setdefault("functions", FUNCTIONS)
    functions = options.pop("functions")
    return run(
        Script(name="test", source=source, trusted=trusted),
        args or {},
        functions,
        limits or Limits(seconds=20),
        boundaries=TIERS[tier],
        weakest="process",
        **options,
    )
