"""`triseek search`, the default verb."""

from __future__ import annotations

import errno
import os
import stat
import time
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from triseek.cli.operands import as_typed, places, runs
from triseek.cli.render.file_matches import FileMatches, Renderer, RowLists
from triseek.cli.render.report import SearchReport, footer, statistics
from triseek.cli.resolve import as_explicit
from triseek.engine.search.backends.binary import HELD_MAX_BYTES
from triseek.engine.search.backends.file import FileSearch
from triseek.engine.search.backends.lines import limit_reached_at
from triseek.engine.search.query import Query
from triseek.files.tree.ignore import faults_above
from triseek.files.tree.text import decode_all, is_binary
from triseek.files.tree.walk import path_order
from triseek.query.globs.scope import Scope
from triseek.query.pattern import compile as compile_pattern
from triseek.query.stray import FIRST_READ
from triseek.terminal import status
from triseek.terminal.command_context import NeedsClient, Output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from triseek.cli.operands import OperandPlace, Places
    from triseek.cli.render.replace import Replacer
    from triseek.cli.resolve import CommandPlan, Operand
    from triseek.engine.engine import Engine
    from triseek.engine.search.backends.base import Batch
    from triseek.engine.search.search import Search
    from triseek.engine.service import Service
    from triseek.model.search import ScopeSpec, SearchRequest, Skipped
    from triseek.terminal.command_context import CommandContext

STDIN_SHOWN = b"<stdin>"
MARK_BYTES = 3
"""Length of the longest byte order mark."""
PIECE_BYTES = 1 << 20
"""Bytes of a possibly large file that are in memory at a time."""
FAULTS = ("unreadable", "loop", "not_found", "other")
"""Reasons for skipping a file that are worth a message and an exit status of 2."""


