"""The functions of `runtime.zoekt_tools` for one run of a script, over a source of code.

Their docstrings are what scripts see of them. Thread-safe: a script may call several at once.
"""

from __future__ import annotations

from collections import Counter
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, TypedDict

from triseek.errors import InvalidRequest, OutOfTime
from triseek.files.tree.text import decode_all
from triseek.model import budget
from triseek.workflows.runtime import checks, git_log, items, queries, references, tree
from triseek.workflows.runtime.asking import SECONDS, Asking
from triseek.workflows.runtime.several import each_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.model.code_search import (
        CodeFile,
        CodeSource,
    )
    from triseek.model.symbol import Symbol
    from triseek.workflows.execution import Functions
    from triseek.workflows.runtime.git_log import Commit
    from triseek.workflows.runtime.items import FileItem
    from triseek.workflows.runtime.references import ParsedBy, UsesOf

LIMIT_MAX = 25
CONTEXT_MAX = 3
COMMITS_MAX = REPOSITORIES_MAX = 100
DEPTH_MAX = 20
WINDOW_MAX = 1_000
"""Most lines that are read at once."""
LISTED_MAX = 10_000
"""Most files of a folder that are listed, and of a query that are counted."""
CANDIDATES = 60
"""Most files that are parsed for one call."""
LINES_PER_FILE = 40
"""Matching lines that are asked for, for each file of a limit."""


class Place(TypedDict):
    """A definition in a file."""

    name: str
    kind: str
    line: int
    end_line: int
    parent: str


class MatchingRepository(TypedDict):
    """How often a query matches in a repository."""

    repository: str
    files: int
    matches: int


