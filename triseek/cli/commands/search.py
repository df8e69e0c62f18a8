"""`triseek search`, the default verb."""

from __future__ import annotations

import errno
import os
import stat
import time
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from triseek.cli.command_context import Output
from triseek.cli.operands import Naming, Places, as_typed, runs, session
from triseek.cli.render.file_matches import BulkRenderer, FileMatches, RowLists
from triseek.cli.render.report import SearchReport, footer, statistics
from triseek.cli.resolve import as_explicit
from triseek.engine.search.backends.binary import HELD_MAX_BYTES
from triseek.engine.search.backends.file import FileSearch
from triseek.engine.search.backends.lines import limit_reached_at, spans_lines
from triseek.errors import InvalidQuery
from triseek.files.tree.ignore import faults_above
from triseek.files.tree.text import decode_all, is_binary
from triseek.files.tree.walk import path_order
from triseek.query.globs.scope import Scope
from triseek.query.pattern import compile as compile_pattern
from triseek.query.stray import FIRST_READ
from triseek.terminal import status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

    from triseek.cli.command_context import CommandContext
    from triseek.cli.operands import OperandPlace
    from triseek.cli.render.file_matches import Renderer
    from triseek.cli.render.replace import Replacer
    from triseek.cli.resolve import CommandPlan, Operand
    from triseek.engine.engine import Engine
    from triseek.engine.search.backends.base import Batch
    from triseek.engine.search.search import Search
    from triseek.engine.service import Service
    from triseek.model.search import ScopeSpec, SearchRequest, Skipped

MARK_BYTES = 3
"""Length of the longest byte order mark."""
PIECE_BYTES = 1 << 20
"""Bytes of a possibly large file that are in memory at a time."""
FAULTS = ("unreadable", "loop", "not_found", "other")
"""Reasons for skipping a file that are worth a message and an exit status of 2."""


def run(plan: CommandPlan, context: CommandContext, service: Service | None = None) -> int:
    """Search, write the results, and return the exit status.

    Without a service one is opened for this command alone.
    """
    started = time.perf_counter()
    counts_unlisted = plan.stats and plan.shows == "files_without_match"
    if counts_unlisted:
        context = context._replace(read_stdin=cache(context.read_stdin))  # searched twice
    with session(service) as open_service:
        job = _Job(plan, Places(open_service, context), context)
        try:
            if plan.shows == "list":
                job.check_ignore_files()
                job.list_files()
            elif not _possible(plan.request):
                Scope.compile(plan.request.scope)  # a bad glob or type is an error all the same
            else:
                job.check_ignore_files()
                job.search()
                if counts_unlisted:
                    job.count_unlisted()
            job.close(time.perf_counter() - started)
        finally:
            job.out.flush()
    report = job.report
    if report.matched and (plan.quiet or not report.faulty):
        return status.FOUND
    return status.ERROR if report.faulty else status.NOTHING


def _possible(request: SearchRequest) -> bool:
    """Return whether any line can be a result; without a pattern only with `invert`."""
    return bool(request.pattern.patterns or request.invert) and request.max_count != 0


