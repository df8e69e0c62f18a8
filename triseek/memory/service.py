"""The memory of this machine, as one object."""

from __future__ import annotations

import logging
import os
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from triseek import config, paths
from triseek.errors import InvalidRequest, TriseekError
from triseek.memory import drawers, essentials, graph, names, palaces
from triseek.memory.database import NAME, open_database, scrub
from triseek.memory.dreaming import closets, log, undo
from triseek.memory.dreaming.run import BUDGET_S, Report
from triseek.memory.limits import TOP_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from triseek.config import Settings
    from triseek.memory.audit.audit import Audit
    from triseek.memory.drawers import Draft, Drawer
    from triseek.memory.dreaming.log import Change
    from triseek.memory.dreaming.run import Flag
    from triseek.memory.dreaming.undo import Undone
    from triseek.memory.graph import Contradiction, Triple
    from triseek.memory.palaces import Palace
    from triseek.memory.vectors.lane import VectorLane
    from triseek.memory.word_search import WordSearch
    from triseek.store.sqlite import Database

logger = logging.getLogger(__name__)

ESSENTIALS_MAX = 15
"""The most important drawers that stand beside each recall."""
TIME_MAX = 1 << 62
"""Greatest Unix time in milliseconds that a filter takes; later ones mean the same."""
IMPORTANCE_SHARE = 0.05
"""The most that importance takes from a score: it decides between drawers that answer alike."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A drawer that answers a query."""

    drawer: Drawer
    score: float
    """From 0 to 1."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a query recalls."""

    identity: str
    """L0: what is said of the project before everything else; "" if nothing is."""
    essentials: tuple[Drawer, ...]
    """L1: the most important drawers, whatever the query."""
    hits: tuple[Hit, ...]
    """L2 or L3: what answers the query, best first."""
    lane: str
    """How words were searched, a `word_search.Lane`; with `+vectors` if vectors were, too."""
    terms: tuple[str, ...] = ()
    """The query's terms, in order."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """IDF in the palace by term, of the query's terms and the words that begin like them."""


