"""A snapshot of the index at one generation: from a formula to candidate blocks.

Everything is mapped and read-only, so a reader is shared by threads and undisturbed by writers.
What is read is verified when it is first read: anything here that reads may raise `IndexCorrupt`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from triseek import errors
from triseek.kernels import fetch, postings
from triseek.model.search import Skipped
from triseek.query.grams import All, And, Gram, Never, Or
from triseek.query.pathtable import PathTable
from triseek.store import column, layout, manifest
from triseek.store.segment import Segment

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from triseek.query.grams import Formula
    from triseek.store.table import Names

Array: TypeAlias = np.ndarray[Any, Any]

_REASONS: dict[int, Literal["binary", "unreadable"]] = {
    layout.SKIP_BINARY: "binary",
    layout.SKIP_UNREADABLE: "unreadable",
}

BLOCK_NS = 5_000
"""Reading and searching a block, its file opened for it."""
LIST_NS = 10_000
"""Meeting a posting list at all,"""
STEP_NS = 4
"""each step of it that is decoded,"""
SKIPPED_NS = 0.1
"""each step that is passed over with 63 others,"""
MEETING_NS = 250
"""and each block that is in question on the way, around which steps are decoded."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """How many blocks a formula can leave, at most, by document frequencies alone."""

    blocks: int
    of: int


class View:
    """One segment with the arrays a search needs, each made when it is first asked for."""

    def __init__(self, segment: Segment, dead: Array) -> None:
        self.segment = segment
        self.alive: Array = np.ones(segment.files.rows, np.bool_)
        """bool[files]: still the newest version of a file that the walk found."""
        self.alive[dead] = False
        self._ctimes: Array | None = None

    @cached_property
    def names(self) -> Names:
        """The files' paths."""
        return self.segment.files.names("path")

    @cached_property
    def flags(self) -> Array:
        """uint8[files]: `layout.FLAG_*`."""
        return self.segment.files.numbers("flags")

    @cached_property
    def skip(self) -> Array:
        """uint8[files]: `layout.SKIP_*`."""
        return self.segment.files.numbers("skip")

    @property
    def scanned_ns(self) -> int:
        """When the walk behind the segment began, nanoseconds since the epoch.

        Of a merged one: the last of the walks behind it; see `index.merge` for what was racy.
        """
        facts = self.segment.facts
        return int(facts.get("files_scanned_ns", facts["scanned_ns"]))

    @property
    def block_file(self) -> Array:
        """uint32[blocks]: the file each block is of."""
        return self.segment.block_file

    @cached_property
    def block_offset(self) -> Array:
        """uint64[blocks]: where in the file's text each begins."""
        return self.segment.blocks.numbers("offset")

    @cached_property
    def block_length(self) -> Array:
        """uint64[blocks]: bytes."""
        return self.segment.blocks.numbers("length")

    @cached_property
    def block_line(self) -> Array:
        """uint32[blocks]: number of the first line of each, from one."""
        return self.segment.blocks.numbers("first_line")

    @cached_property
    def paths(self) -> PathTable:
        """The files' paths, ready for globs."""
        return PathTable.of(self.names.all())

    @cached_property
    def allowlisted(self) -> Array:
        """bool[files]: hidden places that ripgrep would leave out."""
        shown: Array = (self.flags & layout.FLAG_ALLOWLISTED) != 0
        return shown

    @cached_property
    def _skipped(self) -> tuple[Array, list[Skipped]]:
        """Files without searchable text: their numbers, and what a report says of each."""
        numbers = np.flatnonzero(self.skip != layout.SKIP_NONE)
        reasons = self.skip[numbers].tolist()
        told = [
            Skipped(path, _REASONS[reason])
            for path, reason in zip(self.names.take(numbers), reasons, strict=True)
        ]
        return numbers, told

    def skipped(self, chosen: Array) -> list[Skipped]:
        """Those of the chosen files (bool[files]) that have no searchable text, and why."""
        numbers, told = self._skipped
        kept = chosen[numbers]
        if kept.all():
            return told
        return [told[i] for i in np.flatnonzero(kept).tolist()]

    @cached_property
    def edges(self) -> Array:
        """int64[files + 1]: the blocks of file f are edges[f]..edges[f + 1] - 1."""
        return np.searchsorted(self.block_file, np.arange(self.segment.files.rows + 1))

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return self.segment.blocks.rows

    @cached_property
    def searchable(self) -> Array:
        """bool[files]: alive, and text."""
        searchable: Array = self.alive & (self.skip == layout.SKIP_NONE)
        return searchable

    @cached_property
    def stats(self) -> Array:
        """int64[files, STAT_SLOTS]: what each file's stat was, as `kernels.fetch` writes rows."""
        files = self.segment.files
        rows = np.ones((files.rows, fetch.STAT_SLOTS), np.int64)
        rows[:, fetch.STAT_SIZE] = files.numbers("size")
        rows[:, fetch.STAT_MTIME] = files.numbers("mtime_ns")
        rows[:, fetch.STAT_CTIME] = files.numbers("ctime_ns")
        rows[:, fetch.STAT_INODE] = files.numbers("inode")
        if self._ctimes is not None:
            rows[:, fetch.STAT_CTIME] = self._ctimes
        return rows

    def retime(self, ctimes: Array) -> None:
        """Take these (int64[files]) for the change times of the files in `stats`."""
        self._ctimes = ctimes
        if "stats" in self.__dict__:
            self.stats[:, fetch.STAT_CTIME] = ctimes

    def candidates(self, formula: Formula, *, below: int | None = None) -> Array:
        """uint32: the blocks that may hold a match inside one line, rising.

        below: look at blocks lower than this alone, and at no more of the lists than it takes.

        Raises:
            IndexCorrupt: a posting list is damaged.
        """
        some = self.blocks if below is None else below
        found = self._blocks(formula, some)
        return np.arange(some, dtype=np.uint32) if found is None else found

    def candidate_files(self, formula: Formula) -> Array:
        """bool[files]: files that may hold a match across lines."""
        chosen = self._files(formula)
        return np.ones(len(self.names), np.bool_) if chosen is None else chosen

    def _blocks(self, formula: Formula, below: int) -> Array | None:
        """Blocks lower than `below` that satisfy the formula; None for all of them."""
        match formula:
            case All():
                return None
            case Never():
                return np.empty(0, np.uint32)
            case Gram():
                return self._decode(formula.key, below)
            case Or():
                return self._any(formula, below)
            case And():
                return self._every(formula, below)

    def _any(self, formula: Or, below: int) -> Array | None:
        parts = [self._blocks(part, below) for part in formula.parts]
        there = np.zeros(below, np.bool_)
        for part in parts:
            if part is None:
                return None
            there[part] = True
        return np.flatnonzero(there).astype(np.uint32)

    def _every(self, formula: And, below: int) -> Array | None:
        """Intersect, rarest first, and stop where a list costs more than it can save."""
        ordered = sorted((self._at_most(part), i) for i, part in enumerate(formula.parts))
        kept: Array | None = None
        gain = 0
        for most, i in ordered:
            part = formula.parts[i]
            if kept is None:
                kept = self._blocks(part, below)
                gain = 0 if kept is None else len(kept) // 3 + 1
                continue
            steps = most * below // max(self.blocks, 1)
            if len(kept) == 0 or _meeting_ns(steps, len(kept)) > gain * BLOCK_NS:
                break
            fewer = self._both(kept, part, below)
            # Lists that rule nothing out come in rows: a long name's parts go together.
            gain = max(gain // 2, len(kept) - len(fewer))
            kept = fewer
        return kept

    def _both(self, kept: Array, part: Formula, below: int) -> Array:
        """Those of the blocks that satisfy the formula too; may be written over."""
        if isinstance(part, Gram):
            return self._narrow(kept, part.key)
        other = self._blocks(part, below)
        if other is None:
            return kept
        out = np.empty(min(len(kept), len(other)), np.uint32)
        return out[: postings.intersect(kept, len(kept), other, len(other), out)]

    def _decode(self, gram: int, below: int) -> Array:
        begin, end, frequency = self.segment.postings_of(gram)
        out = np.empty(min(frequency, below), np.uint32)
        values = self.segment.postings.values
        size = postings.decode(values, begin, end, self.blocks, below, out)
        if size < 0 or (below >= self.blocks and size != frequency):
            raise errors.IndexCorrupt(f"posting list {gram:#08x} of {self.segment.id} is damaged")
        return out[:size]

    def _narrow(self, kept: Array, gram: int) -> Array:
        begin, end, _ = self.segment.postings_of(gram)
        values = self.segment.postings.values
        size = postings.intersect_encoded(values, begin, end, self.blocks, kept, len(kept))
        if size < 0:
            raise errors.IndexCorrupt(f"posting list {gram:#08x} of {self.segment.id} is damaged")
        return kept[:size]

    def _files(self, formula: Formula) -> Array | None:
        """The same by file: a match across lines may have its trigrams in different blocks."""
        match formula:
            case All():
                return None
            case Never():
                return np.zeros(len(self.names), np.bool_)
            case Gram():
                chosen = np.zeros(len(self.names), np.bool_)
                chosen[self.block_file[self._decode(formula.key, self.blocks)]] = True
                return chosen
            case Or() | And():
                parts = [self._files(part) for part in formula.parts]
                known = [part for part in parts if part is not None]
                if isinstance(formula, Or):
                    return None if len(known) < len(parts) else np.logical_or.reduce(known)
                return np.logical_and.reduce(known) if known else None

    def _at_most(self, formula: Formula) -> int:
        """Upper bound of the blocks that satisfy the formula, from document frequencies."""
        match formula:
            case All():
                return self.blocks
            case Never():
                return 0
            case Gram():
                return self.segment.frequency_of(formula.key)
            case And():
                return min(self._at_most(part) for part in formula.parts)
            case Or():
                return min(self.blocks, sum(self._at_most(part) for part in formula.parts))

    def estimate(self, formula: Formula) -> Estimate:
        """How selective a formula is, without decoding a list."""
        return Estimate(self._at_most(formula), self.blocks)


class Reader:
    """All live segments of one generation."""

    def __init__(self, index_dir: str | os.PathLike[str], current: manifest.Manifest) -> None:
        self.index_dir = index_dir
        self.manifest = current
        segments = {live.id: Segment(index_dir, live.id, live.xxh3) for live in current.segments}
        self.views = [View(segments[live.id], _dead(segments, live)) for live in current.segments]
        if current.tree not in segments:
            raise errors.IndexCorrupt(f"the tree's tables in {index_dir} are of no live segment")
        tree = segments[current.tree]
        # Mapped now, because a writer may unlink the files while this reader lives.
        self.directories = tree.table("directories", layout.DIRECTORIES)
        self.watched = tree.table("watched", layout.WATCHED)
        self.excluded = tree.table("excluded", layout.EXCLUDED)
        self.tree_scanned_ns = int(tree.facts.get("tree_scanned_ns", tree.facts["scanned_ns"]))
        """When the walk behind those tables began."""

    @classmethod
    def open(cls, index_dir: str | os.PathLike[str]) -> Reader | None:
        """The current generation, or None when there is no index.

        A writer may replace the generation, and remove its files, between reading the manifest
        and mapping the segments; the newer one is then opened instead.

        Raises:
            IndexCorrupt, FormatTooNew, IndexUnavailable: as `manifest.read`.
        """
        current = manifest.read(index_dir)
        while current is not None:
            try:
                return cls(index_dir, current)
            except errors.IndexCorrupt:
                newer = manifest.read(index_dir)
                if newer is None or newer.generation == current.generation:
                    raise
                current = newer
        return None

    def verify(self) -> None:
        """Verify now what opening left for later, all but the postings.

        Raises:
            IndexCorrupt: something is not what was written.
        """
        for view in self.views:
            view.segment.verify()
        for table in (self.directories, self.watched, self.excluded):
            table.verify()

    @property
    def generation(self) -> int:
        """The generation this reader sees, whatever writers do."""
        return self.manifest.generation

    @property
    def scanned_ns(self) -> list[int]:
        """When the walk behind each segment began, nanoseconds since the epoch."""
        return [view.scanned_ns for view in self.views]


def _meeting_ns(steps: int, kept: int) -> float:
    """What it takes to narrow `kept` blocks by a list of so many steps."""
    return LIST_NS + min(STEP_NS * steps, SKIPPED_NS * steps + MEETING_NS * kept)


def _dead(segments: dict[str, Segment], live: manifest.Live) -> Array:
    """Numbers of the files of a segment that a newer one replaced or removed."""
    if not live.dead:
        return np.empty(0, np.int64)
    segment = segments[live.id]
    path: Path = segment.folder.parent / f"{live.dead}.npy"
    assert live.dead_entry is not None  # noqa: S101 - written together with `dead`
    dead = column.load(path, live.dead_entry)
    if len(dead) and int(dead.max()) >= segment.files.rows:
        raise errors.IndexCorrupt(f"{path} names files that are not there")
    return dead.astype(np.int64)
