"""Random searches of trees that the real Zoekt has indexed: the rows of the scan backend."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests import zoekt_programs
from tests.conftest import plant
from tests.contracts.backend import TREE
from tests.fuzz.contents import text_of
from tests.fuzz.patterns import PatternMaker
from tests.fuzz.trees import make_tree
from tests.zoekt.git_repository import commit_all, git
from triseek.engine.search.backends import scan, zoekt
from triseek.engine.search.query import Query
from triseek.errors import InvalidQuery
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest, Totals
from triseek.zoekt import addresses
from triseek.zoekt.cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.model.code_search import CodeRequest, CodeResult

pytestmark = pytest.mark.long

SEED = 20
TREES = 6
SEARCHES = 60
"""Of each tree."""
UNDERSTOOD = 40
"""The least of them whose pattern must be valid."""


class Recording(Cluster):
    """Records the queries."""

    queries: list[str]

    def search(self, request: CodeRequest) -> CodeResult:
        self.queries = [*getattr(self, "queries", ()), request.query]
        return super().search(request)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Recording, list[Path]]]:
    try:
        programs = zoekt_programs.installed()
    except zoekt_programs.Unreachable as reason:
        pytest.skip(str(reason))
    base = tmp_path_factory.mktemp("zoekt")
    trees = [base / f"tree{number}" for number in range(TREES)]
    for number, tree in enumerate(trees):
        tree.mkdir()
        if number == 0:
            plant(tree, {name: text for name, text in TREE.items() if name != ".git/HEAD"})
        else:
            files = make_tree(Random(f"{SEED}/{number}")).files()
            kept = {path: data for path, data in files.items() if b".git/" not in path + b"/"}
            plant(tree, {path.removeprefix(b"up/"): data for path, data in kept.items()})
        commit_all(tree)
        indexer = str(programs / "zoekt-git-index")
        subprocess.run(
            [indexer, "-index", str(base / "index"), str(tree)], check=True, capture_output=True
        )
    served = zoekt_programs.serving(base / "index")
    with served as url, Recording(addresses.parse(url)) as cluster:
        yield cluster, trees


@pytest.mark.parametrize("number", range(TREES))
def test_rows_are_those_of_a_scan(served, number):
    source, trees = served
    tree, random = trees[number], Random(f"{SEED}/searches/{number}")
    requests = list(_requests(random, tree))
    assert len(requests) >= UNDERSTOOD
    narrowed = 0
    for request in requests:
        query = Query.of(str(tree), request)
        expected, _ = _answer(scan.search(query, totals := Totals()), totals)
        found, totals = _answer(zoekt.search(query, totals := Totals(), source), totals)
        assert found == expected, request
        assert totals.incomplete == "", request
        narrowed += "content:" in source.queries[-1]
    assert narrowed >= UNDERSTOOD // 3  # most are not answered by reading everything


@pytest.mark.parametrize(
    "pattern", ["kelvin", "short", "KELVIN k", "STRASSE", "straße", "σίσυφος", "main|return", "int"]
)
def test_other_cases_are_found(served, pattern):
    source, trees = served
    for word in (False, True):
        spec = PatternSpec(patterns=(pattern,), case="insensitive", word=word)
        query = Query.of(str(trees[0]), SearchRequest(pattern=spec))
        expected, _ = _answer(scan.search(query, totals := Totals()), totals)
        found, _ = _answer(zoekt.search(query, totals := Totals(), source), totals)
        assert found == expected
        assert expected or pattern == "STRASSE"


def test_edits_are_seen_and_what_is_deleted_is_not(served):
    source, trees = served
    tree, random = trees[0], Random(f"{SEED}/edits")
    files = [path for path in sorted(tree.iterdir()) if path.is_file() and path.suffix]
    contents = [path.read_bytes() for path in files]
    try:
        for turn in range(12):
            changed, gone = random.sample(files, 2)
            changed.write_bytes(random.choice(contents) + b"\nnew needle\n")
            gone.unlink(missing_ok=True)
            (tree / f"new{turn}").write_text("new needle\n")
            if turn % 3 == 0:
                git(tree, "add", "-A")
            for request in (*_requests(random, tree, 6), _literal("new needle")):
                query = Query.of(str(tree), request)
                expected, _ = _answer(scan.search(query, totals := Totals()), totals)
                found, _ = _answer(zoekt.search(query, totals := Totals(), source), totals)
                assert found == expected, request
    finally:
        git(tree, "reset", "-q", "--hard")
        git(tree, "clean", "-qfd")


def _literal(text: str) -> SearchRequest:
    return SearchRequest(pattern=PatternSpec(patterns=(text,), fixed=True))


def _requests(random: Random, tree: Path, count: int = SEARCHES) -> Iterator[SearchRequest]:
    texts = [text_of(path.read_bytes()) for path in sorted(tree.rglob("*")) if path.is_file()]
    maker = PatternMaker(random, texts)
    for _ in range(count):
        request = _request(random, maker)
        try:
            Query.of(str(tree), request)
        except InvalidQuery:
            continue
        yield request


def _request(random: Random, maker: PatternMaker) -> SearchRequest:
    def chance(share: float) -> bool:
        return random.random() < share

    fixed, multiline = chance(0.15), chance(0.2)
    make = maker.fixed if fixed else lambda: maker.make(multiline=multiline)
    spec = PatternSpec(
        patterns=tuple(make() for _ in range(random.choice([1, 1, 1, 2, 3]))),
        fixed=fixed,
        multiline=multiline,
        case=random.choice(["sensitive", "sensitive", "insensitive", "smart"]),
        word=chance(0.1),
        line=chance(0.05),
        dotall=multiline and chance(0.3),
        crlf=chance(0.1),
        unicode=chance(0.9),
    )
    request = SearchRequest(pattern=spec, mode=random.choice(["lines"] * 4 + ["count", "files"]))
    changes: dict[str, Any] = {}
    if chance(0.2):
        changes["scope"] = ScopeSpec(hidden=chance(0.5), no_ignore=chance(0.5), text=chance(0.3))
    if chance(0.2):
        changes |= {"before": random.randrange(3), "after": random.randrange(3)}
    if chance(0.1):
        changes["max_count"] = random.randrange(1, 3)
    return replace(request, **changes)


def _answer(batches, totals):
    rows = [
        (os.fsdecode(file.path), file.count, file.nul, *_texts(file))
        for batch in batches
        for file in batch.files()
    ]
    return rows, totals


def _texts(file) -> list[tuple[int, int, bool, bytes]]:
    return [
        (number, offset, context, file.text[begin:end])
        for _, number, offset, begin, end, context in file.rows.tolist()
    ]