class ZoektTools(Asking):
    """The functions, and what should be known of their answers."""

    def __init__(
        self, source: CodeSource, symbols: ParsedBy, uses: UsesOf = references.uses_of
    ) -> None:
        """Answer from `source`; the functions parse files."""
        super().__init__(source)
        self._file_symbols = symbols
        self._uses = uses

    def functions(self) -> Functions:
        """Return the functions by name."""
        return {
            function.__name__: function
            for function in (
                self.search, self.search_symbols, self.fetch_content, self.list_dir,
                self.list_repos, self.find_repos, self.outline, self.usages, self.git_log,
                self.literal,
            )
        }  # fmt: skip

    def search(
        self, query: str, limit: int = 10, context_lines: int = 2, repo: str = ""
    ) -> list[FileItem]:
        """Search contents and names of files.

        Args:
            query: In Zoekt's language.
            limit: Most files, 1 to 25.
            context_lines: Lines before and after each match, 0 to 3.
            repo: The exact name of a repository; "" for all.

        Returns:
            A list of {filename, repository, url, matches: [{line_number, text}]}, best first. A
            match with lines around it has `first_line`, the number of the first line of its text.
        """
        query = checks.text("query", query, checks.QUERY_MAX, least=1)
        most = checks.clamped("limit", limit, 1, LIMIT_MAX)
        context = checks.clamped("context_lines", context_lines, 0, CONTEXT_MAX)
        name = checks.repository(repo)
        if queries.lists_repositories(query):
            result = self._said(self._source.repositories(queries.in_repository(query, name)))
            self._note_cut(query, len(result.repositories), most, "repositories")
            return [items.of_repository(each) for each in result.repositories[:most]]
        return self._found(query, queries.in_repository(query, name), most, context)

    def search_symbols(self, query: str, limit: int = 10, repo: str = "") -> list[FileItem]:
        """Search the names of definitions: the first bare word of the query becomes `sym:`.

        Files and lines that define exactly the name come first. Each match has the `name` that it
        defines, its `kind`, and its `parent` if there is one. Arguments and result are those of
        `search` otherwise.
        """
        query = checks.text("query", query, checks.QUERY_MAX, least=1)
        most = checks.clamped("limit", limit, 1, LIMIT_MAX)
        changed = queries.of_symbols(query, checks.repository(repo))
        name = queries.symbol_sought(changed)
        result = self._asked(changed, CANDIDATES, CANDIDATES * LINES_PER_FILE)
        ranked = [
            references.definitions(file, symbols, name)
            for file, symbols in each_of(result.files[: 2 * most], self._definitions)
        ]
        if name and not self._has_symbols():
            known = {(item["repository"], item["filename"]) for _, item in ranked}
            ranked += (
                entry
                for entry in self._parsed(queries.of_mentions(changed), name)
                if (entry[1]["repository"], entry[1]["filename"]) not in known
            )
        ranked.sort(key=lambda entry: entry[0])
        self._note_cut(query, max(result.file_count, len(ranked)), most, "files")
        return [item for _, item in ranked[:most]]

    def fetch_content(self, repo: str, path: str, start_line: int, end_line: int) -> str:
        """Return lines of a file, both ends included, as one text; "" behind the file's end."""
        name, file = checks.repository(repo, least=1), checks.path(path, least=1)
        first = checks.whole("start_line", start_line)
        last = checks.whole("end_line", end_line)
        if first < 1 or last < first:
            raise InvalidRequest("invalid line range")
        if last - first >= WINDOW_MAX:
            raise InvalidRequest(
                f"requested line window {last - first + 1} exceeds max {WINDOW_MAX}; "
                "narrow range and retry"
            )
        # A list of all lines may take a hundred times as much memory as the file.
        lines = islice(BytesIO(self._read(name, file)), first - 1, last)
        return "\n".join(
            line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")
            for line in lines
        )

    def list_dir(self, repo: str, path: str = "", depth: int = 2) -> str:
        """Return a folder as a tree: a line for each file and folder, two blanks a level.

        A last line says if files were left out.
        """
        name, folder = checks.repository(repo, least=1), checks.path(path)
        levels = checks.clamped("depth", depth, 1, DEPTH_MAX)
        result = self._asked(queries.of_folder(folder, name), LISTED_MAX, LISTED_MAX)
        paths = [file.path.decode("utf-8", "replace") for file in result.files]
        drawn = tree.drawn(paths, folder, levels)
        if not drawn:
            raise InvalidRequest(
                "directory not found" if folder else f"repository not found: {name}"
            )
        if result.file_count > len(paths) or result.partial:
            drawn += f"\n... cut: {len(paths):,} files are listed, there are more; name a folder"
        return drawn

    def list_repos(self) -> list[str]:
        """Return the names of all repositories, sorted."""
        result = self._said(self._source.repositories())
        return sorted({repository.name for repository in result.repositories})

    def find_repos(self, query: str, limit: int = 10) -> list[MatchingRepository]:
        """Return a list of {repository, files, matches}: most matches of the query first."""
        query = checks.text("query", query, checks.QUERY_MAX, least=1)
        most = checks.clamped("limit", limit, 1, REPOSITORIES_MAX)
        result = self._asked(query, LISTED_MAX // 10, LISTED_MAX)
        files = Counter({name: count.files for name, count in result.counts.items()})
        matches = Counter({name: count.matches for name, count in result.counts.items()})
        if not result.counts:
            for file in result.files:
                files[file.repository] += 1
                matches[file.repository] += max(1, file.match_count)
        if not result.counts and result.file_count > len(result.files):
            listed = self._said(self._source.repositories(query)).repositories
            files.update({repository.name: 0 for repository in listed})
        ranked = sorted(files, key=lambda name: (-matches[name], -files[name], name))
        return [
            MatchingRepository(repository=name, files=files[name], matches=matches[name])
            for name in ranked[:most]
        ]

    def outline(self, repo: str, path: str) -> list[Place]:
        """Return a list of {name, kind, line, end_line, parent}: the definitions of a file."""
        name, file = checks.repository(repo, least=1), checks.path(path, least=1)
        content = self._read(name, file)
        raw = file.encode("utf-8", "surrogateescape")
        symbols = self._symbols(raw, content, needs_parser=True)
        return [
            Place(
                name=symbol.name, kind=symbol.kind, line=symbol.line, end_line=symbol.end_line,
                parent=symbol.parent,
            )
            for symbol in symbols
        ]  # fmt: skip

    def usages(
        self, symbol: str, repo: str = "", limit: int = 10, filters: str = ""
    ) -> list[FileItem]:
        """Search uses of a name; each match has `inside`, the definition around it.

        Comments, strings and definitions of the name are left out in files that are `checked` by
        `syntax`. Those of a language without a parser come last; they are `checked` by `lines`:
        all lines but definitions. Of a qualified name, as `Type.name`, the last part counts.

        Args:
            symbol: The name.
            repo: The exact name of a repository; "" for all.
            limit: Most files, 1 to 25.
            filters: Terms that narrow the files, as `lang:go -f:test`.

        Returns:
            What `search` returns.
        """
        name = references.last_part(checks.text("symbol", symbol, least=1).strip())
        most = checks.clamped("limit", limit, 1, LIMIT_MAX)
        filters = checks.text("filters", filters, checks.QUERY_MAX)
        query = queries.of_word(name, checks.repository(repo), filters)
        result = self._asked(query, CANDIDATES, CANDIDATES * LINES_PER_FILE)
        finder = references.References(name, self._symbols, self._uses)
        by_syntax: list[FileItem] = []
        by_lines: list[FileItem] = []
        read = 0

        def checked(file: CodeFile) -> FileItem | None:
            return finder.of_file(file, self._content(file.repository, file.path))

        try:
            with budget.limited(SECONDS):
                for _, item in each_of(result.files, checked):
                    read += 1
                    if item is not None:
                        (by_syntax if item["checked"] == "syntax" else by_lines).append(item)
                    if len(by_syntax) > most:
                        break
        except OutOfTime:
            pass  # the note says how many files were read
        answer = [*by_syntax, *by_lines]
        self._note_read(name, (read, result.file_count), most, is_cut=len(answer) > most)
        return answer[:most]

    def git_log(self, repo: str, text: str, path: str = "", limit: int = 10) -> list[Commit]:
        """Return a list of {commit, date, author, subject}: where the count of a text changes.

        Only for repositories on this machine.
        """
        name = checks.repository(repo, least=1)
        wanted = checks.text("text", text, least=1)
        most = checks.clamped("limit", limit, 1, COMMITS_MAX)
        root = self._repository(name).root
        if not root:
            raise InvalidRequest(f"{name} is not on this machine: its commits are unknown here")
        return git_log.log(root, wanted, checks.path(path), most)

    def literal(self, text: str) -> str:
        """Return a term of a query that matches exactly this text in contents."""
        return queries.literal(checks.text("text", text, checks.QUERY_MAX), "content")

    def _found(self, query: str, changed: str, most: int, context: int) -> list[FileItem]:
        result = self._asked(changed, most, most * LINES_PER_FILE, context)
        self._note_cut(query, result.file_count, most, "files")
        return [items.of_file(file) for file in result.files[:most]]

    def _symbols(
        self, path: bytes, content: bytes, *, needs_parser: bool = False
    ) -> Sequence[Symbol]:
        """Return the definitions in a file; note why some may be missing."""
        parsed = self._file_symbols(path, content)
        problem = parsed.problem
        if needs_parser and not parsed.is_parsed:
            problem = "there is no parser for it"
        if problem:
            name = path.decode("utf-8", "replace")[:200]
            with self._lock:
                self._notes[f"definitions in {name!r} may be missing: {problem}"] = None
        return parsed.symbols

    def _definitions(self, file: CodeFile) -> Sequence[Symbol]:
        """Return the definitions in a file of a host, whose own have the kinds of ctags."""
        content = self._content(file.repository, file.path) if file.host else None
        return () if content is None else self._symbols(file.path, decode_all(content).data)

    def _has_symbols(self) -> bool:
        """Return whether the indexes of all repositories have symbols: ctags made them."""
        listed = self._said(self._source.repositories()).repositories
        return all(repository.has_symbols for repository in listed)

    def _parsed(self, query: str, name: str) -> list[tuple[int, FileItem]]:
        """Return the files that match a query and, parsed here, define a name."""
        result = self._asked(query, CANDIDATES, CANDIDATES * LINES_PER_FILE)

        def defining(file: CodeFile) -> tuple[int, FileItem] | None:
            content = self._content(file.repository, file.path)
            text = decode_all(content or b"").data
            return references.parsed_definitions(file, text, self._symbols(file.path, text), name)

        entries: list[tuple[int, FileItem]] = []
        read = 0
        try:
            with budget.limited(SECONDS):
                for _, entry in each_of(result.files, defining):
                    read += 1
                    entries += [entry] if entry is not None else []
        except OutOfTime:
            pass  # the note says how many files were read
        self._note_read(name, (read, result.file_count), CANDIDATES, is_cut=False)
        with self._lock:
            note = f"files without symbols in the index were parsed: {CANDIDATES} at most"
            self._notes[note] = None
        return entries
