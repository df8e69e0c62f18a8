"""The ripgrep backend: run the rg on PATH and convert its output to rows.

rg searches in parallel and prints in no order, so its output is held and sorted before the first
batch. If it is too large to hold, or has many more results than a search that ends at its limit may
show, rg is run again with sorted output, which makes it single-threaded. Files named one by one are
searched by `FileSearch`, which treats them as rg does. So are files that match and hold a NUL,
because rg does not print all that is needed of them.
"""

from __future__ import annotations

import heapq
import math
import os
import re
import select
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from triseek.engine.search.backends import lines, ripgrep_output
from triseek.engine.search.backends.file import FileSearch
from triseek.engine.search.backends.ripgrep_flags import arguments
from triseek.engine.search.backends.ripgrep_output import Stats
from triseek.engine.search.backends.spanning import LOOK_AHEAD
from triseek.errors import BackendFailure, OutOfTime
from triseek.files.tree.walk import extra_files, path_order
from triseek.ipc import children
from triseek.model import budget
from triseek.model.search import PatternSpec, Skipped

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from typing import IO, Self

    import numpy as np

    from triseek.engine.search.backends.base import Batch, FileRows
    from triseek.engine.search.backends.ripgrep_output import Read
    from triseek.engine.search.query import Query
    from triseek.model.search import SearchRequest, Totals

TRUSTED_MAJOR = 15
"""The first rg with the ignore rules of `files.tree.ignore`; an older one may leave out more."""
OLDEST_MAJOR = 12
"""rg 12 (2020) is the first with the flags used here; it is used only on explicit request."""
WAIT_MS = 100
"""Interval of the time-limit checks while rg prints nothing."""
HELD_BYTES = 256 << 20
"""How many bytes of an answer are held for sorting."""
FILE_BYTES = 500
"""Memory for one file's answer besides its rows and text."""
HELD_RESULTS = 64
"""How many results are held for each that a search which ends at its limit may show. If rg finds
more, it is run again with sorted output: that ends at the limit too, after a small part of them."""


def search(
    query: Query, totals: Totals, *, held_bytes: int = HELD_BYTES
) -> Generator[Batch, None, None]:
    """Yield the results of rg in path order.

    Raises:
        BackendFailure: There is no usable rg, or it failed; with the first line of its message.
    """
    oldest = OLDEST_MAJOR if query.request.engine == "rg" else TRUSTED_MAJOR
    program = find_rg(oldest)
    if program is None:
        raise BackendFailure(f"ripgrep (rg) {oldest} or later is not on PATH")
    if query.request.max_count == 0:
        return
    with closing(_Question(program, query, totals).answer(held_bytes)) as results:
        yield from lines.batches(results, totals)


_LOSSY = "\ufffd".encode()
"""Replaces bytes that are not UTF-8 in rg's messages."""


def find_rg(oldest: int = TRUSTED_MAJOR) -> str | None:
    """Return the absolute path of the rg on PATH; None if there is none or it is too old."""
    program = shutil.which("rg")
    return program if program and _major(os.path.realpath(program)) >= oldest else None


