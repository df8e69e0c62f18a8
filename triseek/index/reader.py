"""Reader of one generation of an index: the candidate blocks of a formula; sizes and counts.

Everything is mapped and read-only, so threads can share a reader, and writers do not affect it.
Data is verified when it is first read: anything here that reads may raise `IndexCorrupt`.
"""

from __future__ import annotations

import os
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from triseek import errors
from triseek.kernels import fetch, postings
from triseek.model.index import IndexStatus, category_of
from triseek.model.search import Skipped
from triseek.query.globs.path_table import PathTable
from triseek.query.trigrams.formula import All, And, Gram, Never, Or
from triseek.store import layout, manifest
from triseek.store.segment import Segment
from triseek.store.size import size_on_disk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.query.trigrams.formula import Formula
    from triseek.store.table import StringColumn

Array: TypeAlias = np.ndarray[Any, Any]

BLOCK_NS = 5_000
"""Cost of reading and searching a block, including opening its file."""
LIST_NS = 10_000
"""Fixed cost of intersecting with a posting list."""
STEP_NS = 4
"""Cost of each step of the list that is decoded."""
SKIPPED_NS = 0.1
"""Cost of each step that is skipped, together with 63 others."""
MEETING_NS = 250
"""Cost of each block still in the intersection: the steps around it are decoded."""
FEW_SHARE = 16
"""Of an alternative with this many times as many blocks as are left, no list is decoded whole."""


class Estimate(NamedTuple):
    """An upper bound of the blocks that satisfy a formula, from document frequencies alone."""

    blocks: int
    of: int