class _Job:
    """One command: searches all operands in turn, with one renderer."""

    def __init__(self, plan: CommandPlan, places: Places, context: CommandContext) -> None:
        self.plan = plan
        self.places = places
        self.context = context
        self.out = Output(context.out, eager=plan.eager)
        self.report = SearchReport()
        self.renderer = _renderer(plan, self.out)
        self._stops_early = plan.quiet and not plan.stats

    def check_ignore_files(self) -> None:
        """Report files of --ignore-file that cannot be read; the search goes on without them."""
        for path in self.plan.request.scope.ignore_files:
            try:
                fault = errno.EISDIR if stat.S_ISDIR(self.context.stat(path).st_mode) else 0
            except OSError as error:
                fault = error.errno or errno.EIO
            if fault:
                self._say(f"{path}: {os.strerror(fault)} (os error {fault})")

    # Searching

    def search(self) -> None:
        """Search operand by operand."""
        self._check_words()
        for group in runs(self.plan.operands):
            operand = group[0]
            if operand.kind == "missing":
                self._complain(operand.typed, operand.fault)
            elif operand.kind == "stdin":
                self._search_stdin()
            elif operand.kind == "file":
                self._search_files(group)
            else:
                self._search_tree(operand)
            if self._stops_early and self.report.matched:
                return

    def _check_words(self) -> None:
        """Find mistakes that requests for named files would hide, because those drop the scope.

        Raises:
            InvalidQuery: as `engine.search.search.Search` does.
        """
        request = self.plan.request
        Scope.compile(request.scope)
        pattern = compile_pattern(request.pattern)
        if pattern.needs_nul and not request.scope.text:
            raise InvalidQuery(
                "the pattern asks for a NUL byte, and a file that holds one is not searched",
                next_step="Add -a (--text) to search binary files as well.",
            )

    def _search_tree(self, operand: Operand) -> None:
        place, scope = self._placed(operand)
        naming = Naming(place.inside, operand.typed)
        request = replace(self.plan.request, scope=scope, paths=place.paths)
        if self.plan.include_zero and self.plan.shows in ("count", "count_matches"):
            self._count_all(place, request, naming)
        else:
            self._show_matches(place, request, naming)
        nothing = not (self.report.matched or self.report.totals.files_searched)
        if nothing and not operand.typed:
            self._check_scope(place, request)

    def _show_matches(self, place: OperandPlace, request: SearchRequest, naming: Naming) -> None:
        renderer = self.renderer
        bulk = renderer if isinstance(renderer, BulkRenderer) and renderer.is_plain else None
        for batch, search in self._batches(place.engine, request, naming.shown):
            if bulk is not None and not self._needs_files(batch, search):
                self.report.matched = self.report.matched or self._any_counts(batch)
                bulk.batch(batch, naming.shown)
                continue
            for matches in self._files_of(batch, search, place.engine, naming.shown):
                self._show(matches)

    def _placed(self, operand: Operand) -> tuple[OperandPlace, ScopeSpec]:
        """Return the place of a folder operand and its scope; report invalid globs above it."""
        place = self.places.tree(operand.typed)
        scope = as_typed(self.plan.request.scope, place, operand.typed, self.context)
        folder = os.path.join(os.fsencode(place.engine.root), place.inside)
        for path, fault in faults_above(folder, scope):
            self._complain(os.fsdecode(path), fault)
        return place, scope

    @staticmethod
    def _needs_files(batch: Batch, search: Search) -> bool:
        """Return whether rows may have several lines, or are of binary files or of context."""
        return (
            bool(batch.nuls)
            or spans_lines(search.pattern, search.request)
            or bool(batch.rows["context"].any())
        )

    def _any_counts(self, batch: Batch) -> bool:
        without = self.plan.shows == "files_without_match"
        return bool(batch.counts.any()) or (without and bool(batch.paths))

    def _check_scope(self, place: OperandPlace, request: SearchRequest) -> None:
        """Report an error, as ripgrep does, if the filters leave nothing of the working folder."""
        if next(iter(place.engine.list_files(request.scope, request.paths)), None) is None:
            self.report.faulty = True
            self._say(
                "no files were searched: an ignore file or a filter leaves none; "
                "triseek --files shows what is left, -uu filters less"
            )

    def _count_all(self, place: OperandPlace, request: SearchRequest, naming: Naming) -> None:
        """Show the counts of all files that were searched, zeros too (--include-zero)."""
        by_path = {file.path: file for file in self._found(place.engine, request, naming.shown)}
        search_file = FileSearch(place.engine.root, request, compile_pattern(request.pattern))
        text = request.scope.text or request.scope.binary
        for path in place.engine.list_files(request.scope, request.paths):
            shown = naming.shown(path)
            if shown in by_path:
                self._show(by_path[shown])
            elif text or not _ends_at_nul(search_file, path):
                self.renderer.file(_nothing_in(shown))

    def _search_files(self, operands: tuple[Operand, ...]) -> None:
        """Search named files, in the order in which they were named."""
        placed = [(operand, self.places.file(operand.typed)) for operand in operands]
        answers: dict[tuple[int, bytes], FileMatches] = {}
        for engine in {id(place.engine): place.engine for _, place in placed}.values():
            paths = {place.inside: None for _, place in placed if place.engine is engine}
            request = replace(
                as_explicit(self.plan.request, mapped=self.plan.named_mapped),
                paths=tuple(os.fsdecode(path) for path in paths),
            )
            for matches in self._found(engine, request, bytes):
                answers[id(engine), matches.path] = matches
        for operand, place in placed:
            answer = answers.get((id(place.engine), place.inside))
            shown = os.fsencode(operand.typed)
            if answer is not None:
                self._show(answer._replace(path=shown))
            elif self.plan.include_zero and self.plan.shows in ("count", "count_matches"):
                self.renderer.file(_nothing_in(shown))

    def _search_stdin(self) -> None:
        """Search standard input in place of an empty file, because backends list files."""
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="triseek-stdin-") as folder:
            path = os.path.join(folder, "stdin")
            with open(path, "wb"):
                place = self.places.file(path)
            request = replace(
                as_explicit(self.plan.request, mapped=False),
                paths=(os.fsdecode(place.inside),),
                stdin=self.context.stdin,
            )
            answered = False
            for matches in self._found(place.engine, request, lambda _: b"<stdin>"):
                answered = True
                self._show(matches)
            counts = self.plan.shows in ("count", "count_matches")
            if not answered and counts and self.plan.include_zero:
                self.renderer.file(_nothing_in(b"<stdin>"))

    def _found(
        self, engine: Engine, request: SearchRequest, shown: Callable[[bytes], bytes]
    ) -> Iterator[FileMatches]:
        """Search, and yield the matches file by file."""
        for batch, search in self._batches(engine, request, shown):
            yield from self._files_of(batch, search, engine, shown)

    def _batches(
        self, engine: Engine, request: SearchRequest, shown: Callable[[bytes], bytes]
    ) -> Iterator[tuple[Batch, Search]]:
        """Search, and yield the matches a few files at a time."""
        search = engine.search(self._within_limit(request))
        last: bytes | None = None
        try:
            for batch in search:
                self.context.check()
                if self._stops_early:
                    last = batch.paths[0]
                yield batch, search
                if self.plan.eager:
                    self.out.flush()
        finally:
            search.close()
            self._count_misses(search)
            self.report.add(search, os.fsencode(engine.root))
            if search.request.count_all or not search.totals.truncated:
                # It is not known which of the files behind the limit could be read.
                self._complain_about(_before(last, search.totals.skipped), shown)

    def _count_misses(self, search: Search) -> None:
        """Let a binary file without a match, which is not listed, count for the exit status."""
        if search.request.mode == "files_without_match":
            binary = any(file.reason == "binary" for file in search.totals.skipped)
            self.report.matched = self.report.matched or search.totals.misses or binary

    def _files_of(
        self, batch: Batch, search: Search, engine: Engine, shown: Callable[[bytes], bytes]
    ) -> Iterator[FileMatches]:
        root, spanning = os.fsencode(engine.root), spans_lines(search.pattern, search.request)
        for number, (path, rows, count) in enumerate(_files(batch)):
            nul = batch.nuls.get(number)
            size = 0
            if self.plan.shows == "json":
                size = (
                    search.totals.bytes_searched
                    if search.request.stdin >= 0
                    else _searched(os.path.join(root, path), batch, number, search)
                )
            yield FileMatches(
                path=shown(path),
                rows=rows,
                text=batch.text,
                hits=count,
                pattern=search.pattern,
                nul=nul,
                size=size if nul is None else nul.searched,
                multiline=spanning,
                text_end=batch.ends.get(number, 0),
                first_read=batch.first_reads.get(number, FIRST_READ),
            )

    def _within_limit(self, request: SearchRequest) -> SearchRequest:
        """Return the request with the part of --limit that earlier operands have left."""
        if request.limit is None:
            return request
        totals = self.report.totals
        used = totals.lines if request.mode == "lines" else totals.files_matched
        return replace(request, limit=max(0, request.limit - used))

    def _show(self, matches: FileMatches) -> None:
        self.report.matched = self.report.matched or self._counts(matches)
        self.renderer.file(matches)

    @property
    def _summed(self) -> bool:
        """Whether a file's matches are only counted, or not shown at all."""
        return self.plan.quiet or self.plan.shows in ("count", "count_matches", "files")

    def _counts(self, matches: FileMatches) -> bool:
        if self._summed and matches.nul is not None and matches.nul.stopped:
            return False  # only the statistics count what matched in the file
        return matches.hits > 0 or self.plan.shows == "files_without_match"

    def count_unlisted(self) -> None:
        """Count what is in the files with matches, for the statistics of --files-without-match."""
        request = replace(self.plan.request, mode="lines")
        plan = replace(self.plan, request=request, shows="count", quiet=True, messages=False)
        job = _Job(plan, self.places, self.context)
        job.search()
        self.renderer.counts = job.renderer.counts

    # Listing

    def list_files(self) -> None:
        """List the files (--files)."""
        from triseek.cli.render.summary import PathLines

        Scope.compile(self.plan.request.scope)  # also where only files were named
        printer = PathLines(self.plan.look, self.out)
        for paths in self._listed():
            self.report.matched = self.report.matched or bool(paths)
            if self.plan.quiet and paths:
                return
            printer.paths(paths)

    def _listed(self) -> Iterator[list[bytes]]:
        """Yield the files of each operand."""
        for operand in self.plan.operands:
            if operand.kind == "missing":
                self._complain(operand.typed, operand.fault)
            elif operand.kind == "file":
                yield [os.fsencode(operand.typed)]
            elif operand.kind == "stdin":
                yield [b"<stdin>"]
            else:
                place, scope = self._placed(operand)
                naming = Naming(place.inside, operand.typed)
                skipped: list[Skipped] = []
                paths = list(place.engine.list_files(scope, place.paths, skipped=skipped))
                last = paths[0] if paths and self.plan.quiet else None
                self._complain_about(_before(last, skipped), naming.shown)
                yield naming.all_shown(paths)

    # Closing words

    def close(self, seconds: float) -> None:
        """Write what comes after the last file."""
        plan, report, counts = self.plan, self.report, self.renderer.counts
        totals = report.totals
        if not _possible(plan.request) and (plan.shows == "json" or plan.stats):
            return  # ripgrep searches nothing then, and has no statistics
        if plan.shows == "envelope":
            self._write_envelope(seconds)
        elif plan.shows == "json":
            from triseek.cli.render.json_lines import summary

            self.out.write(summary(counts, report, seconds))
        elif plan.stats and plan.shows != "list":
            self.out.write(statistics(counts, report, seconds))
        elif plan.footer:
            self.out.write(footer(report, seconds, colored=plan.look.palette is not None))
        if not plan.quiet:
            for note in report.notes:
                self._say(f"note: {note}")
            if totals.incomplete and plan.request.count_all:
                self._say(f"incomplete: {totals.incomplete}")

    def _write_envelope(self, seconds: float) -> None:
        from triseek.cli.render.envelope import Envelope

        if not isinstance(self.renderer, Envelope):
            return  # -q: only the exit status
        totals = self.report.totals
        totals.elapsed_ms = totals.elapsed_ms or seconds * 1e3
        self.out.write(self.renderer.document(self.report))

    def _complain_about(self, skipped: Iterable[Skipped], shown: Callable[[bytes], bytes]) -> None:
        for file in skipped:
            if file.reason in FAULTS:
                self._complain(
                    shown(file.path).decode(errors="replace"), file.detail or file.reason
                )

    def _complain(self, path: str, fault: str) -> None:
        self.report.faulty = True
        shown = path.encode(errors="surrogateescape").decode(errors="replace")
        self._say(f"{shown}: {fault}")

    def _say(self, message: str) -> None:
        if self.plan.messages:
            self.context.err(f"triseek: {message}")


