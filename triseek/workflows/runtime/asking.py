"""Questions to a source of code, and what the reader of a result should know of the answers."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from triseek.errors import BackendFailure, InvalidRequest, TriseekError
from triseek.model.code_search import CodeRequest
from triseek.model.plain_text import visible_line
from triseek.workflows.runtime import queries

if TYPE_CHECKING:
    from triseek.model.code_search import CodeResult, CodeSource, HostReport, Repository

SECONDS = 15.0
"""Time limit of one call."""
NOTES_MAX = 8
QUERY_SHOWN_MAX = 60
"""Characters of a query that a note repeats; longer ones are made by scripts."""


class Asking:
    """Asks a source during one run, and collects notes. Thread-safe."""

    def __init__(self, source: CodeSource) -> None:
        """Ask `source`."""
        self._source = source
        self._lock = Lock()
        self._hosts: dict[str, HostReport] = {}
        self._notes: dict[str, None] = {}
        self._cuts: dict[str, None] = {}
        """For each list that is cut at its limit: to how much of it."""

    @property
    def notes(self) -> list[str]:
        """What the reader of a result should know: hosts, and what was not searched."""
        with self._lock:
            reports, notes = list(self._hosts.values()), sorted(self._notes)
        lines = []
        if any(report.state != "ok" for report in reports):
            shown = ", ".join(f"`{visible_line(each.host)}` {each.state}" for each in reports)
            lines.append(f"Hosts: {shown}")
        lines += [f"Note: {note}" for note in notes[:NOTES_MAX]]
        if len(notes) > NOTES_MAX:
            lines.append(f"Note: and `{len(notes) - NOTES_MAX}` more.")
        return lines

    @property
    def cut(self) -> str:
        """What is left out at the limits of calls, in one clause; "" if nothing is."""
        with self._lock:
            cuts = list(self._cuts)
        return cuts[0] if len(cuts) == 1 else f"{len(cuts):,} lists are cut" if cuts else ""

    def _asked(self, query: str, files: int, matches: int, context: int = 0) -> CodeResult:
        request = CodeRequest(
            query=query, max_files=files, max_matches=matches, context_lines=context,
            seconds=SECONDS,
        )  # fmt: skip
        return self._said(self._source.search(request))

    def _said(self, result: CodeResult) -> CodeResult:
        """Note what is incomplete in an answer."""
        with self._lock:
            for report in result.hosts:
                last = self._hosts.get(report.host)
                if last is None or last.state == "ok":
                    self._hosts[report.host] = report
            missing = (each for each in result.partial if each not in result.at_limits)
            self._notes.update(dict.fromkeys(map(visible_line, missing)))
        return result

    def _note_cut(self, query: str, count: int, most: int, what: str) -> None:
        if count > most > 1:  # who asks for one asks whether there is any
            with self._lock:
                about = f" for {visible_line(query)!r}" if len(query) <= QUERY_SHOWN_MAX else ""
                self._cuts[f"{most:,} of {count:,} {what} are shown{about}"] = None

    def _note_read(self, name: str, counts: tuple[int, int], most: int, *, is_cut: bool) -> None:
        """Note if uses are left out, or not all files with the name were read.

        counts: The files that were read, and those that mention the name.
        """
        read, mention = counts
        shown = visible_line(name)[:80]
        with self._lock:
            if is_cut and most > 1:  # who asks for one asks whether there is any
                cut = f"{most:,} files that use {shown!r} are shown, of {mention:,} that mention it"
                self._cuts[cut] = None
            elif read < mention and not is_cut:
                note = f"only {read:,} of the {mention:,} files that mention {shown!r} were read"
                self._notes[note] = None

    def _repository(self, name: str) -> Repository:
        result = self._said(self._source.repositories(queries.in_repository("", name)))
        for repository in result.repositories:
            if repository.name == name:
                return repository
        raise InvalidRequest(f"repository not found: {name}")

    def _read(self, name: str, path: str) -> bytes:
        """Return the content of a file.

        Raises:
            InvalidRequest: It is not there.
            BackendFailure: The source does not answer.
        """
        try:
            return self._source.read(name, path.encode("utf-8", "surrogateescape"))
        except BackendFailure:
            raise
        except InvalidRequest as error:
            raise InvalidRequest(f"file not found or unreadable: {error}") from None

    def _content(self, name: str, path: bytes) -> bytes | None:
        """Return the content of a file that a search has listed; None if it is gone."""
        try:
            return self._source.read(name, path)
        except TriseekError:
            return None
