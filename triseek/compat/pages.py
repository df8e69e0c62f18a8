"""What Zoekt serves for people: `/search?format=json` and `/print`, which programs read, too."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from triseek.compat import replies
from triseek.compat.go_json import encode, text_of
from triseek.compat.matches import Content, line_matches
from triseek.compat.options import Options
from triseek.compat.query_text import is_about_repositories, shown
from triseek.errors import InvalidQuery, InvalidRequest
from triseek.model.code_search import CodeRequest
from triseek.query.zoekt.parse import parse
from triseek.query.zoekt.syntax import Branch
from triseek.query.zoekt.text import path_name, repo_name
from triseek.query.zoekt.text import text_of as text_of_query

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from triseek.compat.matches import Document
    from triseek.compat.replies import Read
    from triseek.model.code_search import CodeFile, CodeResult, CodeSource, Repository

FILES = 50
"""Files that are shown if the request does not say how many."""
TIME_S = 10.0
CONTEXT_MAX = 10
POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""Content-Security-Policy of a printed file: text and links alone."""

_ORDERS = {
    "name": lambda repository: repository.name,
    "size": lambda repository: repository.content_bytes,
    "ram": lambda repository: repository.index_bytes,
    "time": lambda repository: repository.indexed_at,
}


def fields_of(query_string: bytes) -> dict[str, str]:
    """Return the first value of each field of a URL; bytes that are not UTF-8 are escaped."""
    pairs = parse_qsl(
        query_string.decode("utf-8", "surrogateescape"),
        keep_blank_values=True,
        errors="surrogateescape",
    )
    return dict(reversed(pairs))


def search(source: CodeSource, fields: Mapping[str, str], read: Read) -> bytes:
    """Return the JSON of `/search`: files with matches, or repositories.

    Raises:
        InvalidQuery, BackendFailure: As the source does.
        InvalidRequest: A field has no valid value.
    """
    query = text_of(fields.get("q", ""))
    if not query:
        raise InvalidQuery("no query found")
    node = parse(query)
    if is_about_repositories(node):
        return encode({"repos": _repositories(source, query, fields)}) + b"\n"
    options = Options(
        max_files=_positive(fields.get("num", "")) or FILES,
        context_lines=_context(fields.get("ctx", "")),
        seconds=TIME_S,
    )
    result = source.search(options.request(query))
    return encode({"result": {
        "Last": _last(query, fields, options.max_files, options.context_lines),
        "QueryStr": query,
        "Query": shown(node),
        "Stats": replies.stats(result),
        "Duration": 0,
        "FileMatches": list(_files(result, options, query, read)) or None,
    }}) + b"\n"  # fmt: skip


def _files(result: CodeResult, options: Options, query: str, read: Read) -> Iterator[Document]:
    seen: dict[bytes, str] = {}
    for file, lines in replies.shown(result.files, options):
        content = replies.contents(file, read)
        matches = line_matches(file, lines, Content(content), options.context_lines)
        identity = f"{text_of(file.repository)}:{text_of(file.path)}"
        checksum = replies.checksum(file, content)
        url = _url(file, query)
        yield {
            "FileName": text_of(file.path),
            "Repo": text_of(file.repository),
            "ResultID": identity,
            "Language": file.language,
            "DuplicateID": seen.get(checksum, ""),
            "Branches": list(file.branches) or None,
            "Matches": [_match(match, file, url) for match in matches],
            "URL": url,
        }
        if checksum:
            seen.setdefault(checksum, identity)


def _match(match: Document, file: CodeFile, url: str) -> Document:
    import base64

    def plain(name: str) -> bytes:
        return base64.b64decode(match[name] or "")

    line, at = plain("Line"), 0
    fragments: list[Document] = []
    for fragment in match["LineFragments"]:
        begin = fragment["LineOffset"]
        end = begin + fragment["MatchLength"]
        pre, hit = text_of(line[at:begin]), text_of(line[begin:end])
        fragments.append({"Pre": pre, "Match": hit, "Post": ""})
        at = end
    if fragments:
        fragments[-1]["Post"] = text_of(line[at:])
    document: Document = {
        "URL": f"{url}#l{match['LineNumber']}",
        "FileName": text_of(file.path),
        "LineNum": match["LineNumber"],
        "Fragments": fragments or None,
    }
    for name in ("Before", "After"):
        if context := text_of(plain(name)):
            document[name] = context
    return document


