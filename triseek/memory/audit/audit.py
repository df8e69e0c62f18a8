"""Audits a palace: runs all checks. Nothing is written."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triseek.memory import palaces
from triseek.memory.audit import facts, loops, paths, rooms, secrets
from triseek.memory.audit.findings import Findings
from triseek.memory.dreaming import closets, log, similarity
from triseek.memory.dreaming.dream import dream
from triseek.model.freshness import Freshness

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from triseek.memory.audit.paths import Named, Tree
    from triseek.store.sqlite import Database

PAGE = 500
"""Drawers that are read at once."""
DREAM_S = 60.0
"""Seconds in which duplicates are looked for."""


@dataclass(slots=True)
class Audit:
    """What an audit of one palace has to say."""

    palace: str
    root: str
    """The folder of the palace's project; "" if it is of none."""
    drawers: int = 0
    triples: int = 0
    closets: dict[str, list[str]] = field(default_factory=dict)
    """Keywords by room."""
    findings: Findings = field(default_factory=Findings)


def audit(database: Database, palace: str) -> Audit:
    """Check a palace; a second for some thousand drawers.

    Raises: as `palaces.id_of`.
    """
    with database.read() as connection:
        info = palaces.info(connection, palace)
        (root,) = connection.execute(
            "SELECT coalesce(root, '') FROM palaces WHERE id = ?", (info.id,)
        ).fetchone()
        result = Audit(palace, root, info.drawers, info.triples)
        result.closets = closets.of_palace(connection, info.id)
        for check in (secrets.check, loops.check, facts.check, rooms.check, _hidden):
            check(connection, info.id, result.findings)
    _duplicates(database, palace, result.findings)
    tree = _tree(root, palace, result.findings)
    seen: dict[int, str] = {}
    for page in _pages(database, info.id):
        for drawer in page:
            _said_in_other_rooms(drawer, seen, result.findings)
            if tree is not None:
                named = [*paths.of_source(drawer.source), *paths.of_text(drawer.text)]
                step = f"triseek memory update {drawer.uuid} TEXT"
                _files(tree, named, drawer.written_ms, drawer.uuid, step, result.findings)
    if tree is not None:
        _files_of_facts(database, info.id, tree, result.findings)
    return result


@dataclass(frozen=True, slots=True)
class _Drawer:
    id: int
    uuid: str
    room: str
    text: str
    source: str
    written_ms: int


def _pages(database: Database, palace: int) -> Iterator[list[_Drawer]]:
    """Yield the drawers that recall shows, in the order of writing."""
    after = 0
    while True:
        with database.read() as connection:
            rows = connection.execute(
                "SELECT id, uuid, room, text, source, updated_at_epoch FROM drawers"
                " WHERE palace_id = ? AND id > ? AND deleted_at_epoch IS NULL"
                " AND superseded_by IS NULL ORDER BY id LIMIT ?",
                (palace, after, PAGE),
            ).fetchall()
        if not rows:
            return
        after = rows[-1][0]
        yield [_Drawer(*row) for row in rows]


def _duplicates(database: Database, palace: str, findings: Findings) -> None:
    report = dream(database, [palace], dry_run=True, budget_s=DREAM_S)
    for change in report.changes:
        if change.step == log.DUPLICATE:
            findings.add(
                "duplicate", change.drawer, f"drawer {change.after} says all of it",
                "triseek memory dream",
            )  # fmt: skip
    if report.superseded:
        findings.counts["duplicate"] = report.superseded


def _said_in_other_rooms(drawer: _Drawer, seen: dict[int, str], findings: Findings) -> None:
    key = similarity.profile(drawer.text).keys[0]
    first = seen.setdefault(key, f"{drawer.uuid} in room {drawer.room}")
    if not first.endswith(f" in room {drawer.room}"):
        findings.add(
            "duplicate", drawer.uuid, f"room {drawer.room}: drawer {first} says the same",
            f"triseek memory forget {drawer.uuid}",
        )  # fmt: skip


def _hidden(connection: sqlite3.Connection, palace: int, findings: Findings) -> None:
    """Report drawers that nothing shows, because what supersedes them is forgotten or elsewhere."""
    for uuid, by in connection.execute(
        "SELECT d.uuid, s.uuid FROM drawers d JOIN drawers s ON s.id = d.superseded_by"
        " WHERE d.palace_id = ? AND d.deleted_at_epoch IS NULL"
        " AND (s.deleted_at_epoch IS NOT NULL OR s.palace_id != d.palace_id)",
        (palace,),
    ):
        findings.add(
            "hidden", uuid, f"drawer {by}, which supersedes it, is forgotten or in another palace",
            f"triseek memory update {uuid} TEXT",
        )  # fmt: skip


def _tree(root: str, palace: str, findings: Findings) -> Tree | None:
    if not root:
        return None
    if not os.path.isdir(root):  # noqa: PTH112 - a text of the database
        findings.add(
            "root", palace, f"its folder {root} does not exist any more",
            f"In the new folder: triseek memory palaces --use {shlex.quote(palace)}",
        )  # fmt: skip
        return None
    return paths.Tree(os.path.realpath(root))


def _files(
    tree: Tree,
    named: Iterable[Named],
    written_ms: int,
    where: str,
    next_step: str,
    findings: Findings,
) -> None:
    """Report what has become of the files that a drawer or fact names."""
    for each in {each.path: each for each in reversed(list(named))}.values():
        state = tree.state(each, written_ms)
        if state is None or state.freshness is Freshness.FRESH:
            continue
        path = each.path
        if state.freshness is Freshness.GONE:
            findings.add("gone", where, f"{path} does not exist any more", next_step)
        elif state.freshness is Freshness.MOVED:
            findings.add("moved", where, f"{path} is now {' or '.join(state.elsewhere)}", next_step)
        else:
            findings.add("changed", where, f"{path} has been changed since", next_step)


def _files_of_facts(database: Database, palace: int, tree: Tree, findings: Findings) -> None:
    with database.read() as connection:
        rows = connection.execute(
            "SELECT subject, predicate, object, provenance, valid_from FROM triples"
            " WHERE palace_id = ? AND valid_to IS NULL",
            (palace,),
        ).fetchall()
    for subject, predicate, target, provenance, valid_from in rows:
        named = [
            *paths.of_source(provenance), *paths.of_text(subject), *paths.of_text(target)
        ]  # fmt: skip
        step = f"triseek memory kg retract {shlex.join((subject, predicate, target))}"
        _files(tree, named, valid_from, f"{subject} {predicate} {target}", step, findings)