def run(plan: CommandPlan, context: CommandContext, service: Service | None = None) -> int:
    """Search, write the results, and return the exit status.

    Without a service one is opened for this command alone.

    Raises:
        NeedsClient: A cluster is asked, whose address the client's environment may give.
    """
    if context.is_remote and plan.request.engine == "zoekt":
        raise NeedsClient("cluster")
    started = time.perf_counter()
    counts_unlisted = plan.stats and plan.shows == "files_without_match"
    if counts_unlisted:
        context = context._replace(read_stdin=cache(context.read_stdin))  # searched twice
    with places(service, context) as operand_places:
        job = _Job(plan, operand_places, context)
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
        self._shows_zeros = plan.include_zero and plan.shows in ("count", "count_matches")

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
            InvalidQuery: as `Query.of`.
        """
        Query.of("", replace(self.plan.request, paths=()))  # without paths no root is needed

    def _search_tree(self, operand: Operand) -> None:
        place, scope = self._placed(operand)
        request = replace(self.plan.request, scope=scope, paths=place.paths)
        if self._shows_zeros:
            self._count_all(place, request)
        else:
            self._show_matches(place, request)
        nothing = not (self.report.matched or self.report.totals.files_searched)
        if nothing and not operand.typed:
            self._check_scope(place, request)

    def _show_matches(self, place: OperandPlace, request: SearchRequest) -> None:
        for batch, search in self._batches(place.engine, request, place.shown):
            if self.renderer.is_plain and not self._needs_files(batch, search):
                shows_paths = self.plan.shows == "files_without_match"
                self.report.matched |= bool(batch.counts.any() or (shows_paths and batch.paths))
                self.renderer.batch(batch, place.shown)
                continue
            for matches in self._files_of(batch, search, place.engine, place.shown):
                self._show(matches)

    def _placed(self, operand: Operand) -> tuple[OperandPlace, ScopeSpec]:
        """Return the place of a folder operand and its scope; report invalid globs above it."""
        place = self.places.tree(operand.typed)
        scope = as_typed(self.plan.request.scope, place, self.context)
        folder = os.path.join(os.fsencode(place.engine.root), place.inside)
        for path, fault in faults_above(folder, scope):
            self._complain(os.fsdecode(path), fault)
        return place, scope

    @staticmethod
    def _needs_files(batch: Batch, search: Search) -> bool:
        """Return whether rows may have several lines, or are of binary files or of context."""
        return bool(batch.nuls) or search.query.spans_lines or bool(batch.rows["context"].any())

    def _check_scope(self, place: OperandPlace, request: SearchRequest) -> None:
        """Report an error, as ripgrep does, if the filters leave nothing of the working folder."""
        if next(iter(place.engine.list_files(request.scope, request.paths)), None) is None:
            self.report.faulty = True
            self._say(
                "no files were searched: an ignore file or a filter leaves none; "
                "triseek --files shows what is left, -uu filters less"
            )

    def _count_all(self, place: OperandPlace, request: SearchRequest) -> None:
        """Show the counts of all files that were searched, zeros too (--include-zero)."""
        by_path = {file.path: file for file in self._found(place.engine, request, place.shown)}
        search_file = FileSearch(Query.of(place.engine.root, request))
        text = request.scope.text or request.scope.binary
        for path in place.engine.list_files(request.scope, request.paths):
            shown = place.shown(path)
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
            elif self._shows_zeros:
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
            for matches in self._found(place.engine, request, lambda _: STDIN_SHOWN):
                answered = True
                self._show(matches)
            if self._shows_zeros and not answered:
                self.renderer.file(_nothing_in(STDIN_SHOWN))

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
        root, spanning = os.fsencode(engine.root), search.query.spans_lines
        rows, files = RowLists.of(batch.rows), np.arange(len(batch.paths) + 1)
        bounds = np.searchsorted(batch.rows["file"], files).tolist()
        for number, (path, hits) in enumerate(zip(batch.paths, batch.counts.tolist(), strict=True)):
            nul, size = batch.nuls.get(number), 0
            first, last = bounds[number : number + 2]
            if nul is not None:
                size = nul.searched
            elif self.plan.shows == "json" and search.request.stdin >= 0:
                size = search.totals.bytes_searched
            elif self.plan.shows == "json":
                file_rows = batch.rows[first:last]
                stopped = limit_reached_at(file_rows, search.query)
                size = _size(os.path.join(root, path)) if stopped is None else stopped
            yield FileMatches(
                path=shown(path),
                rows=rows.part(first, last),
                text=batch.text,
                hits=hits,
                pattern=search.query.pattern,
                nul=nul,
                size=size,
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

    def _counts(self, matches: FileMatches) -> bool:
        """Return whether a file counts for the exit status."""
        summed = self.plan.quiet or self.plan.shows in ("count", "count_matches", "files")
        if summed and matches.nul is not None and matches.nul.stopped:
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
                yield [STDIN_SHOWN]
            else:
                place, scope = self._placed(operand)
                skipped: list[Skipped] = []
                paths = list(place.engine.list_files(scope, place.paths, skipped=skipped))
                last = paths[0] if paths and self.plan.quiet else None
                self._complain_about(_before(last, skipped), place.shown)
                yield place.all_shown(paths)

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
    look, shows = plan.look, plan.shows
    is_silent = plan.quiet and shows != "list"
    if not is_silent and shows == "envelope":
        from triseek.cli.render.envelope import Envelope

        return Envelope()
    if not is_silent and shows == "json":
        from triseek.cli.render.json_lines import JsonLines

        return JsonLines(look, out, _replacer(plan))
    if not is_silent and shows == "standard":
        from triseek.cli.render.standard import Standard

        return Standard(look, out, _replacer(plan))
    from triseek.cli.render.summary import CountLines, PathLines, Tallied

    renderer: Renderer = CountLines(look, out) if "count" in shows else PathLines(look, out)
    if is_silent:
        renderer = Renderer()
    if plan.stats if is_silent else plan.request.mode == "lines":
        return Tallied(renderer, look, matches=shows == "count_matches")
    return renderer


def _replacer(plan: CommandPlan) -> Replacer | None:
    """Return the replacer of matches for -r; None without -r."""
    if plan.look.replacement is None or not _possible(plan.request):
        return None
    from triseek.cli.render.replace import Replacer

    return Replacer(plan.look.replacement, compile_pattern(plan.request.pattern))


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
            if not any(map(is_binary, iter(partial(file.read, PIECE_BYTES), b""))):
                return False
    except OSError:
        return True
    return search_file(path).skipped is not None


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