def _url(file: CodeFile, query: str) -> str:
    """Return the link to a file, below this server, with its fields by name as Go writes them."""
    fields: list[tuple[str, str | bytes]] = [("f", file.path), ("q", query)]
    if file.branches:
        fields.insert(0, ("b", file.branches[0]))
    fields.append(("r", file.repository.encode("utf-8", "surrogateescape")))
    return f"print?{urlencode(fields)}"


def _repositories(source: CodeSource, query: str, fields: Mapping[str, str]) -> Document:
    repositories = _ordered(source.repositories(query).repositories, fields.get("order", ""))
    count = _positive(fields.get("num", ""))
    return {
        "Last": _last(query, fields, min(count, len(repositories)), 0, debug=False),
        "Stats": replies.repository_stats(repositories),
        "Repos": [_repository(repository) for repository in repositories[: count or None]] or None,
    }


def _ordered(repositories: list[Repository], order: str) -> list[Repository]:
    key = _ORDERS.get(order.removeprefix("rev") or "name")
    if key is None:
        raise InvalidRequest(
            f"got unknown sort key {_quoted(order)}, allowed [rev]name, [rev]time, [rev]size"
        )
    return sorted(repositories, key=key, reverse=order.startswith("rev"))


def _quoted(text: str) -> str:
    return f'"{text_of(text)}"'


def _repository(repository: Repository) -> Document:
    return {
        "Name": text_of(repository.name),
        "URL": text_of(repository.url),
        "IndexTime": replies.time(repository.indexed_at),
        "Branches": replies.branches(repository, {"URL": ""}),
        "Files": repository.files,
        "Size": repository.content_bytes,
        "MemorySize": repository.index_bytes,
    }


def _last(
    query: str, fields: Mapping[str, str], count: int, context: int, *, debug: bool = True
) -> Document:
    is_debug = debug and fields.get("debug", "") in ("1", "t", "T", "true", "TRUE", "True")
    return {
        "Query": query,
        "Num": count,
        "Ctx": context,
        "AutoFocus": True,
        "Debug": is_debug,
    }


def _integer(text: str) -> int | None:
    digits = text.removeprefix("-").removeprefix("+")
    is_number = digits.isascii() and digits.isdecimal() and len(digits) < 19
    return int(text) if is_number and len(text) - len(digits) <= 1 else None


def _positive(text: str) -> int:
    """Return a number above 0; 0 for any other text."""
    return max(0, _integer(text) or 0)


def _context(text: str) -> int:
    lines = _integer(text) if text else 0
    if lines is None or not 0 <= lines <= CONTEXT_MAX:
        raise InvalidRequest(f"Number of context lines must be between 0 and {CONTEXT_MAX}")
    return lines


def content(source: CodeSource, fields: Mapping[str, str]) -> bytes:
    """Return the content of the file that `/print` asks for.

    The file is searched for by its name, as Zoekt does, so that only what a search can show is
    printed: no ignored files, and nothing of `.git`.

    Raises:
        InvalidRequest: There is no such file; the message is Zoekt's.
        BackendFailure: It cannot be read.
    """
    path = fields.get("f", "").encode("utf-8", "surrogateescape")
    try:
        query = f"{repo_name(fields.get('r', ''))} {path_name(path)}"
        if branch := fields.get("b", ""):
            query += f" {text_of_query(Branch(branch))}"
        request = CodeRequest(query=query, max_files=2, whole=True, seconds=TIME_S)
        files = source.search(request).files
    except InvalidQuery:  # a name that no query can say
        files = []
    if len(files) != 1:
        raise InvalidRequest("ambiguous result: []")
    return source.read(files[0].repository, path) if files[0].content is None else files[0].content


def printed(fields: Mapping[str, str], text: bytes) -> Iterator[bytes]:
    """Yield a page with the lines of a file, each in an element as clients of Zoekt expect it.

    The page of a file of line ends is two hundred times as long as the file.
    """
    title = html.escape(text_of(f"{fields.get('r', '')}:{fields.get('f', '')}"))
    head = f'<head><meta charset="utf-8"><title>{title}</title></head>'
    yield f"<!doctype html>\n<html>{head}<body>\n".encode("utf-8", "replace")
    number = at = 0
    while at <= len(text):
        number, end = number + 1, text.find(b"\n", at)
        end = len(text) if end < 0 else end
        shown = html.escape(text_of(text[at:end]))
        line = (
            f'<pre id="l{number}" class="inline-pre"><span class="noselect">'
            f'<a href="#l{number}">{number}</a>: </span>{shown}</pre>\n'
        )
        yield line.encode("utf-8", "replace")
        at = end + 1
    yield b"</body></html>\n"