@lru_cache(maxsize=8)
def _major(program: str) -> int:
    """Return the major version of an rg; -1 if it cannot be determined."""
    try:
        answer = children.run(
            [program, "--version"], timeout=10, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return -1
    version = re.match(rb"ripgrep (\d+)\.", answer.stdout)
    return int(version[1]) if version else -1


class _Question:
    """One request, answered by running rg."""

    def __init__(self, program: str, query: Query, totals: Totals) -> None:
        self.program = program
        self.query = query
        self.search = FileSearch(query)
        self.totals = totals
        self.request = request = query.request
        scope = request.scope
        self.splits_binary = scope.binary and not scope.text and request.mode == "lines"
        """Whether rg is run for text files, and again for the names of other files that match."""
        ends_after = request.ends_after
        self.results_max = math.inf if ends_after is None else HELD_RESULTS * ends_after
        typed = os.fsencode(scope.typed)
        self.folder = typed if typed.startswith(b"/") else b"./" + typed
        """The folder argument for rg if the scope says how it was typed."""
        self.operand = os.fsencode(scope.operand)

    def answer(self, held_bytes: int) -> Generator[FileRows, None, None]:
        """Yield every file with something to show, in path order."""
        named = self.query.selection
        folders, files = named.folders if self.request.paths else [b""], named.files
        self.totals.skipped += (Skipped(path, "not_found") for path in named.missing)
        with ThreadPoolExecutor(1) as pool:
            # The walk runs while rg runs at once in its own process.
            wanted = self.request.scope.allowlist or self.request.scope.also
            shown = pool.submit(budget.carried(self._extra_files)) if wanted else None
            held: dict[bytes, FileRows] = {}
            skipped = len(self.totals.skipped)
            try:
                is_held = self._hold(held, folders, held_bytes)
                if not is_held:
                    held.clear()
                    del self.totals.skipped[skipped:]
                held |= self._search_each(files, shown.result() if shown else ())
            except OutOfTime:
                yield from (held[path] for path in sorted(held, key=path_order))
                raise
            ordered = () if is_held else self._run(folders, ordered=True)
            yield from heapq.merge(
                ordered,
                (held.pop(path) for path in sorted(held, key=path_order)),
                key=lambda file: path_order(file.path),
            )

    def _extra_files(self) -> set[bytes]:
        return extra_files(self.query.root, self.request.scope, within=self.request.paths)

    def _search_each(self, files: Iterable[bytes], shown: Iterable[bytes]) -> dict[bytes, FileRows]:
        """Search the files that were not given to rg."""
        results: dict[bytes, FileRows] = {}
        explicit = set(files)
        for path in dict.fromkeys([*files, *shown]):
            searched = self.search(path, explicit=path in explicit)
            searched.count_in(self.totals)
            if searched.found:
                results[path] = searched.found
        return results

    def _hold(self, held: dict[bytes, FileRows], folders: list[bytes], limit: int) -> bool:
        """Read rg's answer into `held`, each file once; return whether that is all of it.

        It is not if rg could sort it, and it is larger than `limit` bytes or, in a search that ends
        at its limit, has many more results than that.

        Raises:
            OutOfTime: `held` holds what rg had printed by then.
        """
        # With overlapping folders, rg's order by folder would not be path order.
        is_sortable = not _overlap(folders)
        size = results = 0
        for file in self._run(folders, ordered=False):
            held[file.path] = file
            size += file.rows.nbytes + _text_bytes(file) + FILE_BYTES
            results += file.count if self.request.mode == "lines" else 1
            if is_sortable and (size > limit or results > self.results_max):
                return False
        return True

    def _run(self, folders: list[bytes], *, ordered: bool) -> Iterator[FileRows]:
        """Run rg for the request and yield its results as they arrive."""
        if not folders:
            return
        if not self.splits_binary:
            yield from self._ask(self.request, folders, ordered=ordered)
        elif self.request.passthru:
            yield from self._run_for_names(folders, ordered=ordered)
        else:
            yield from self._run_twice(folders, ordered=ordered)

    def _run_for_names(self, folders: list[bytes], *, ordered: bool) -> Iterator[FileRows]:
        """Search every file that rg would search; --passthru also shows those without a match."""
        listed = replace(
            self.request, pattern=PatternSpec(patterns=("",)), mode="count", invert=False,
            passthru=False, max_count=None,
        )  # fmt: skip
        for file in self._ask(listed, folders, ordered=ordered):
            yield from self._search_each_again([file.path])

    def _run_twice(self, folders: list[bytes], *, ordered: bool) -> Iterator[FileRows]:
        """Yield rg's results in text files, and search the other files that match with --binary."""
        plain = replace(self.request, scope=replace(self.request.scope, binary=False))
        names = replace(self.request, mode="files", before=0, after=0)
        text = self._ask(plain, folders, ordered=ordered)
        binary = self._ask(names, folders, ordered=ordered)
        if ordered:
            merged = heapq.merge(text, binary, key=lambda file: path_order(file.path))
            for path, answers in groupby(merged, key=lambda file: file.path):
                file, *others = answers  # the answer with rows, if there is one, comes first
                if len(file.rows) and not (others and _is_context(file)):
                    yield file
                else:
                    yield from self._search_each_again([path])
            return
        matching = {file.path for file in binary}
        for file in text:
            if not (file.path in matching and _is_context(file)):
                matching.discard(file.path)
                yield file
        yield from self._search_each_again(sorted(matching))

    def _search_each_again(self, paths: Iterable[bytes]) -> Iterator[FileRows]:
        for path in paths:
            searched = self.search(path)
            if searched.skipped:
                self.totals.skipped.append(searched.skipped)
            if searched.found:
                yield searched.found

    def _ask(
        self, request: SearchRequest, folders: list[bytes], *, ordered: bool
    ) -> Iterator[FileRows]:
        """Run rg with one request and yield its results as they arrive."""
        scope = request.scope
        if scope.here:
            operands, cwd = [self.folder], scope.here
        else:
            operands, cwd = [b"./" + folder for folder in folders], self.query.root
        flags = arguments(request, map(os.fsdecode, operands), ordered=ordered)
        with _Process([self.program, *flags], cwd) as process:
            for output in self._read(request, process.read):
                if isinstance(output, Stats):
                    self.totals.files_searched += output.files
                    self.totals.bytes_searched += output.size
                    continue
                answer = output._replace(path=self._in_root(output.path))
                if answer.nul is None and not self._is_searched_again(request):
                    yield self._file_rows(request, answer)
                elif not self.splits_binary:  # else it is among the names
                    yield from self._search_each_again([answer.path])
            faults = [replace(fault, path=self._in_root(fault.path)) for fault in process.finish()]
            self.totals.skipped += [each for each in faults if not self._has_gone(each, folders)]
            if request.mode == "files_without_match" and process.status == 0:
                self.totals.misses = True

    def _is_searched_again(self, request: SearchRequest) -> bool:
        """Return whether rg's output lacks how a line ends, what follows it, or how rg read it."""
        # After the last row of -m, a context line that matches is a row of its own.
        ends_in_context = request.max_count is not None and request.after > 0
        # rg does not print what follows a row, which decides the matches in a row chosen by -v.
        unknown = request.pattern.crlf or request.invert or ends_in_context
        # rg warns of a NUL after lines that match, not after lines it only shows.
        nuls = request.passthru and request.past_nul != "none"
        return request.mode == "lines" and (
            (unknown and self.query.spans_lines) or nuls or self.query.pattern.asks_text_start
        )

    def _in_root(self, printed: bytes) -> bytes:
        """Return a path that rg printed, relative to the root."""
        return self.operand + printed.removeprefix(self.folder)

    def _has_gone(self, skipped: Skipped, named: list[bytes]) -> bool:
        """Return whether a file is gone since rg listed it (see `FileSearch`), not a dead link."""
        if skipped.reason != "not_found" or skipped.path in named:
            return False
        if _LOSSY in skipped.path:
            return False  # rg's message does not give the real path
        return not os.path.islink(self.search.root + b"/" + skipped.path)  # noqa: PTH114

    @staticmethod
    def _read(request: SearchRequest, read: Read) -> Iterator[FileRows | Stats]:
        if request.mode == "lines":
            return ripgrep_output.groups(read, numbered=request.line_numbers)
        return ripgrep_output.listed(read, counted=request.mode.startswith("count"))

    def _file_rows(self, request: SearchRequest, file: FileRows) -> FileRows:
        if request.mode == "files_without_match":
            return file._replace(count=0)
        if not len(file.rows):
            return file
        self._take_back_newline(file)
        if self.query.spans_lines and not request.invert:
            file = self._in_its_text(ripgrep_output.runs_of(file))
        limit = request.max_count
        return file if limit is None else file._replace(count=min(file.count, limit))

    def _in_its_text(self, file: FileRows) -> FileRows:
        """Return rows that index their file's text, so that matches see the text around them."""
        content = self.search.content_of(file.path)
        rows = file.rows.copy()
        rows["begin"] = rows["offset"]
        rows["end"] = rows["offset"] + (file.rows["end"] - file.rows["begin"])
        printed = (file.text[begin:end] for begin, end in _edges(file.rows))
        on_disk = (content[begin:end] for begin, end in _edges(rows))
        if any(left != right for left, right in zip(printed, on_disk, strict=True)):
            return file  # the file has changed since
        return file._replace(rows=rows, text=content, ahead=LOOK_AHEAD)

    def _take_back_newline(self, file: FileRows) -> None:
        """Remove the newline that rg added to the last row if the file does not end in one."""
        added = 2 if self.request.pattern.crlf else 1
        _, _, offset, begin, end, _ = file.rows[-1].item()
        if self.search.text_ends_at(file.path, offset + end - begin - added):
            file.rows["end"][-1] -= added


def _is_context(file: FileRows) -> bool:
    """Whether rg shows no line that matches.

    So it does where the first row that matches holds a NUL, and with -U where a match is empty and
    stands behind the last line.
    """
    return not file.count


def _edges(rows: np.ndarray) -> Iterable[tuple[int, int]]:
    return zip(rows["begin"].tolist(), rows["end"].tolist(), strict=True)


def _text_bytes(file: FileRows) -> int:
    """Return the bytes of this file in a text shared by several files."""
    return int(file.rows["end"][-1] - file.rows["begin"][0]) if len(file.rows) else 0


def _overlap(folders: list[bytes]) -> bool:
    """Return whether one of these folders (in path order) is inside another."""
    slashed = [folder + b"/" if folder else b"" for folder in folders]
    return any(below.startswith(above) for above, below in pairwise(slashed))


class _Process:
    """A running rg; leaving the context kills it."""

    def __init__(self, command: list[str], folder: str) -> None:
        environment = {**os.environ}
        environment.pop("RIPGREP_CONFIG_PATH", None)
        self.errors = _scratch()
        self.status = -1
        try:
            self.process = children.start(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self.errors,
            )
        except OSError as error:
            self.errors.close()
            raise BackendFailure(f"rg could not be started: {error.strerror}") from error
        self._readable = select.poll()
        self._readable.register(self.stdout, select.POLLIN)

    @property
    def stdout(self) -> IO[bytes]:
        assert self.process.stdout is not None  # noqa: S101 - it was asked for above
        return self.process.stdout

    def read(self, size: int) -> bytes:
        """Read `size` bytes of rg's output; fewer only at the end or when the time is over.

        rg may print nothing for a long time, so the time limit is checked while waiting.

        Raises:
            OutOfTime: The time is over and nothing was read.
        """
        pieces: list[bytes] = []
        held = 0
        while held < size:
            try:
                self._wait()
            except OutOfTime:
                if pieces:
                    break
                raise
            piece = os.read(self.stdout.fileno(), size - held)
            if not piece:
                break
            pieces.append(piece)
            held += len(piece)
        return b"".join(pieces)

    def _wait(self) -> None:
        """Wait until there is output to read."""
        budget.check()
        while not self._readable.poll(WAIT_MS):
            budget.check()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()  # does nothing if the process has ended and been waited for
        self.process.wait()
        self.stdout.close()
        self.errors.close()

    def finish(self) -> list[Skipped]:
        """Wait for rg to end and return what it could not search.

        Raises:
            BackendFailure: rg reports an error that does not concern single files.
        """
        self.status = status = self.process.wait()
        self.errors.seek(0)
        printed = self.errors.read().decode("utf-8", "surrogateescape")
        everything = ripgrep_output.messages(printed)
        # The command line itself reports invalid globs above the folder, with every backend.
        relevant = [line for line in everything if not ripgrep_output.is_about_rules(line)]
        problems = [ripgrep_output.problem(line) for line in relevant]
        if status in (0, 1):
            return []
        if status < 0:
            raise BackendFailure(f"rg was ended by signal {-status}")
        if None in problems or not everything:
            unknown = (line for line, parsed in zip(relevant, problems, strict=True) if not parsed)
            silence = f"rg ended with status {status} and said nothing"
            raise BackendFailure(next(unknown, silence).partition("\n")[0])
        return [problem for problem in problems if problem]


def _scratch() -> IO[bytes]:
    """Return an unnamed file for rg's messages; a pipe could fill up and block rg."""
    try:
        return tempfile.TemporaryFile()
    except OSError as error:
        raise BackendFailure(f"no temporary file for rg's messages: {error.strerror}") from error
