"""The same queries on the same files: what the real Zoekt finds, and what triseek finds."""

from __future__ import annotations

import base64
import os
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from tests.zoekt_parity import differences, queries, server
from tests.zoekt_parity.differences import Place, Spans
from triseek.engine.repositories.atoms import SPANS_MAX
from triseek.engine.repositories.local import LocalRepositories
from triseek.engine.repositories.roots import named
from triseek.engine.roots import index_dir
from triseek.engine.service import Service
from triseek.index.build import build
from triseek.model.code_search import CodeRequest
from triseek.query.zoekt.parse import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.zoekt_parity.conftest import Served

pytestmark = pytest.mark.long

Found: TypeAlias = dict[tuple[str, str, int], Spans]
"""Repository, path and line number (0: the name) → byte offsets of the matches."""


@pytest.fixture(scope="module")
def local(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRepositories]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRISEEK_HOME", str(tmp_path_factory.mktemp("home")))
        for tree in served.trees.values():
            build(str(tree), index_dir(str(tree)))
        with Service() as service:
            yield LocalRepositories(service, named([str(tree) for tree in served.trees.values()]))


@pytest.mark.parametrize("count", [60, pytest.param(320, marks=pytest.mark.slow)])
def test_same_results(served: Served, local: LocalRepositories, count: int) -> None:
    reasons: Counter[str] = Counter()
    equal = 0
    for query in queries.searches(Random(count), count):
        try:
            theirs = _theirs(served.url, query)
        except server.Crashed:
            assert "type:filematch" in query
            reasons["Zoekt fails at type:filematch"] += 1
            continue
        different = _differences(served, query, _ours(local, query), theirs)
        equal += not different
        reasons.update(different)
    print(f"{equal} of {count} queries have equal results; places that differ:")
    for reason, places in reasons.most_common():
        print(f"  {places:6} {reason}")
    assert equal > 0.7 * count


def _differences(served: Served, query: str, ours: Found, theirs: Found) -> list[str]:
    """Return a reason for each place that differs."""
    in_file: Counter[tuple[str, str]] = Counter()
    for (repository, path, _), spans in ours.items():
        in_file[repository, path] += len(spans)
    out = []
    for place in ours.keys() | theirs.keys():
        if ours.get(place) == theirs.get(place):
            continue
        repository, path, number = place
        content = (served.trees[repository] / path).read_bytes()
        shown = Place(
            os.fsencode(path), content, number, ours.get(place), theirs.get(place),
            in_file[repository, path],
        )  # fmt: skip
        why = differences.reason(parse(query), shown)
        assert why, (query, place, shown.ours, shown.theirs)
        out.append(why)
    return out


def _ours(local: LocalRepositories, query: str) -> Found:
    request = CodeRequest(query=query, max_files=100_000, max_matches=1_000_000, seconds=600)
    result = local.search(request)
    cut = f"only its first {SPANS_MAX:,} matches were looked at"
    assert all(cut in sentence for sentence in result.partial), result.partial
    found: Found = {}
    for file in result.files:
        place = (file.repository, file.path.decode("utf-8", "surrogateescape"))
        found |= {(*place, line.number): line.spans for line in file.lines}
        if file.name_spans:
            found[*place, 0] = file.name_spans
        elif not file.lines:
            found[*place, -1] = ()
    return found


def _theirs(url: str, query: str) -> Found:
    found: Found = {}
    for file in server.files(url, query):
        if not file.get("LineMatches"):
            found[file["Repository"], file["FileName"], -1] = ()
        for line in file.get("LineMatches") or ():
            number = 0 if line["FileName"] else line["LineNumber"]
            place = (file["Repository"], file["FileName"], number)
            found[place] = tuple(_spans(line))
    return found


def _spans(line: dict[str, Any]) -> Iterator[tuple[int, int]]:
    text = base64.b64decode(line["Line"] or "")
    for fragment in line["LineFragments"] or ():
        begin = fragment["LineOffset"]
        assert begin <= len(text)
        yield begin, begin + fragment["MatchLength"]
