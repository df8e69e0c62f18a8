"""Results of searches in the form that scripts get: one item for each file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.model.code_search import CodeFile, CodeLine, Repository

LINE_MAX = 2_000
"""Most characters of a line; a longer one is cut at its end."""


class MatchItem(TypedDict):
    """A matching line."""

    line_number: int
    """From 1; 0 for a match in the file's name, or a repository."""
    text: str
    """The line, with those around it, indentation and blank lines between them kept."""
    first_line: NotRequired[int]
    """The number of the first line of `text`, if it has several."""
    inside: NotRequired[str]
    """The definition around a use; "" at top level."""
    name: NotRequired[str]
    """The name that the line defines, in an answer about definitions."""
    kind: NotRequired[str]
    parent: NotRequired[str]


class FileItem(TypedDict):
    """A file with its matches."""

    filename: str
    repository: str
    url: str
    matches: list[MatchItem]
    checked: NotRequired[Literal["syntax", "lines"]]
    """What tells uses from other mentions of a name, in an answer about uses."""


def of_file(file: CodeFile) -> FileItem:
    """Return the item of a file; its name is the match if its content has none."""
    name = _text(file.path)
    matches = list(_matches(file.lines)) or [MatchItem(line_number=0, text=name)]
    return FileItem(filename=name, repository=file.repository, url=file.url, matches=matches)


def of_repository(repository: Repository) -> FileItem:
    """Return the item of a repository."""
    match = MatchItem(line_number=0, text=f"Repository: {repository.name}")
    return FileItem(filename="", repository=repository.name, url=repository.url, matches=[match])


def _matches(lines: Sequence[CodeLine]) -> Iterator[MatchItem]:
    """Yield matching lines with those around them; no line is in two of the items."""
    last = 0
    for number, line in enumerate(lines):
        until = lines[number + 1].number if number + 1 < len(lines) else None
        before = [*line.before][max(0, len(line.before) - max(0, line.number - 1 - last)) :]
        after = [*line.after] if until is None else [*line.after][: max(0, until - 1 - line.number)]
        while before and not before[0].strip():
            del before[0]
        while after and not after[-1].strip():
            del after[-1]
        last = line.number + len(after)
        text = "\n".join(shown(each) for each in (*before, line.text, *after))
        match = MatchItem(line_number=line.number, text=text)
        if before or after:
            match["first_line"] = line.number - len(before)
        yield match


def shown(line: bytes) -> str:
    """Return a line as scripts get it: cut if it is long."""
    return _text(line)[:LINE_MAX]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").rstrip("\r\n")
