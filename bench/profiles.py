"""How long a run may take: what is asked, how often."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A run's size."""

    name: str
    corpora: tuple[str, ...]
    groups: tuple[str, ...]
    """Of queries/; none: all."""
    rounds_max: int
    """Turns per engine and case."""
    rounds_min: int
    case_seconds_max: float
    """Per engine and case, after which no further turn is taken (`rounds_min` come first)."""
    sessions: dict[int, tuple[str, ...]]
    """Queries in a session: the engines that run it (none: all)."""
    builds: int
    updates: bool


QUICK = Profile(
    name="quick",
    corpora=("numpy",),
    groups=("families", "agents"),
    rounds_max=5,
    rounds_min=3,
    case_seconds_max=0.4,
    sessions={20: ()},
    builds=1,
    updates=True,
)

FULL = Profile(
    name="full",
    corpora=("django", "linux"),
    groups=(),
    rounds_max=11,
    rounds_min=3,
    case_seconds_max=2.0,
    sessions={20: (), 100: ("triseek", "triseek-swept", "rg")},
    builds=2,
    updates=True,
)

PROFILES = {profile.name: profile for profile in (QUICK, FULL)}