class View:
    """One segment with the arrays that a search needs, each made on first use."""

    def __init__(self, segment: Segment, dead: Array) -> None:
        self.segment = segment
        self.alive: Array = np.ones(segment.files.rows, np.bool_)
        """bool[files]: whether the file is live (no newer segment replaced or removed it)."""
        self.alive[dead] = False

    @cached_property
    def names(self) -> StringColumn:
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

        For a merged segment, the last of its walks; see `index.merge` about racy files.
        """
        facts = self.segment.facts
        return int(facts.get("files_scanned_ns", facts["scanned_ns"]))

    @property
    def block_file(self) -> Array:
        """uint32[blocks]: the file of each block."""
        return self.segment.block_file

    @cached_property
    def paths(self) -> PathTable:
        """The files' paths, prepared for matching globs."""
        return PathTable.of(self.names.all())

    @cached_property
    def allowlisted(self) -> Array:
        """bool[files]: files in hidden places that ripgrep would leave out."""
        shown: Array = (self.flags & layout.FLAG_ALLOWLISTED) != 0
        return shown

    @cached_property
    def _skipped(self) -> tuple[Array, list[Skipped]]:
        """Files without searchable text: their numbers, and a `Skipped` for each."""
        numbers = np.flatnonzero(self.skip != layout.SKIP_NONE)
        reasons = self.skip[numbers].tolist()
        entries = [
            Skipped(path, layout.SKIP_REASONS[reason])
            for path, reason in zip(self.names.take(numbers), reasons, strict=True)
        ]
        return numbers, entries

    def skipped(self, chosen: Array) -> list[Skipped]:
        """Return those of the chosen files (bool[files]) without searchable text, and why."""
        numbers, entries = self._skipped
        return list(compress(entries, chosen[numbers].tolist()))

    @cached_property
    def edges(self) -> Array:
        """int64[files + 1]: the blocks of file f are edges[f]..edges[f + 1] - 1."""
        return np.searchsorted(self.block_file, np.arange(self.segment.files.rows + 1))

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return self.segment.blocks.rows

    @cached_property
    def searchable(self) -> Array:
        """bool[files]: whether the file is live and has searchable text."""
        searchable: Array = self.alive & (self.skip == layout.SKIP_NONE)
        return searchable

    def text_bytes(self, dead: Array | None = None) -> int:
        """Return the bytes of text in the live files, without those whose numbers are `dead`."""
        counted = self.searchable
        if dead is not None:
            counted = counted.copy()
            counted[dead] = False
        lengths = self.segment.blocks.numbers("length")
        return int(lengths[counted[self.block_file]].sum(dtype=np.int64))

    @cached_property
    def stats(self) -> Array:
        """int64[files, STAT_SLOTS]: each file's stored stat, a row as in `kernels.fetch`."""
        files = self.segment.files
        rows = np.ones((files.rows, fetch.STAT_SLOTS), np.int64)
        rows[:, fetch.STAT_SIZE] = files.numbers("size")
        rows[:, fetch.STAT_MTIME] = files.numbers("mtime_ns")
        rows[:, fetch.STAT_CTIME] = files.numbers("ctime_ns")
        rows[:, fetch.STAT_INODE] = files.numbers("inode")
        return rows

    def candidates(self, formula: Formula, *, below: int | None = None) -> Array:
        """Return the blocks that may hold a match inside one line, as uint32, ascending.

        below: return only blocks lower than this, and decode no more of the lists than needed.

        Raises:
            IndexCorrupt: a posting list is damaged.
        """
        limit = self.blocks if below is None else below
        match formula:
            case All():
                return np.arange(limit, dtype=np.uint32)
            case Never():
                return np.empty(0, np.uint32)
            case Gram():
                return self._decode(formula.key, limit)
            case And():
                return self._every(formula, limit)
            case Or():
                present = np.zeros(limit, np.bool_)
                for part in formula.parts:
                    present[self.candidates(part, below=limit)] = True
                return np.flatnonzero(present).astype(np.uint32)

    def candidate_files(self, formula: Formula) -> Array:
        """Return bool[files]: the files that may hold a match across lines.

        Such a match may have its trigrams in different blocks of a file.
        """
        match formula:
            case All():
                return np.ones(len(self.names), np.bool_)
            case And() | Or():
                combine = np.logical_and if isinstance(formula, And) else np.logical_or
                both: Array = combine.reduce([self.candidate_files(p) for p in formula.parts])
                return both
            case Gram() | Never():
                chosen = np.zeros(len(self.names), np.bool_)
                chosen[self.block_file[self.candidates(formula)]] = True
                return chosen

    def _every(self, formula: And, below: int) -> Array:
        """Intersect the parts, rarest first; stop when a list costs more than it can save."""
        (_, rarest), *others = sorted(
            (self._at_most(part), i) for i, part in enumerate(formula.parts)
        )
        kept = self.candidates(formula.parts[rarest], below=below)
        gain = len(kept) // 3 + 1
        for most, i in others:
            steps = most * below // max(self.blocks, 1)
            # The cost of intersecting the blocks with a list of so many steps.
            cost_ns = LIST_NS + min(STEP_NS * steps, SKIPPED_NS * steps + MEETING_NS * len(kept))
            if len(kept) == 0 or cost_ns > gain * BLOCK_NS:
                break
            fewer = self._both(kept, formula.parts[i], below)
            # Lists that exclude nothing come in runs: the trigrams of a long name go together.
            gain = max(gain // 2, len(kept) - len(fewer))
            kept = fewer
        return kept

    def _both(self, kept: Array, part: Formula, below: int) -> Array:
        """Return those of the blocks that satisfy the formula too; `kept` may be overwritten."""
        if isinstance(part, Gram):
            return self._narrow(kept, part.key)
        if isinstance(part, Or) and FEW_SHARE * len(kept) < self._at_most(part):
            grams = [each for each in part.parts if isinstance(each, Gram)]
            if len(grams) == len(part.parts):  # a trigram in any case
                return np.unique(
                    np.concatenate([self._narrow(kept.copy(), gram.key) for gram in grams])
                )
        other = self.candidates(part, below=below)
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

    def _at_most(self, formula: Formula) -> int:
        """Return an upper bound of the blocks that satisfy the formula, by document frequencies."""
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
        """Return how selective a formula is, without decoding a list."""
        return Estimate(self._at_most(formula), self.blocks)


class IndexReader:
    """All live segments of one generation."""

    def __init__(self, index_dir: str | os.PathLike[str], current: manifest.Manifest) -> None:
        self.index_dir = index_dir
        self.manifest = current
        segments = {live.id: Segment(index_dir, live.id, live.xxh3) for live in current.segments}
        self.views = [
            View(segments[live.id], manifest.dead_files(segments[live.id], live))
            for live in current.segments
        ]
        if current.tree not in segments:
            raise errors.IndexCorrupt(f"the tree's tables in {index_dir} are of no live segment")
        tree = segments[current.tree]
        # Mapped now, because a writer may unlink the files while this reader is in use.
        self.directories, self.watched, self.excluded = (
            tree.table(name, schema) for name, schema in layout.TREE_TABLES.items()
        )
        self.tree_scanned_ns = int(tree.facts.get("tree_scanned_ns", tree.facts["scanned_ns"]))
        """When the walk behind these tables began, nanoseconds since the epoch."""

    @classmethod
    def open(cls, index_dir: str | os.PathLike[str]) -> IndexReader | None:
        """Open the current generation; None if there is no index.

        If a writer replaces the generation and removes its files after the manifest was read and
        before the segments are mapped, the newer generation is opened instead.

        Raises:
            IndexCorrupt, FormatTooNew, IndexUnavailable: as for `manifest.read`.
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
        """Verify all data but the postings, which opening does not.

        Raises:
            IndexCorrupt: some data is damaged.
        """
        for view in self.views:
            view.segment.verify()
        for table in (self.directories, self.watched, self.excluded):
            table.verify()

    @property
    def generation(self) -> int:
        """The number of the generation that this reader sees."""
        return self.manifest.generation

    def text_bytes(self) -> int:
        """Return the bytes of searchable text of this generation."""
        return sum(view.text_bytes() for view in self.views)

    @property
    def scanned_ns(self) -> list[int]:
        """When the walk behind each segment began, nanoseconds since the epoch."""
        return [view.scanned_ns for view in self.views]


def status_of(root: str, reader: IndexReader, *, dirty: int, fresh: bool) -> IndexStatus:
    """Return the status of the reader's generation.

    `dirty` and `fresh` are the caller's, from its comparison with the tree.

    Raises:
        IndexCorrupt: a table that is counted here is damaged.
    """
    views = reader.views
    files = sum(int(view.searchable.sum()) for view in views)
    size = reader.text_bytes()
    return IndexStatus(
        root=root,
        index_dir=os.fspath(reader.index_dir),
        present=True,
        fresh=fresh,
        generation=reader.generation,
        files=files,
        files_binary=_skipped(views, layout.SKIP_BINARY),
        files_unreadable=_skipped(views, layout.SKIP_UNREADABLE),
        blocks=sum(view.blocks for view in views),
        trigrams=max(view.segment.distinct for view in views),
        segments=len(views),
        text_bytes=size,
        index_bytes=size_on_disk(reader.index_dir),
        updated_ns=max(int(view.segment.facts["created_ns"]) for view in views),
        dirty=dirty,
        category=category_of(files, size),
    )


def _skipped(views: Sequence[View], reason: int) -> int:
    return sum(int((view.alive & (view.skip == reason)).sum()) for view in views)
