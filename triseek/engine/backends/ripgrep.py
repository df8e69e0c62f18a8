"""The road through ripgrep: ask the rg found on PATH, and say what it said as rows.

rg searches in parallel and prints in no order, so its answer is held and sorted before the
first batch; one too large to hold is asked for again in order, which costs rg its threads.
Files named one by one are searched by `FileSearch`, which knows how rg treats those; so are files
that match and hold a NUL: of them rg does not print all that is needed.
"""

from __future__ import annotations

import errno
import heapq
import os
import re
import select
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from triseek.engine.backends import lines, ripgrep_output
from triseek.engine.backends.base import FileRows
from triseek.engine.backends.file import FileSearch, named_files
from triseek.engine.backends.ripgrep_flags import arguments
from triseek.engine.backends.ripgrep_output import Stats
from triseek.engine.backends.spanning import LOOK_AHEAD
from triseek.errors import BackendFailure, OutOfTime
from triseek.files.walk import path_order, walk
from triseek.ipc import children
from triseek.model import budget
from triseek.model.search import PatternSpec, Skipped

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from types import TracebackType
    from typing import IO, Self

    import numpy as np

    from triseek.engine.backends.base import Batch
    from triseek.engine.backends.ripgrep_output import Answer, Stream
    from triseek.model.search import BackendName, SearchRequest, Totals
    from triseek.query.pattern import Pattern

TRUSTED_MAJOR = 15
"""The first rg whose ignore rules are those of `files.ignore`; an older one may leave out more."""
OLDEST_MAJOR = 12
"""rg 12 (2020) is the first that has the flags used here; it answers only where it is asked for."""
WAIT_MS = 100
"""How often time is looked at while rg prints nothing."""
HELD_BYTES = 256 << 20
"""How much of an answer is held to be sorted."""
FILE_BYTES = 500
"""What holding one file's answer costs beside its rows and text."""


class Ripgrep:
    """Search a tree by asking rg."""

    name: BackendName = "ripgrep"

    def __init__(self, root: str, *, held_bytes: int = HELD_BYTES) -> None:
        self.root = root
        self.held_bytes = held_bytes

    def search(self, request: SearchRequest, pattern: Pattern, totals: Totals) -> Iterator[Batch]:
        """Yield what rg finds, in path order.

        Raises:
            BackendFailure: There is no usable rg, or it failed; with the first line it said.
        """
        oldest = OLDEST_MAJOR if request.engine == "rg" else TRUSTED_MAJOR
        program = find_rg(oldest)
        if program is None:
            raise BackendFailure(f"ripgrep (rg) {oldest} or later is not on PATH")
        if request.max_count == 0:
            return
        question = _Question(program, FileSearch(self.root, request, pattern), totals)
        found = question.answer(self.held_bytes)
        try:
            yield from lines.batches(found, totals)
        finally:
            found.close()


_LOSSY = "\ufffd".encode()
"""Stands in rg's messages for bytes that are not UTF-8."""


def find_rg(oldest: int = TRUSTED_MAJOR) -> str | None:
    """Return the absolute path of the rg on PATH, or None if there is none so recent."""
    found = shutil.which("rg")
    return found if found and _major(os.path.realpath(found)) >= oldest else None


