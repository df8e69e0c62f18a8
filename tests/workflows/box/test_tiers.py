"""Which tier a script runs in, by what the machine has."""

from __future__ import annotations

import pytest

from triseek.workflows.box import tiers
from triseek.workflows.box.tiers import Boundaries, NoTier, choose

BWRAP = "/usr/bin/bwrap"


@pytest.mark.parametrize(
    ("have", "tier"),
    [
        (Boundaries(7, True, BWRAP), "kernel"),
        (Boundaries(1, True, ""), "kernel"),
        (Boundaries(0, True, BWRAP), "bubblewrap"),
        (Boundaries(7, False, BWRAP), "bubblewrap"),
        (Boundaries(7, False, ""), "process"),
        (Boundaries(0, True, ""), "process"),
        (Boundaries(0, False, ""), "process"),
    ],
)
def test_the_strongest_is_taken(have: Boundaries, tier: str) -> None:
    assert choose(have, "process", trusted=False) == tier
    assert choose(have, "kernel", trusted=True) == tier
    if tier == "process":
        with pytest.raises(NoTier, match=r"workflows\.weakest_tier"):
            choose(have, "kernel", trusted=False)
    else:
        assert choose(have, "kernel", trusted=False) == tier


def test_what_is_missing_is_named() -> None:
    assert tiers.missing(Boundaries(1, True, BWRAP)) == ""
    words = tiers.missing(Boundaries(0, False, ""))
    assert all(word in words for word in ("Landlock", "seccomp", "bubblewrap"))


def test_report_names_each_tier_once() -> None:
    report = tiers.report()
    assert [name for name, _, _ in report] == ["kernel", "bubblewrap", "monty", "process"]
    have = tiers.boundaries()
    assert report[0][1] == bool(have.landlock and have.seccomp)
