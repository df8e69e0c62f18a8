"""`triseek find-files`: paths by words they contain, or by a glob."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.cli import status
from triseek.cli.operands import Naming, Places, as_typed, session
from triseek.cli.render.output import Output
from triseek.engine.find_files import GLOB_SIGNS, folded
from triseek.errors import InvalidQuery, InvalidRequest, RepoNotDetected
from triseek.model.plain_text import json_text
from triseek.model.search import ScopeSpec
from triseek.service.envelopes import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from triseek.cli.args import LowArgs
    from triseek.cli.find_words import FindWords
    from triseek.cli.world import World
    from triseek.service.service import Service


def find_files(
    query: str,
    path: str = "",
    *,
    limit: int | None = None,
    as_json: bool = False,
    terminator: bytes = b"\n",
    scope: ScopeSpec | None = None,
    by_path: bool = False,
    world: World,
    service: Service | None = None,
) -> int:
    """Print the files whose path has every word of the query in it, or matches its glob.

    Files that are used most come first, the others in path order; with `by_path` all of them.
    Without a service one is opened for this command alone.

    Raises:
        InvalidQuery: the query is empty.
        RepoNotDetected: `path` is no folder.
    """
    if not query.strip():
        raise InvalidQuery("the query is empty", next_step="Give a part of the file's path.")
    if path and not os.path.isdir(world.at(path)):
        raise RepoNotDetected(f"{path}: no such folder")
    out = Output(world.out)
    with session(service) as open_service:
        places = Places(open_service, world)
        root = os.fsencode(places.tree(path).engine.root)
        wanted = scope or ScopeSpec(allowlist=True)
        found = list(_found(places, query, path, wanted, by_path=by_path, world=world))
    kept = found if limit is None else found[:limit]
    if as_json:
        out.write(_document(root, kept, total=len(found)))
    else:
        out.write(b"".join(each + terminator for each in kept))
    out.flush()
    return status.FOUND if found else status.NOTHING


def find_from_words(plain: FindWords, world: World, service: Service | None = None) -> int:
    """`triseek find-files …`, as `find_files`."""
    return find_files(
        plain.query,
        plain.path,
        limit=plain.limit,
        as_json=plain.as_json,
        terminator=b"\0" if plain.null else b"\n",
        by_path=plain.by_path,
        world=world,
        service=service,
    )


def find_from_search(low: LowArgs, world: World, service: Service | None = None) -> int:
    """`triseek --kind path QUERY [PATH]`."""
    from triseek.cli.resolve import resolve

    if low.patterns or not low.positional:
        raise InvalidRequest("--kind path: give the query as the first word")
    query, *paths = low.positional
    if len(paths) > 1:
        raise InvalidRequest("--kind path: give one folder at most")
    plan = resolve(low, world)
    return find_files(
        query,
        paths[0] if paths else "",
        limit=low.limit,
        as_json=low.mode in ("json", "envelope"),
        terminator=b"\0" if low.null else b"\n",
        scope=replace(plan.request.scope, allowlist=True),
        world=world,
        service=service,
    )


def _found(
    places: Places, query: str, path: str, scope: ScopeSpec, *, by_path: bool, world: World
) -> Iterator[bytes]:
    accepts = _accepts(query)
    if accepts is None:
        scope = replace(scope, globs=(*scope.globs, query))
    place = places.tree(path)
    naming = Naming(place.inside, path)
    scope = as_typed(scope, place, path, world)
    inside = (os.fsdecode(place.inside),) if place.inside else ()
    paths = list(place.engine.list_files(scope, inside))
    if accepts is not None:
        names = naming.all_shown(paths)
        paths = [path for path, name in zip(paths, names, strict=True) if accepts(name)]
    ordered = paths if by_path else place.engine.most_used_first(paths)
    place.engine.remember(query, "path", ordered)
    return map(naming.shown, ordered)


def _accepts(query: str) -> Callable[[bytes], bool] | None:
    """A test for paths; `None` for a query that is a glob. Smart case, as -S."""
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