def _before(last: bytes | None, skipped: list[Skipped]) -> list[Skipped]:
    """Return those that -q meets before the file it stops at; all of them if it stops at none."""
    if last is None:
        return skipped
    return [file for file in skipped if path_order(file.path) < path_order(last)]


def _renderer(plan: CommandPlan, out: Output) -> Renderer:
    """Return the renderer for what the plan shows; only its module is imported."""
    if plan.quiet and plan.shows != "list":
        from triseek.cli.render.summary import Silence

        return _tallied(Silence(), plan) if plan.stats else Silence()
    if plan.shows == "envelope":
        from triseek.cli.render.envelope import Envelope

        return Envelope()
    if plan.shows == "json":
        from triseek.cli.render.json_lines import JsonLines

        return JsonLines(plan.look, out, _replacer(plan))
    if plan.shows == "standard":
        from triseek.cli.render.standard import Standard

        return Standard(plan.look, out, _replacer(plan))
    from triseek.cli.render.summary import CountLines, PathLines

    lines: Renderer = PathLines(plan.look, out)
    if "count" in plan.shows:
        lines = CountLines(plan.look, out)
    return _tallied(lines, plan) if plan.request.mode == "lines" else lines


def _tallied(renderer: Renderer, plan: CommandPlan) -> Renderer:
    from triseek.cli.render.summary import Tallied

    return Tallied(renderer, plan.look, matches=plan.shows == "count_matches")


