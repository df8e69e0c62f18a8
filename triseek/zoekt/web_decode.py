"""Answers of `/search?format=json`, which zoekt-webserver has without `-rpc`, decoded.

They have no scores, no offsets and no checksums. The order of the files is that of the scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.model.code_search import CodeFile, CodeLine, Repository
from triseek.zoekt import decode, fields, file_url

if TYPE_CHECKING:
    from triseek.zoekt.fields import AnswerFields


def search_answer(body: bytes, host: str) -> decode.HostAnswer:
    """Decode an answer with matches, or with repositories if the query names only these.

    Raises:
        HostFailure: The document is malformed; the message names the field.
    """
    document = fields.document(body)
    if "repos" in document:
        entries = document.child("repos").objects("Repos")
        return decode.HostAnswer(repositories=tuple(_repository(entry, host) for entry in entries))
    result = document.required("result")
    files = tuple(
        _file(entry, host, rank) for rank, entry in enumerate(result.objects("FileMatches"))
    )
    return decode.HostAnswer(files=files, counts=decode.counts(result.child("Stats")))


def _file(entry: AnswerFields, host: str, rank: int) -> CodeFile:
    lines: dict[int, CodeLine] = {}
    name_spans: tuple[tuple[int, int], ...] = ()
    for match in entry.objects("Matches"):
        number = match.integer("LineNum")
        line = _line(match, number)
        if number:
            lines.setdefault(number, line)
        else:
            name_spans = line.spans
    path = entry.text("FileName").encode()
    return CodeFile(
        repository=entry.text("Repo"),
        path=path,
        lines=tuple(lines[number] for number in sorted(lines)),
        name_spans=tuple(span for span in name_spans if span[1] <= len(path)),
        match_count=len(lines) or int(bool(name_spans)),
        branches=entry.texts("Branches"),
        language=entry.text("Language"),
        score=-float(rank),
        host=host,
        url=file_url.web_url(entry.text("URL")),
    )


def _line(match: AnswerFields, number: int) -> CodeLine:
    pieces: list[str] = []
    spans, end = [], 0
    for fragment in match.objects("Fragments"):
        before, text = fragment.text("Pre"), fragment.text("Match")
        start = end + len(before.encode())
        end = start + len(text.encode())
        spans.append((start, end))
        after = fragment.text("Post")
        pieces += (before, text, after)
        end += len(after.encode())
    text_bytes = "".join(pieces).encode().removesuffix(b"\n")
    cut = tuple((min(a, len(text_bytes)), min(b, len(text_bytes))) for a, b in spans)
    before_lines, after_lines = match.text("Before"), match.text("After")
    return CodeLine(
        number=number,
        text=text_bytes,
        spans=cut,
        before=_split(before_lines),
        after=_split(after_lines),
    )


def _split(text: str) -> tuple[bytes, ...]:
    return tuple(text.encode().removesuffix(b"\n").split(b"\n")) if text else ()


def _repository(entry: AnswerFields, host: str) -> Repository:
    branches = entry.objects("Branches")
    return Repository(
        name=entry.text("Name"),
        url=file_url.web_url(entry.text("URL")),
        branches=tuple((branch.text("Name"), branch.text("Version")) for branch in branches),
        files=entry.integer("Files"),
        content_bytes=entry.integer("Size"),
        index_bytes=entry.integer("MemorySize"),
        indexed_at=decode.unix_time(entry.text("IndexTime")),
        host=host,
    )
