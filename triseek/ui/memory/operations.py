"""The operations of the REST interface, each on the memory and a checked request.

They raise `triseek.errors` and `Refused`. A memory that is not there is empty: reading makes none.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from triseek import __version__
from triseek.errors import Cancelled, InvalidRequest, OutOfTime
from triseek.memory import events, extract, filters, palaces
from triseek.memory.drawers import LISTED_MAX, Draft
from triseek.memory.dreaming.status import DreamStatus
from triseek.memory.dreaming.status import status as status_of
from triseek.memory.graph import record
from triseek.memory.limits import IMPORTANCE, TOP_MAX
from triseek.model import budget
from triseek.model.moment import rfc3339
from triseek.ui.memory import views
from triseek.ui.memory.requests import BODY_MAX, QUERY_MAX, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.memory.service import Memory
    from triseek.ui.memory.requests import Asked
    from triseek.ui.memory.views import Document

    Operation = Callable[[Memory, Asked], Document]

LIST = 50
OFFSET_MAX = 100_000_000
TOP_K = 10
DREAM_S = 20.0
"""Seconds of a consolidation; the next one goes on with what is left."""
RECALLED_PALACES_MAX = 200
"""The most palaces that one recall searches."""


def health(_memory: Memory, _asked: Asked) -> Document:
    """GET /health: whether the server answers."""
    return {"status": "ok", "version": __version__}


def status(memory: Memory, _asked: Asked) -> Document:
    """GET /status: the size of the memory."""
    reply: dict[str, Any] = {"version": __version__, "palace_count": 0}
    totals = events.Totals(0, 0, 0)
    if memory.exists():
        reply["palace_count"] = len(memory.palaces())
        with memory.database.read() as connection:
            totals = events.totals(connection)
    return {
        **reply,
        "total_drawers": totals.drawers,
        "total_vectors": totals.vectors,
        "total_kg_triples": totals.triples,
        "data_dir": memory.folder,
    }


def config(memory: Memory, _asked: Asked) -> Document:
    """GET /config: where the memory lies, and the limits of requests."""
    return {
        "data_dir": memory.folder,
        "top_k_default": TOP_K,
        "top_k_max": TOP_MAX,
        "list_limit_default": LIST,
        "list_limit_max": LISTED_MAX,
        "body_max_bytes": BODY_MAX,
    }


def palace_list(memory: Memory, _asked: Asked) -> Document:
    """GET /palaces: all palaces with their sizes."""
    names = memory.palaces() if memory.exists() else []
    return {"palaces": [views.palace(memory.info(name)) for name in names]}


def palace_create(memory: Memory, asked: Asked) -> Document:
    """POST /palaces {name, description?}: make a palace; one that exists is left as it is."""
    name, description = asked.fields.text("name"), asked.fields.text("description", "")
    is_new = memory.create(name, description)
    return {"palace_id": name, "status": "created" if is_new else "exists"}


def palace_info(memory: Memory, asked: Asked) -> Document:
    """GET /palaces/{id}: a palace with its identity, rooms and tags."""
    info = memory.info(_palace(memory, asked))
    with memory.database.read() as connection:
        rooms, tags = filters.rooms(connection, info.id), filters.tags(connection, info.id)
    return {
        **views.palace(info),
        "identity": info.identity,
        "rooms": [{"name": name, "drawer_count": count} for name, count in rooms],
        "tags": [{"name": name, "drawer_count": count} for name, count in tags],
        "data_dir": memory.folder,
    }


def palace_update(memory: Memory, asked: Asked) -> Document:
    """PATCH /palaces/{id} {name?, description?, identity?}: rename or describe a palace."""
    name, fields = _palace(memory, asked), asked.fields
    new_name = fields.text("name", "")
    description = fields.text("description", "") if "description" in fields else None
    identity = fields.text("identity", "") if "identity" in fields else None
    with memory.database.write() as connection:
        if new_name not in ("", name) and new_name in palaces.listed(connection):
            raise Refused(409, f"there is another palace {new_name!r}")
        name = palaces.change(connection, name, new_name=new_name, description=description)
        if identity is not None:
            palaces.set_identity(connection, name, identity)
    return {**views.palace(memory.info(name)), "status": "updated"}


def palace_delete(memory: Memory, asked: Asked) -> Document:
    """DELETE /palaces/{id}?force: delete a palace with everything in it."""
    name, force = _palace(memory, asked), asked.params.flag("force")
    with memory.database.write() as connection:
        size = palaces.info(connection, name)
        if (size.drawers or size.triples) and not force:
            raise Refused(
                409,
                f"the palace has {size.drawers} drawers and {size.triples} triples;"
                " pass force=true to delete them",
            )
        palaces.delete(connection, name)
    return {"palace_id": name, "status": "deleted", "drawers_deleted": size.drawers}


def drawer_list(memory: Memory, asked: Asked) -> Document:
    """GET /palaces/{id}/drawers?room&tag&since&limit&offset: the most important first."""
    name, params = _palace(memory, asked), asked.params
    limit, offset = params.count("limit", LIST, LISTED_MAX), params.count("offset", 0, OFFSET_MAX)
    records = memory.listed(
        name, room=params.text("room"), tag=params.text("tag"),
        since_ms=params.time_ms("since") or 0, limit=limit, offset=offset,
    )  # fmt: skip
    return {"palace": name, "drawers": [views.drawer(record) for record in records]}


def drawer_create(memory: Memory, asked: Asked) -> Document:
    """POST /palaces/{id}/drawers {content, room?, tags?, importance?, source_file?}."""
    name, fields = _palace(memory, asked), asked.fields
    draft = Draft(
        text=fields.text("content"),
        room=fields.text("room", ""),
        tags=fields.texts("tags"),
        importance=fields.number("importance", IMPORTANCE),
        source=fields.text("source_file", ""),
    )
    return {"drawer_id": memory.remember(name, draft).uuid, "palace": name, "status": "stored"}


def drawer_delete(memory: Memory, asked: Asked) -> Document:
    """DELETE /palaces/{id}/drawers/{drawer_id}?purge: forget it; it can be brought back."""
    name, drawer = _palace(memory, asked), asked.params["drawer_id"]
    if not memory.forget(name, drawer, purges=asked.params.flag("purge")):
        raise Refused(404, f"there is no drawer {drawer} in this palace")
    return {"status": "deleted", "drawer_id": drawer, "palace": name}


def drawer_restore(memory: Memory, asked: Asked) -> Document:
    """POST /palaces/{id}/drawers/{drawer_id}/restore: bring a forgotten drawer back."""
    name, drawer = _palace(memory, asked), asked.params["drawer_id"]
    if not memory.restore(name, drawer):
        raise Refused(404, f"no forgotten drawer {drawer} is kept in this palace")
    return {"status": "restored", "drawer_id": drawer, "palace": name}


def recall(memory: Memory, asked: Asked) -> Document:
    """GET /palaces/{id}/recall?q&top_k&deep&room&tag&since: what answers a query.

    Identity and essentials are beside the results, whatever the query.
    """
    name = _palace(memory, asked)
    query, top_k, deep = _query(asked)
    recalled = memory.recall(
        name, query, top_k, deep=deep, room=asked.params.text("room"),
        tag=asked.params.text("tag"), since_ms=asked.params.time_ms("since") or 0,
    )  # fmt: skip
    return {
        "palace": name,
        "query": query,
        "results": views.hits(recalled, name, deep=deep),
        "context": {
            "identity": recalled.identity,
            "essentials": [views.drawer(record) for record in recalled.essentials],
        },
    }


def recall_all(memory: Memory, asked: Asked) -> Document:
    """GET /recall?q&top_k&deep&palaces=a,b: what answers a query in several palaces, or in all."""
    query, top_k, deep = _query(asked)
    known = memory.palaces() if memory.exists() else []
    names = list(dict.fromkeys(filter(None, asked.params.text("palaces").split(",")))) or known
    for name in names:
        if name not in known:
            raise Refused(404, f"there is no palace {name[:100]!r}")
    if len(names) > RECALLED_PALACES_MAX:
        raise InvalidRequest(
            f"there are {len(names)} palaces; name at most {RECALLED_PALACES_MAX} in `palaces`"
        )
    rows: list[Document] = []
    for name in names:
        budget.check()
        rows += views.hits(memory.recall(name, query, top_k, deep=deep), name, deep=deep)
    rows.sort(key=lambda row: -row["score"])
    return {"query": query, "palaces": names, "results": rows[:top_k]}


def facts(memory: Memory, asked: Asked) -> Document:
    """GET /palaces/{id}/kg?subject&as_of&history: what holds of a subject, or all that did."""
    name, params = _palace(memory, asked), asked.params
    subject = params.text("subject")
    if not subject:
        raise InvalidRequest("the parameter `subject` is missing")
    triples = (
        memory.fact_history(name, subject)
        if params.flag("history")
        else memory.facts(name, subject, as_of_ms=params.time_ms("as_of"))
    )
    return {"subject": subject, "triples": [record(each) for each in triples]}


def fact_assert(memory: Memory, asked: Asked) -> Document:
    """POST /palaces/{id}/kg {subject, predicate, object, confidence?, provenance?, multi?}."""
    name, fields = _palace(memory, asked), asked.fields
    asserted = memory.assert_fact(
        name,
        (fields.text("subject"), fields.text("predicate"), fields.text("object")),
        confidence=fields.number("confidence", 1.0),
        provenance=fields.text("provenance", ""),
        multi=fields.flag("multi"),
    )
    return {"status": "asserted", "triple": record(asserted)}


def subjects(memory: Memory, asked: Asked) -> Document:
    """GET /palaces/{id}/kg/subjects?prefix&limit: subjects of which something holds."""
    name, params = _palace(memory, asked), asked.params
    with memory.database.read() as connection:
        counted = extract.subjects(
            connection, palaces.id_of(connection, name), prefix=params.text("prefix"),
            limit=params.count("limit", extract.SUBJECTS_MAX, extract.SUBJECTS_MAX),
        )  # fmt: skip
    return {
        "palace": name,
        "subjects": [{"subject": subject, "triple_count": count} for subject, count in counted],
    }


def graph(memory: Memory, asked: Asked) -> Document:
    """GET /palaces/{id}/kg/graph?as_of&history&subject&depth&limit: the triples of a time.

    `history` includes what has ended, `subject` keeps what is within `depth` steps of it.
    """
    name, params = _palace(memory, asked), asked.params
    with memory.database.read() as connection:
        part = extract.extract(
            connection, palaces.id_of(connection, name),
            as_of_ms=params.time_ms("as_of"), closed=params.flag("history"),
            subject=params.text("subject"),
            depth=params.count("depth", 1, extract.DEPTH_MAX),
            limit=params.count("limit", extract.TRIPLES_MAX, extract.TRIPLES_MAX),
        )  # fmt: skip
    nodes = dict.fromkeys(
        itertools.chain.from_iterable((each.subject, each.object) for each in part.triples)
    )
    return {
        "palace": name,
        "nodes": list(nodes),
        "triples": [record(each) for each in part.triples],
        "triple_count": part.total,
        "truncated": not params.text("subject") and len(part.triples) < part.total,
        "first": rfc3339(part.first_ms),
        "last": rfc3339(part.last_ms),
    }


def dream_status(memory: Memory, asked: Asked) -> Document:
    """GET /palaces/{id}/dream/status: what waits to be consolidated, and what the last run did."""
    name = _palace(memory, asked)
    with memory.database.read() as connection:
        return {
            "palace": name,
            **views.dream(status_of(connection, palaces.id_of(connection, name))),
        }


def dream_status_all(memory: Memory, _asked: Asked) -> Document:
    """GET /dream/status: the same of all palaces together."""
    if not memory.exists():
        return views.dream(DreamStatus(0, 0, 0, 0, 0))
    with memory.database.read() as connection:
        return views.dream(status_of(connection))


def dream_run(memory: Memory, asked: Asked) -> Document:
    """POST /dream/run {palaces?, dry_run?}: consolidate palaces, or all of them."""
    names = asked.fields.texts("palaces")
    known = memory.palaces() if memory.exists() else []
    for name in names:
        if name not in known:
            raise Refused(404, f"there is no palace {str(name)[:100]!r}")
    report = memory.dream(
        [str(name) for name in names] or None, dry_run=asked.fields.flag("dry_run"),
        budget_s=DREAM_S, cancelled=_Left(),
    )  # fmt: skip
    return views.dreamt(report)


class _Left:
    """Set once nobody waits for the answer."""

    def is_set(self) -> bool:
        try:
            budget.check()
        except (Cancelled, OutOfTime):
            return True
        return False


def _palace(memory: Memory, asked: Asked) -> str:
    """Return the palace that the path names. Raises Refused (404) if there is none."""
    name = asked.params["palace"]
    if not memory.exists() or name not in memory.palaces():
        raise Refused(404, f"there is no palace {name[:100]!r}")
    return name


def _query(asked: Asked) -> tuple[str, int, bool]:
    query = asked.params.text("q", QUERY_MAX)
    if not query.strip():
        raise InvalidRequest("the parameter `q` is missing: what is to be recalled")
    return query, asked.params.count("top_k", TOP_K, 1_000_000), asked.params.flag("deep")
