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
    edits: int
    """Of one file, each seen by the daemon before the next."""
    questions: int
    """Put to the daemon before its memory is looked at."""
    engines: tuple[str, ...] = ()
    """When none are named; none: all that are meant for the corpus."""


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
    edits=30,
    questions=30,
)

FULL = Profile(
    name="full",
    corpora=("django", "linux"),
    groups=(),
    rounds_max=11,
    rounds_min=3,
    case_seconds_max=2.0,
    sessions={20: (), 100: ("triseek", "triseek-swept", "triseek-daemon", "rg")},
    builds=2,
    updates=True,
    edits=300,
    questions=200,
)

DAEMON = Profile(
    name="daemon",
    corpora=("linux",),
    groups=("families", "agents", "engine"),
    rounds_max=7,
    rounds_min=3,
    case_seconds_max=1.0,
    sessions={20: ()},
    builds=1,
    updates=True,
    edits=300,
    questions=200,
    engines=("triseek", "triseek-daemon", "rg", "rgx"),
)

PROFILES = {profile.name: profile for profile in (QUICK, FULL, DAEMON)}
