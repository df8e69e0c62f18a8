"""`triseek find-files`: paths by words they contain, or by a glob."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.cli.find_words import FindWords
from triseek.cli.operands import as_typed, places
from triseek.engine.ranking.find_files import GLOB_SIGNS, folded
from triseek.errors import InvalidQuery, InvalidRequest, RepoNotDetected
from triseek.model.plain_text import json_text
from triseek.model.search import ScopeSpec
from triseek.search.envelopes import shown
from triseek.terminal import status
from triseek.terminal.command_context import Output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from triseek.cli.low_args import LowArgs
    from triseek.cli.operands import OperandPlace
    from triseek.engine.service import Service
    from triseek.terminal.command_context import CommandContext


def find_files(
    words: FindWords,
    context: CommandContext,
    service: Service | None = None,
    scope: ScopeSpec | None = None,
) -> int:
    """Print the files whose path has every word of the query in it, or matches its glob.

    Files that are used most come first, the others in path order; with `by_path` all files do.
    Without a service one is opened for this command alone.

    Raises:
        InvalidQuery: The query is empty.
        RepoNotDetected: The path is not a folder.
    """
    if not words.query.strip():
        raise InvalidQuery("the query is empty", next_step="Give a part of the file's path.")
    if words.path and not os.path.isdir(context.at(words.path)):
        raise RepoNotDetected(f"{words.path}: no such folder")
    out = Output(context.out)
    with places(service, context) as operand_places:
        place = operand_places.tree(words.path)
        scope = as_typed(scope or ScopeSpec(allowlist=True), place, context)
        matches = list(_matches(words, place, scope))
    limited = matches if words.limit is None else matches[: words.limit]
    if words.as_json:
        root = os.fsencode(place.engine.root)
        out.write(_document(root, limited, total=len(matches)))
    else:
        terminator = b"\0" if words.null else b"\n"
        out.write(b"".join(match + terminator for match in limited))
    out.flush()
    return status.FOUND if matches else status.NOTHING


def find_from_search(low: LowArgs, context: CommandContext, service: Service | None = None) -> int:
    """Run `triseek --kind path QUERY [PATH]`."""
    from triseek.cli.resolve import resolve

    if low.patterns or not low.positional:
        raise InvalidRequest("--kind path: give the query as the first word")
    query, *paths = low.positional
    if len(paths) > 1:
        raise InvalidRequest("--kind path: give one folder at most")
    words = FindWords(
        query,
        "".join(paths),
        limit=low.limit,
        as_json=low.mode in ("json", "envelope"),
        null=low.null,
    )
    scope = replace(resolve(low, context).request.scope, allowlist=True)
    return find_files(words, context, service, scope)


def _matches(words: FindWords, place: OperandPlace, scope: ScopeSpec) -> Iterator[bytes]:
    """Return the paths to show, and count them as hits."""
    accepts = _accepts(words.query)
    if accepts is None:
        scope = replace(scope, globs=(*scope.globs, words.query))
    paths = list(place.engine.list_files(scope, place.paths))
    if accepts is not None:
        names = place.all_shown(paths)
        paths = [path for path, name in zip(paths, names, strict=True) if accepts(name)]
    ordered = paths if words.by_path else place.engine.most_used_first(paths)
    place.engine.record_answer(ordered)
    return map(place.shown, ordered)


def _accepts(query: str) -> Callable[[bytes], bool] | None:
    """Return a test for paths; None if the query is a glob. Uses smart case, as -S."""
    if GLOB_SIGNS & set(query):
        return None
    exact = any(char.isupper() for char in query)
    words = [os.fsencode(word if exact else word.lower()) for word in query.split()]

    first, *others = words

    def accepts(path: bytes) -> bool:
        text = path if exact else folded(path)
        return first in text and all(word in text for word in others)

    return accepts


def _document(root: bytes, paths: list[bytes], *, total: int) -> bytes:
    document = {
        "version": "1",
        "repo_root": shown(root),
        "results": [{"path": shown(path), "reason": "path_match"} for path in paths],
        "truncated": total > len(paths),
        "totals": {"files": total},
    }
    return (json_text(json.dumps(document, indent=2, ensure_ascii=False)) + "\n").encode()