def _replacer(plan: CommandPlan) -> Replacer | None:
    """Return the replacer of matches for -r; None without -r."""
    if plan.look.replacement is None or not _possible(plan.request):
        return None
    from triseek.cli.render.replace import Replacer

    return Replacer(plan.look.replacement, compile_pattern(plan.request.pattern))


def _files(batch: Batch) -> Iterator[tuple[bytes, RowLists, int]]:
    """Yield path, rows and count of each file of a batch."""
    rows = RowLists.of(batch.rows)
    bounds = np.searchsorted(batch.rows["file"], np.arange(len(batch.paths) + 1)).tolist()
    counts = batch.counts.tolist()
    for number, (path, count) in enumerate(zip(batch.paths, counts, strict=True)):
        yield path, rows.part(bounds[number], bounds[number + 1]), count


def _nothing_in(path: bytes) -> FileMatches:
    return FileMatches(path=path, rows=RowLists(), text=b"", hits=0, pattern=None)


def _without_waiting(path: str, flags: int) -> int:
    """Open a searched file again without blocking: a FIFO that took its place reads as empty."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)


def _ends_at_nul(search_file: FileSearch, path: bytes) -> bool:
    """Return whether the search of a file without matches ended at a NUL, or could not be done.

    Where ripgrep notices a NUL depends on how it reads and on what matches, so a file that holds
    one is searched again.
    """
    try:
        with open(os.path.join(search_file.root, path), "rb", opener=_without_waiting) as file:
            if not any(map(is_binary, _pieces(file))):
                return False
    except OSError:
        return True
    return search_file(path).skipped is not None


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield the rest of a file, piece by piece."""
    while piece := file.read(PIECE_BYTES):
        yield piece


def _searched(path: bytes, batch: Batch, number: int, search: Search) -> int:
    """Return how many bytes of a file's text were searched."""
    first, last = np.searchsorted(batch.rows["file"], (number, number + 1))
    stopped = limit_reached_at(batch.rows[first:last], search.pattern, search.request)
    return _size(path) if stopped is None else stopped


def _size(path: bytes) -> int:
    """Return how many bytes a file's text has, without a mark, and UTF-16 as UTF-8."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            head = file.read(MARK_BYTES) or b""
            decoded = decode_all(head)
            if decoded.encoding.startswith("utf-16"):
                return len(decode_all(head + (file.read(HELD_MAX_BYTES) or b"")).data)
            return os.fstat(file.fileno()).st_size - decoded.offset_base
    except OSError:
        return 0  # the file is gone: a statistic is not worth an error
