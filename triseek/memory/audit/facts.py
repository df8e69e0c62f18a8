"""Facts that contradict each other."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from triseek.memory import graph

if TYPE_CHECKING:
    import sqlite3

    from triseek.memory.audit.findings import Findings

_BESIDE = """
SELECT other.id, other.name FROM palaces own JOIN palaces other ON other.id != own.id
WHERE own.id = ? AND (substr(other.root, 1, length(own.root) + 1) = own.root || '/'
    OR substr(own.root, 1, length(other.root) + 1) = other.root || '/')
ORDER BY other.name
"""
"""Palaces whose root lies inside of this one's, or around it."""
_DIFFERENT = """
SELECT t.subject, t.predicate, t.object, o.object FROM triples t CROSS JOIN triples o
ON o.palace_id = ? AND o.subject = t.subject AND o.predicate = t.predicate
    AND o.object != t.object AND o.valid_to IS NULL AND NOT o.is_multi
WHERE t.palace_id = ? AND t.valid_to IS NULL AND NOT t.is_multi ORDER BY t.id
"""
"""CROSS JOIN has SQLite look up `o` by its index for each `t`, and not the other way round."""


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
    for beside, name in connection.execute(_BESIDE, (palace,)).fetchall():
        for subject, predicate, own, their in connection.execute(_DIFFERENT, (beside, palace)):
            findings.add(
                "contradiction", f"{subject} {predicate}",
                f"{own} here, {their} in palace {name}, whose folder is of the same project",
                f"triseek memory kg assert {shlex.join((subject, predicate, own))}"
                f" --palace {shlex.quote(name)}",
            )  # fmt: skip