class Memory:
    """The palaces of one state folder. Thread-safe, and safe for several processes at once.

    Each method raises as the function of the same name in `palaces`, `drawers` and `graph`, and as
    `Database`.
    """

    def __init__(self, folder: str = "", settings: Settings | None = None) -> None:
        """Open nothing yet.

        folder: Where the memory lies; "" for the state folder's. settings: None for those of this
        process, which are read when they are first needed.
        """
        self.folder = folder or paths.memory()
        self._settings = settings
        self._lock = threading.Lock()
        self._database: Database | None = None
        self._used = time.monotonic()
        self._uses = essentials.Uses()
        self._word_search: WordSearch | None = None
        self._vector_lane: VectorLane | None = None
        self._has_chosen = False
        self._has_complained = False

    def exists(self) -> bool:
        """Return whether there is a memory, without making one."""
        return os.path.exists(os.path.join(self.folder, NAME))  # noqa: PTH110, PTH118

    @property
    def database(self) -> Database:
        """The database, opened with its first use. Raises as `Database`."""
        self._used = time.monotonic()
        return self._opened()

    def watched(self) -> Database:
        """Return the database to who only waits for changes, which is no use of the memory."""
        return self._opened()

    def idle_s(self) -> float:
        """Return the seconds since it was used, other than by `dream`."""
        return time.monotonic() - self._used

    def _opened(self) -> Database:
        with self._lock:
            if self._database is None:
                self._database = open_database(self.folder)
            return self._database

    @property
    def _words(self) -> WordSearch:
        from triseek.memory.word_search import WordSearch

        database = self._opened()
        with self._lock:
            if self._word_search is None:
                self._word_search = WordSearch(self.folder, database)
            return self._word_search

    @property
    def vectors(self) -> VectorLane | None:
        """Search by vectors; None if they are off.

        Raises:
            InvalidRequest: The settings name an embedder that cannot be used.
        """
        with self._lock:
            if not self._has_chosen:
                settings = self._settings or config.read()
                if settings.memory_embedder != "none":  # a command that only writes needs no NumPy
                    self._vector_lane = self._chosen_vectors(settings)
                self._has_chosen = True
            return self._vector_lane

    def _chosen_vectors(self, settings: Settings) -> VectorLane | None:
        from triseek.memory.vectors import choice, hnsw, lane

        chosen = choice.choose(settings)
        folder = ""
        if chosen is not None and settings.memory_vector_index == "hnsw":
            hnsw.require()
            folder = os.path.join(self.folder, "vectors")  # noqa: PTH118
        return lane.VectorLane(chosen, folder) if chosen else None

    def close(self) -> None:
        """Close the files. Does nothing the second time."""
        with self._lock:
            if self._word_search is not None:
                self._word_search.close()
            if self._database is not None:
                self._database.close()

    # Palaces

    def create(self, palace: str, description: str = "") -> bool:
        """Make a palace; return whether it is new."""
        with self.database.write() as connection:
            return palaces.create(connection, palace, description, now_ms())[1]

    def palaces(self) -> list[str]:
        """Return the names of all palaces."""
        with self.database.read() as connection:
            return palaces.listed(connection)

    def palace_of(self, root: str, *, creates: bool = False) -> str:
        """Return the name of the palace of a project's folder; "" if it has none.

        creates: Whether to make it then.
        """
        if not creates:
            if not self.exists():
                return ""
            with self.database.read() as connection:
                return palaces.of_root(connection, root)
        with self.database.write() as connection:
            return palaces.create_for_root(connection, root, now_ms())

    def use(self, palace: str, root: str) -> None:
        """Make a palace the one of a project's folder, in place of another."""
        with self.database.write() as connection:
            palaces.use(connection, palace, root)

    def set_identity(self, palace: str, text: str) -> None:
        """Write what is said of a palace's project before everything else; "" for nothing."""
        with self.database.write() as connection:
            palaces.set_identity(connection, palace, text)

    def delete_palace(self, palace: str) -> int:
        """Delete a palace with everything in it; return the number of its drawers."""
        with self.database.write() as connection:
            count = palaces.delete(connection, palace)
        self._erase()
        return count

    def info(self, palace: str) -> Palace:
        """Return what is known of a palace."""
        with self.database.read() as connection:
            return palaces.info(connection, palace)

    # Drawers

    def remember(self, palace: str, draft: Draft) -> Drawer:
        """Write a drawer, and its vector if vectors are on."""
        draft, vector = replace(draft, text=names.text(draft.text)), None
        if (lane := self._usable_vectors()) is not None:
            vector = lane.embed(draft.text)  # it may take a while: before the transaction
        with self.database.write() as connection:
            at = palaces.id_of(connection, palace)
            drawer = drawers.add(connection, at, draft, now_ms())
            if lane is not None and vector is not None:
                lane.write(connection, drawer.id, vector)
            return drawer

    def recall(
        self,
        palace: str,
        query: str,
        top_k: int = 10,
        *,
        room: str = "",
        tag: str = "",
        since_ms: int = 0,
        deep: bool = False,
    ) -> Recalled:
        """Return what answers a query, and beside it what is always shown.

        Args:
            palace: The palace's name.
            query: Words in any order; a question is fine. No syntax.
            top_k: The most hits; bounded to `TOP_MAX`.
            room: Only of this room, in any case of its letters; "" for all.
            tag: Only with this tag; "" for all.
            since_ms: Only written at this Unix time or later.
            deep: Look at every drawer that has a word of the query, superseded ones as well.
        """
        from triseek.memory.word_search import Filters

        most = min(max(top_k, 0), TOP_MAX)
        [tag] = names.tags([tag]) or [""]
        since_ms = min(max(since_ms, 0), TIME_MAX)
        filters = Filters(names.room(room)[1] if room else "", tag, since_ms, deep)
        opened = self._words.open()
        lane = self._usable_vectors() if most and query.strip() else None
        vector = lane.embed(query) if lane is not None else None
        with self.database.read() as connection:
            number, identity = palaces.identity_of(connection, palace)
            if lane is None or vector is None:
                ranked = self._words.search(connection, opened, number, query, most, filters)
                way: str = ranked.lane
            else:
                ranked = self._words.search(connection, opened, number, query, TOP_MAX, filters)
                ranked = lane.join(connection, number, ranked, vector, most, filters)
                way = f"{ranked.lane}+vectors"
            by_id = drawers.by_ids(connection, list(ranked.scores), superseded=deep)
            beside = essentials.chosen(connection, number, now_ms(), ESSENTIALS_MAX)
        hits = [
            Hit(drawer, score * (1 - IMPORTANCE_SHARE + IMPORTANCE_SHARE * drawer.importance))
            for at, score in ranked.scores.items()
            if (drawer := by_id.get(at)) is not None
        ]
        hits.sort(key=lambda hit: -hit.score)  # ties stay in the order of their ranking
        self._uses.note((hit.drawer.id for hit in hits), now_ms())
        return Recalled(identity, tuple(beside), tuple(hits), way, ranked.terms, ranked.weights)

    def _usable_vectors(self) -> VectorLane | None:
        """Return search by vectors, None if it is off or cannot be used: nothing else may fail."""
        try:
            return self.vectors
        except InvalidRequest as error:
            if not self._has_complained:
                logger.warning("no vectors: %s", error.message)
            self._has_complained = True
            return None

    def prepare(self) -> int:
        """Bring the files of the recall index up to date; return the drawers indexed.

        A search finds all drawers without it; after thousands of new ones, by a plainer ranking
        until this has been done in a thread of its own.

        Raises: as `WordSearch.prepare`.
        """
        return self._words.prepare()

    def _erase(self) -> None:
        """Remove from all files what was deleted for good."""
        self.purge_words()
        if not scrub(self._opened()):
            logger.warning("deleted drawers may be in the log of the database until it is not used")

    def purge_words(self) -> None:
        """Remove from the files of the recall index what was deleted or forgotten.

        If that fails, the next update or purge of the index does it.
        """
        try:
            self._words.purge()
        except TriseekError as error:
            logger.warning("recall index not purged", extra={"reason": str(error)})

    def listed(
        self,
        palace: str,
        *,
        room: str = "",
        tag: str = "",
        since_ms: int = 0,
        limit: int = 50,
        offset: int = 0,
    ) -> list[Drawer]:
        """Return the drawers of a palace, most important first."""
        with self.database.read() as connection:
            return drawers.listed(
                connection, palaces.id_of(connection, palace),
                room=room, tag=tag, since_ms=since_ms, limit=limit, offset=offset,
            )  # fmt: skip

    def update(self, palace: str, drawer: str, text: str) -> Drawer:
        """Write another text into a drawer, and its vector if vectors are on."""
        text, vector = names.text(text), None
        if (lane := self._usable_vectors()) is not None:
            vector = lane.embed(text)
        with self.database.write() as connection:
            at = palaces.id_of(connection, palace)
            changed = drawers.update(connection, at, drawer, text, now_ms())
            if lane is not None and vector is not None:
                lane.write(connection, changed.id, vector)
            return changed

    def embed_missing(
        self,
        budget_s: float = float("inf"),
        progress: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> int:
        """Embed drawers that have no vector, or one of another embedder; return how many are left.

        Does nothing if vectors are off. See `vectors.embedding`, and `vectors` for what is raised.
        """
        if (lane := self.vectors) is None:
            return 0
        from triseek.memory.vectors import embedding

        left = embedding.embed_missing(self.database, lane.embedder, budget_s, progress)
        if not left and lane.graphs is not None:
            lane.graphs.update(self.database)
        return left

    def drawer(self, palace: str, drawer: str) -> Drawer:
        """Return a drawer by its UUID."""
        with self.database.read() as connection:
            return drawers.by_name(connection, palaces.id_of(connection, palace), drawer)

    def forgotten(self, palace: str, limit: int = 50) -> list[Drawer]:
        """Return the drawers that can be brought back, those forgotten last first."""
        with self.database.read() as connection:
            return drawers.forgotten(connection, palaces.id_of(connection, palace), limit)

    def begin_with(self, palace: str, beginning: str) -> list[str]:
        """Return at most two UUIDs that begin so, also of forgotten drawers."""
        with self.database.read() as connection:
            return drawers.begin_with(connection, palaces.id_of(connection, palace), beginning)

    def earlier(self, drawer: Drawer) -> list[tuple[str, int]]:
        """Return the texts that a drawer had before, with the time at which each was replaced."""
        with self.database.read() as connection:
            return drawers.earlier(connection, drawer.id)

    def forget(self, palace: str, drawer: str, *, purges: bool = False) -> bool:
        """Forget a drawer; return whether there was one.

        purges: Whether it is deleted at once, so that it cannot be brought back.
        """
        with self.database.write() as connection:
            at = palaces.id_of(connection, palace)
            if not purges:
                return drawers.forget(connection, at, drawer, now_ms())
            was_there = drawers.delete(connection, at, drawer)
        if was_there:
            self._erase()
        return was_there

    def restore(self, palace: str, drawer: str) -> bool:
        """Bring a forgotten drawer back; return whether it could be."""
        with self.database.write() as connection:
            return drawers.restore(connection, palaces.id_of(connection, palace), drawer)

    # The graph

    def assert_fact(
        self,
        palace: str,
        fact: tuple[str, str, str],
        *,
        confidence: float = 1.0,
        provenance: str = "",
        multi: bool = False,
    ) -> Triple:
        """Write that a fact holds from now on, and close what it replaces."""
        with self.database.write() as connection:
            return graph.assert_fact(
                connection, palaces.id_of(connection, palace), fact, now_ms(),
                confidence=confidence, provenance=provenance, multi=multi,
            )  # fmt: skip

    def retract(self, palace: str, fact: tuple[str, str, str]) -> int:
        """Close what holds of a subject and predicate; return the number of triples."""
        with self.database.write() as connection:
            return graph.retract(connection, palaces.id_of(connection, palace), fact, now_ms())

    def facts(self, palace: str, subject: str, *, as_of_ms: int | None = None) -> Sequence[Triple]:
        """Return what holds of a subject, or held at a time."""
        with self.database.read() as connection:
            at = palaces.id_of(connection, palace)
            return graph.facts(connection, at, subject, as_of_ms=as_of_ms)

    def fact_history(self, palace: str, subject: str) -> Sequence[Triple]:
        """Return everything that ever held of a subject."""
        with self.database.read() as connection:
            return graph.history(connection, palaces.id_of(connection, palace), subject)

    def contradictions(self, palace: str) -> list[Contradiction]:
        """Return the subjects and predicates for which several objects hold at once."""
        with self.database.read() as connection:
            return graph.contradictions(connection, palaces.id_of(connection, palace))

    # Consolidation

    def dream(
        self,
        palaces: Sequence[str] | None = None,
        *,
        dry_run: bool = False,
        budget_s: float = BUDGET_S,
        cancelled: Flag | None = None,
    ) -> Report:
        """Consolidate palaces; None for all. For the others see `dreaming.dream.dream`."""
        from triseek.memory.dreaming.dream import dream

        if not self.exists():
            return Report(is_dry=dry_run)
        if not dry_run:
            self._uses.write(self._opened())
        report = dream(
            self._opened(), palaces, dry_run=dry_run, budget_s=budget_s, cancelled=cancelled
        )
        if report.purged and not dry_run:
            self._erase()
        return report

    def dreams(self, limit: int = 100, *, run: int = 0) -> list[Change]:
        """Return what consolidations changed, newest first. run: Only this one; 0 for all."""
        with self.database.read() as connection:
            return log.listed(connection, limit, run)

    def undo_dream(self, run: int) -> Undone:
        """Undo what a consolidation has linked."""
        return undo.undo(self.database, run, now_ms())

    def closets(self, palace: str) -> dict[str, list[str]]:
        """Return the keywords of a palace's rooms, as the last consolidation left them."""
        with self.database.read() as connection:
            return closets.of_palace(connection, palaces.id_of(connection, palace))

    def audit(self, palace: str) -> Audit:
        """Check a palace for what is doubtful in it. Raises as `palaces.id_of`."""
        from triseek.memory.audit.audit import audit

        return audit(self.database, palace)

    def remove_secrets(self, palace: str) -> tuple[int, bool]:
        """Redact what is kept of a palace; for the result see `audit.secrets.remove`."""
        from triseek.memory.audit import secrets

        with self.database.read() as connection:
            at = palaces.id_of(connection, palace)
        removed = secrets.remove(self.database, at)
        self.purge_words()
        return removed


def now_ms() -> int:
    """Return the Unix time in milliseconds."""
    return time.time_ns() // 1_000_000
