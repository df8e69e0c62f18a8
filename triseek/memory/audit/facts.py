"""Facts that contradict each other."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from triseek.memory import graph

if TYPE_CHECKING:
    import sqlite3

    from triseek.memory.audit.findings import Findings

_BESIDE = """
SELECT t.subject, t.predicate, t.object, p.name, o.object FROM triples t
JOIN palaces own ON own.id = t.palace_id
JOIN palaces p ON p.id != own.id AND p.root IS NOT NULL AND (
    substr(p.root, 1, length(own.root) + 1) = own.root || '/'
    OR substr(own.root, 1, length(p.root) + 1) = p.root || '/')
JOIN triples o ON o.palace_id = p.id AND o.subject = t.subject AND o.predicate = t.predicate
    AND o.object != t.object AND o.valid_to IS NULL AND NOT o.is_multi
WHERE t.palace_id = ? AND t.valid_to IS NULL AND NOT t.is_multi
ORDER BY t.subject, t.predicate, p.name
"""
"""Facts that differ from those of a palace whose root lies inside of this one's, or around it."""


def check(connection: sqlite3.Connection, palace: int, findings: Findings) -> None:
    """Report the contradictions of a palace's facts. palace: Its id."""
    for contradiction in graph.contradictions(connection, palace):
        if contradiction.is_multi:
            continue  # a person said that it may have several
        objects = [triple.object for triple in contradiction.triples]
        findings.add(
            "contradiction", f"{contradiction.subject} {contradiction.predicate}",
            f"{len(objects)} hold at once, and not all were written with --multi: "
            + ", ".join(objects),
            "triseek memory kg retract "
            + shlex.join((contradiction.subject, contradiction.predicate, objects[0])),
        )  # fmt: skip
    for subject, predicate, target, other, their in connection.execute(_BESIDE, (palace,)):
        findings.add(
            "contradiction", f"{subject} {predicate}",
            f"{target} here, {their} in palace {other}, whose folder is of the same project",
            "triseek memory kg assert "
            + shlex.join((subject, predicate, target, "--palace", other)),
        )  # fmt: skip