@lru_cache(maxsize=8)
def _major(program: str) -> int:
    """Return the major version of an rg; -1 if it does not say."""
    try:
        answer = children.run(
            [program, "--version"], timeout=10, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return -1
    version = re.match(rb"ripgrep (\d+)\.", answer.stdout)
    return int(version[1]) if version else -1


class _TooMuchToSort(Exception):
    """The answer has outgrown what may be held."""


class _Question:
    """One request on its way through rg."""

    def __init__(self, program: str, search: FileSearch, totals: Totals) -> None:
        self.program = program
        self.search = search
        self.totals = totals
        self.request = search.request
        self.spanning = not search.in_parts
        scope = search.request.scope
        self.splits_binary = scope.binary and not scope.text and search.request.mode == "lines"
        """Whether rg is asked for text, and for the names of what else matches."""

    def answer(self, held_bytes: int) -> Generator[FileRows, None, None]:
        """Yield every file with something to show, in path order."""
        folders, files = self._sort_out()
        with ThreadPoolExecutor(1) as pool:
            # Walking takes time rg can use: it runs at once, in its own process.
            wanted = self.request.scope.allowlist
            shown = pool.submit(budget.carried(self._allowlisted)) if wanted else None
            held: dict[bytes, FileRows] = {}
            try:
                self._hold(held, folders, held_bytes)
            except OutOfTime:
                yield from (held[path] for path in sorted(held, key=path_order))
                raise
            except _TooMuchToSort:
                extra = self._search_each(files, shown.result() if shown else ())
                yield from heapq.merge(
                    self._run(folders, ordered=True),
                    [extra[path] for path in sorted(extra, key=path_order)],
                    key=lambda found: path_order(found.path),
                )
            else:
                held |= self._search_each(files, shown.result() if shown else ())
                yield from (held.pop(path) for path in sorted(held, key=path_order))

    def _sort_out(self) -> tuple[list[bytes], list[bytes]]:
        """Return the folders rg is to search, and the files that were named one by one."""
        named = named_files(self.search.root, self.request.paths)
        for path in named.missing:
            self.totals.skipped.append(Skipped(path, "not_found"))
        folders = sorted(named.folders, key=path_order) if self.request.paths else [b""]
        return folders, sorted(named.files, key=path_order)

    def _allowlisted(self) -> set[bytes]:
        walked = walk(self.search.root, self.request.scope, within=self.request.paths)
        return walked.allowlisted

    def _search_each(self, files: Iterable[bytes], shown: Iterable[bytes]) -> dict[bytes, FileRows]:
        """Search the files rg was not asked about ourselves."""
        found: dict[bytes, FileRows] = {}
        explicit = set(files)
        for path in [*files, *(path for path in shown if path not in explicit)]:
            searched = self.search(path, explicit=path in explicit)
            searched.count_in(self.totals)
            if searched.found:
                found[path] = searched.found
        return found

    def _hold(self, held: dict[bytes, FileRows], folders: list[bytes], limit: int) -> None:
        """Take in all of rg's answer, each file once.

        Raises:
            _TooMuchToSort: It is larger than `limit` bytes and could be asked for in order.
            OutOfTime: `held` is what rg had said by then.
        """
        if _overlap(folders):
            limit = 1 << 62  # in order of the folders would not be in order of the paths
        size = 0
        for found in self._run(folders, ordered=False):
            held[found.path] = found
            size += found.rows.nbytes + _text_bytes(found) + FILE_BYTES
            if size > limit:
                raise _TooMuchToSort

    def _run(self, folders: list[bytes], *, ordered: bool) -> Iterator[FileRows]:
        """Run rg once and yield what it finds as it says it."""
        if not folders:
            return
        if not self.splits_binary:
            yield from self._ask(self.request, folders, ordered=ordered)
        elif self.request.passthru:
            yield from self._run_for_names(folders, ordered=ordered)
        else:
            yield from self._run_twice(folders, ordered=ordered)

    def _run_for_names(self, folders: list[bytes], *, ordered: bool) -> Iterator[FileRows]:
        """Search every file rg looks into: --passthru shows those that do not match, too."""
        listed = replace(
            self.request, pattern=PatternSpec(patterns=("",)), mode="count", invert=False,
            passthru=False, max_count=None,
        )  # fmt: skip
        for found in self._ask(listed, folders, ordered=ordered):
            yield from self._search_each_again([found.path])

    def _run_twice(self, folders: list[bytes], *, ordered: bool) -> Iterator[FileRows]:
        """Yield what rg finds in text, and search what else it says matches with --binary."""
        plain = replace(self.request, scope=replace(self.request.scope, binary=False))
        names = replace(self.request, mode="files", before=0, after=0)
        text = self._ask(plain, folders, ordered=ordered)
        binary = self._ask(names, folders, ordered=ordered)
        if ordered:
            yield from self._told_apart(text, binary)
            return
        matching = {found.path for found in binary}
        for found in text:
            if not (found.path in matching and _is_context(found)):
                matching.discard(found.path)
                yield found
        yield from self._search_each_again(sorted(matching))

    def _told_apart(
        self, text: Iterator[FileRows], binary: Iterator[FileRows]
    ) -> Iterator[FileRows]:
        """Do so with both answers in path order."""
        ahead = next(text, None)
        for name in binary:
            order = path_order(name.path)
            while ahead is not None and path_order(ahead.path) < order:
                yield ahead
                ahead = next(text, None)
            is_there = ahead is not None and ahead.path == name.path
            if ahead is not None and is_there and not _is_context(ahead):
                yield ahead
            else:
                yield from self._search_each_again([name.path])
            if is_there:
                ahead = next(text, None)
        if ahead is not None:
            yield ahead
            yield from text

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
        """Run rg with one request and yield what it finds as it says it."""
        scope = request.scope
        if scope.here:
            given, cwd = [self._lead], scope.here
        else:
            given, cwd = [b"./" + folder for folder in folders], os.fsdecode(self.search.root)
        asked = arguments(request, map(os.fsdecode, given), ordered=ordered)
        skipped: list[Skipped] = []
        with _Process([self.program, *asked], cwd) as process:
            for said in self._read(request, process):
                if isinstance(said, Stats):
                    self.totals.files_searched += said.files
                    self.totals.bytes_searched += said.size
                    continue
                answer = said._replace(path=self._in_root(said.path))
                if answer.stopped_at is None and not self._is_searched_again(request):
                    yield self._file_rows(request, answer)
                elif not self.splits_binary:  # else it is among the names
                    yield from self._search_each_again([answer.path])
            faults = [replace(each, path=self._in_root(each.path)) for each in process.finish()]
            skipped += (each for each in faults if not self._has_gone(each, folders))
            if request.mode == "files_without_match" and process.status == 0:
                self.totals.misses = True
        self.totals.skipped += skipped

    def _is_searched_again(self, request: SearchRequest) -> bool:
        """Whether rg's output does not tell how a line ends, what follows it, or how rg read it."""
        # Behind the last of -m a line of context that matches is a row of its own.
        ends_in_context = request.max_count is not None and request.after > 0
        # What follows a row is not printed, and decides what matches in one that -v has chosen.
        unknown = self.spanning and (request.pattern.crlf or request.invert or ends_in_context)
        # rg warns of a NUL behind lines that match, not behind those it only shows.
        nuls = request.passthru and request.past_nul != "none"
        return request.mode == "lines" and (unknown or nuls or self.search.pattern.asks_text_start)

    @property
    def _lead(self) -> bytes:
        """The folder that rg is given where the scope says how it was typed."""
        typed = os.fsencode(self.request.scope.typed)
        return typed if typed.startswith(b"/") else b"./" + typed

    def _in_root(self, printed: bytes) -> bytes:
        """A path as rg printed it, relative to the root."""
        scope = self.request.scope
        if not scope.here:
            return printed.removeprefix(b"./")
        return os.fsencode(scope.operand) + printed.removeprefix(self._lead)

    def _has_gone(self, skipped: Skipped, named: list[bytes]) -> bool:
        """Whether a file has gone since rg listed it (see `FileSearch`); a dead link has not."""
        if skipped.reason != "not_found" or skipped.path in named:
            return False
        if _LOSSY in skipped.path:
            return False  # rg does not say where that is
        return not os.path.islink(self.search.root + b"/" + skipped.path)  # noqa: PTH114

    @staticmethod
    def _read(request: SearchRequest, stream: Stream) -> Iterator[Answer | Stats]:
        if request.mode == "lines":
            return ripgrep_output.groups(stream, numbered=request.line_numbers)
        if request.mode in ("count", "count_matches"):
            return ripgrep_output.counts(stream)
        return ripgrep_output.names(stream)

    def _file_rows(self, request: SearchRequest, answer: Answer) -> FileRows:
        found = FileRows(answer.path, answer.rows, answer.text, answer.matched)
        if request.mode == "files_without_match":
            return found._replace(count=0)
        if not len(found.rows):
            return found
        self._take_back_newline(found)
        if self.spanning and not request.invert:
            found = self._in_its_text(ripgrep_output.runs_of(found))
        limit = request.max_count
        return found if limit is None else found._replace(count=min(found.count, limit))

    def _in_its_text(self, found: FileRows) -> FileRows:
        """Return rows that index the text of their file, so that matches see what is around."""
        content = self.search.content_of(found.path)
        rows = found.rows.copy()
        rows["begin"] = rows["offset"]
        rows["end"] = rows["offset"] + (found.rows["end"] - found.rows["begin"])
        said = (found.text[begin:end] for begin, end in _edges(found.rows))
        held = (content[begin:end] for begin, end in _edges(rows))
        if any(one != other for one, other in zip(said, held, strict=True)):
            return found  # the file has changed since
        return found._replace(rows=rows, text=content, ahead=LOOK_AHEAD)

    def _take_back_newline(self, found: FileRows) -> None:
        """Shorten the last row by the newline that rg printed and its file does not have."""
        added = 2 if self.request.pattern.crlf else 1
        _, _, offset, begin, end, _ = found.rows[-1].item()
        if self.search.text_ends_at(found.path, offset + end - begin - added):
            found.rows["end"][-1] -= added


def _is_context(found: FileRows) -> bool:
    """Whether rg shows no line that matches.

    So it does where the first row that matches holds a NUL, and with -U where a match is empty and
    stands behind the last line.
    """
    return not found.count


def _edges(rows: np.ndarray) -> Iterable[tuple[int, int]]:
    return zip(rows["begin"].tolist(), rows["end"].tolist(), strict=True)


def _text_bytes(found: FileRows) -> int:
    """Return how much of a text shared by several files is this one's."""
    return int(found.rows["end"][-1] - found.rows["begin"][0]) if len(found.rows) else 0


def _overlap(folders: list[bytes]) -> bool:
    """Return whether one of these folders (in path order) lies in another."""
    slashed = [folder + b"/" if folder else b"" for folder in folders]
    return any(below.startswith(above) for above, below in pairwise(slashed))


class _Process:
    """A running rg that ends when it is left."""

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
        """Read what rg prints: `size` bytes, fewer at the end only, or when time is over.

        rg may print nothing for as long as it finds nothing: time is looked at meanwhile.

        Raises:
            OutOfTime: and nothing was read.
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
        """Wait until there is something to be read."""
        budget.check()
        while not self._readable.poll(WAIT_MS):
            budget.check()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()  # does nothing to a process that has ended and been waited for
        self.process.wait()
        self.stdout.close()
        self.errors.close()

    def finish(self) -> list[Skipped]:
        """Wait for the end and return what could not be searched.

        Raises:
            BackendFailure: rg says that something other than single files went wrong.
        """
        self.status = status = self.process.wait()
        self.errors.seek(0)
        printed = self.errors.read().decode("utf-8", "surrogateescape")
        everything = ripgrep_output.messages(printed)
        # The command line complains of invalid globs above the folder itself, on every road.
        said = [line for line in everything if not ripgrep_output.is_about_rules(line)]
        problems = [ripgrep_output.problem(line) for line in said]
        if status in (0, 1):
            return []
        if status < 0:
            raise BackendFailure(f"rg was ended by signal {-status}")
        if None in problems or not everything:
            unknown = (line for line, known in zip(said, problems, strict=True) if not known)
            silence = f"rg ended with status {status} and said nothing"
            raise BackendFailure(next(unknown, silence).partition("\n")[0])
        return [_skipped(problem) for problem in problems if problem]


def _scratch() -> IO[bytes]:
    """Return a file without a name for what rg complains of; a pipe could fill up and stop it."""
    try:
        return tempfile.TemporaryFile()
    except OSError as error:
        raise BackendFailure(f"no temporary file for rg's messages: {error.strerror}") from error


def _skipped(problem: ripgrep_output.Problem) -> Skipped:
    if problem.loop:
        return Skipped(problem.path, "loop", "the link leads to a folder above it")
    gone = problem.errno == errno.ENOENT
    return Skipped(problem.path, "not_found" if gone else "unreadable", os.strerror(problem.errno))
