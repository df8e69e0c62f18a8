"""What an audit reports."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from triseek.redaction import redact

FINDINGS_MAX = 100
"""Findings of one kind that are listed; further ones are counted."""
Kind: TypeAlias = Literal[
    "secret", "duplicate", "loop", "hidden", "contradiction", "gone", "moved", "changed", "room",
    "root",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a person may want to look at."""

    kind: Kind
    where: str
    """A drawer's UUID, a fact, a room."""
    what: str
    next_step: str
    """What mends it, as a command where there is one."""


@dataclass(slots=True)
class Findings:
    """The findings of an audit, by kind."""

    listed: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    """By kind, those that are not listed included."""

    def add(self, kind: Kind, where: str, what: str, next_step: str) -> None:
        """Add a finding; secrets in its texts are removed."""
        self.counts[kind] += 1
        if self.counts[kind] <= FINDINGS_MAX:
            self.listed.append(Finding(kind, *map(redact, (where, what, next_step))))
