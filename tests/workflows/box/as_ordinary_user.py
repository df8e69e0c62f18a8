"""Attacks the box as a user without rights: prints each goal with what was reached.

    python -m tests.workflows.box.as_ordinary_user

The tests run it by an interpreter that everybody may execute.
"""

from __future__ import annotations

import json
import os
import sys

from tests.workflows.box import goals, ways
from tests.workflows.box.scene import attack, scene
from triseek.workflows.box import tiers
from triseek.workflows.box.tiers import Boundaries


def main() -> int:
    have = tiers.boundaries()
    without_landlock = Boundaries(0, have.seccomp, have.bubblewrap)
    worlds = {"kernel": have} | ({"bubblewrap": without_landlock} if have.bubblewrap else {})
    for name, boundaries in worlds.items():
        for goal in goals.GOALS:
            with scene() as stage:
                result, breaches = attack(
                    ways.script("plain import", goals.GOALS[goal]), stage,
                    boundaries=boundaries, alone=name == "kernel", trace=name == "kernel",
                )  # fmt: skip
            row = {"uid": os.getuid(), "tier": result.tier, "goal": goal, "breaches": breaches}
            print(json.dumps(row | {"exit_code": result.exit_code, "stderr": result.stderr[-500:]}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
