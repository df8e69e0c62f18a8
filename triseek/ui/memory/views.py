"""Palaces, drawers and triples as the REST interface shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.model.moment import rfc3339

if TYPE_CHECKING:
    from triseek.memory.drawers import Drawer
    from triseek.memory.dreaming.run import Report
    from triseek.memory.dreaming.status import DreamStatus
    from triseek.memory.palaces import Palace
    from triseek.memory.service import Recalled

Document = dict[str, Any]


def palace(info: Palace) -> Document:
    """Return a palace and its size."""
    return {
        "id": info.name,
        "name": info.name,
        "description": info.description,
        "drawer_count": info.drawers,
        "kg_triple_count": info.triples,
        "created_at": rfc3339(info.created_ms),
    }


def drawer(record: Drawer) -> Document:
    """Return a drawer."""
    return {
        "id": record.uuid,
        "room": record.room,
        "content": record.text,
        "importance": record.importance,
        "tags": list(record.tags),
        "source_file": record.source or None,
        "created_at": rfc3339(record.created_ms),
        "updated_at": rfc3339(record.updated_ms),
    }


def hits(recalled: Recalled, name: str, *, deep: bool) -> list[Document]:
    """Return what answers a query, best first; `layer` is 3 for a deep recall, else 2."""
    return [
        {**drawer(hit.drawer), "palace_id": name, "score": hit.score, "layer": 3 if deep else 2}
        for hit in recalled.hits
    ]


def dream(status: DreamStatus) -> Document:
    """Return how far the consolidation is."""
    last = {
        "run": status.run,
        "started_at": rfc3339(status.began_ms),
        "merged": status.superseded,
        "pruned": status.purged,
    }
    return {"waiting": status.waiting, "last_run": last if status.run else None}


def dreamt(report: Report) -> Document:
    """Return what a consolidation did, or would do."""
    return {
        "status": report.ended,
        "dry_run": report.is_dry,
        "run": report.run,
        "merged": report.superseded,
        "pruned": report.purged,
        "closets_updated": report.closets,
        "waiting": report.left,
        "duration_ms": round(report.seconds * 1000),
        "changes": [
            {"step": change.step, "palace": change.palace, "drawer_id": change.drawer}
            for change in report.changes
        ],
    }
