"""Loops: facts of one predicate, or links between drawers, that lead back to where they began."""

from __future__ import annotations

import shlex
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from triseek.memory.audit.findings import Findings

SHOWN_MAX = 10
"""Nodes of a loop that are named."""
MUTUAL = frozenset((
    "knows", "related_to", "similar_to", "same_as", "equals", "connected_to", "talks_to",
    "works_with", "conflicts_with", "see_also", "is_alias_for", "alias_of", "linked_to",
    "married_to", "sibling_of",
))  # fmt: skip
"""Predicates that hold in both directions, in lower case with underscores."""


def check(connection: sqlite3.Connection, palace: int, findings: Findings) -> None:
    """Report the loops of a palace's facts and of its drawers. palace: Its id."""
    for predicate, edges in _edges(connection, palace).items():
        for loop in cycles(edges):
            findings.add(
                "loop", f"{loop[0]} {predicate}",
                f"{predicate} leads back: {_shown(loop)}",
                f"triseek memory kg retract {shlex.join((loop[-1], predicate, loop[0]))}",
            )  # fmt: skip
    links = connection.execute(
        "SELECT d.uuid, s.uuid FROM drawers d JOIN drawers s ON s.id = d.superseded_by"
        " WHERE d.palace_id = ?",
        (palace,),
    ).fetchall()
    for loop in cycles({uuid: [by] for uuid, by in links}):
        findings.add(
            "loop", loop[0], f"{len(loop)} drawers supersede one another, so that none is recalled",
            f"triseek memory update {loop[0]} TEXT",
        )  # fmt: skip


def _shown(loop: Sequence[str]) -> str:
    left = [f"{len(loop) - SHOWN_MAX:,} more"] if len(loop) > SHOWN_MAX else []
    return " → ".join([*loop[:SHOWN_MAX], *left, loop[0]])


def _edges(connection: sqlite3.Connection, palace: int) -> dict[str, dict[str, list[str]]]:
    """Return the facts that hold, by predicate and subject."""
    edges: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for subject, predicate, target in connection.execute(
        "SELECT subject, predicate, object FROM triples WHERE palace_id = ? AND valid_to IS NULL"
        " ORDER BY subject, object",
        (palace,),
    ):
        if "_".join(predicate.lower().replace("-", " ").split()) not in MUTUAL:
            edges[predicate][subject].append(target)
    return {predicate: dict(of_one) for predicate, of_one in edges.items()}


def cycles(edges: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """Yield one loop, as its nodes in order, of each part of a graph that has any."""
    for part in _components(edges):
        start = min(part)
        before = {start: start}
        queue = [start]
        for node in queue:  # breadth first: the shortest loop through `start`
            for target in edges.get(node, ()):
                if target == start:
                    yield _path(before, node)
                    queue.clear()
                    break
                if target in part and target not in before:
                    before[target] = node
                    queue.append(target)


def _path(before: Mapping[str, str], node: str) -> list[str]:
    path = [node]
    while before[node] != node:
        node = before[node]
        path.append(node)
    return path[::-1]


def _components(edges: Mapping[str, Iterable[str]]) -> Iterator[set[str]]:
    """Yield the strongly connected parts that have a loop: Tarjan's algorithm, not recursive."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    is_open: set[str] = set()
    for root in edges:
        if root in index:
            continue
        work = [(root, iter(edges.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        is_open.add(root)
        while work:
            node, targets = work[-1]
            target = next(targets, None)
            if target is not None:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    is_open.add(target)
                    work.append((target, iter(edges.get(target, ()))))
                elif target in is_open:
                    low[node] = min(low[node], index[target])
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
            if low[node] == index[node]:
                part = set()
                while node not in part:
                    part.add(stack.pop())
                is_open -= part
                if len(part) > 1 or node in edges.get(node, ()):
                    yield part
