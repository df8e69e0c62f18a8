"""Random queries over random trees: the same files, lines and spans as the slow twin."""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.repositories.conftest import DefSymbols
from tests.oracle.repositories import Twin, files_of
from triseek.engine.repositories.local import LocalRepositories
from triseek.engine.repositories.roots import named
from triseek.engine.roots import index_dir
from triseek.engine.service import Service
from triseek.index.build import build
from triseek.model.code_search import CodeRequest
from triseek.query.zoekt import syntax

WORDS = ("alpha", "Beta", "needle", "ne", "eta\nal", "a", "run", "x", "\u00e9t\u00e9", "no such")
EXPRESSIONS = ("al.ha", "^def", "[nN]e+dle$", "beta|run", "a[^b]c", r"ne\w*e", "x*", r"run\s+al")
NAMES = ("src", "alpha.py", "beta", "README.md", "run.c", "a b", "new\nline", "x", "deep")
LINES = (
    "alpha beta",
    "def run(x):",
    "def Beta_needle():",
    "needle",
    "",
    "  ne",
    "été",
    "a\nc",
    "run",
)
ALL = CodeRequest(query="", max_files=10_000, max_matches=1_000_000, seconds=60)


def contents(rng: random.Random) -> bytes:
    lines = [rng.choice(LINES) for _ in range(rng.randrange(8))]
    text = "\n".join(lines).encode() + rng.choice((b"", b"\n"))
    return text + rng.choice((b"", b"", b"", b"\xc3 ne", b"\0bin"))


def planted(rng: random.Random, root: str) -> None:
    for _ in range(rng.randrange(1, 30)):
        parts = [rng.choice(NAMES) for _ in range(rng.randrange(1, 4))]
        path = os.path.join(root, *parts)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(contents(rng))
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue


def text(rng: random.Random) -> syntax.Text:
    where = rng.choice(("any", "file", "content"))
    if rng.random() < 0.4:
        return syntax.Regexp(rng.choice(EXPRESSIONS), rng.random() < 0.5, where)
    return syntax.Substring(rng.choice(WORDS), rng.random() < 0.5, where)


def query(rng: random.Random, depth: int = 3) -> syntax.Node:
    kind = rng.random()
    if depth == 0 or kind < 0.35:
        return text(rng)
    if kind < 0.42:
        return syntax.Symbol(text(rng))
    if kind < 0.47:
        return syntax.Repo(rng.choice(("one", "two", "^o", "o", "none")))
    if kind < 0.5:
        return syntax.Const(rng.random() < 0.5)
    if kind < 0.54:
        return syntax.Type(rng.choice(("filename", "filematch")), query(rng, depth - 1))
    if kind < 0.64:
        return syntax.Not(query(rng, depth - 1))
    parts = tuple(query(rng, depth - 1) for _ in range(rng.randrange(2, 4)))
    return syntax.And(parts) if kind < 0.82 else syntax.Or(parts)


def answer(source: LocalRepositories, node: syntax.Node) -> dict[tuple[str, bytes], object]:
    result = source.evaluate(node, ALL)
    assert result.partial == ()
    shown = {
        (file.repository, file.path): {line.number: list(line.spans) for line in file.lines}
        or {0: list(file.name_spans)}
        for file in result.files
    }
    assert result.file_count == len(shown)
    return shown


def expected(roots: dict[str, str], node: syntax.Node) -> dict[tuple[str, bytes], object]:
    shown = {}
    for name, root in roots.items():
        for path, content in files_of(root):
            lines = Twin(name, path, content).lines(node)
            if lines is not None:
                shown[name, path] = lines
    return shown


@pytest.fixture(scope="module")
def forest(tmp_path_factory):
    """Two repositories of random files, one of them with an index, and their source."""
    top = tmp_path_factory.mktemp("forest")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRISEEK_HOME", str(top / "home"))
        roots = {name: str(top / name) for name in ("one", "two")}
        for seed, root in enumerate(roots.values()):
            os.makedirs(root)
            planted(random.Random(seed + 7), root)
        build(roots["one"], index_dir(roots["one"]))
        with Service() as service:
            yield roots, LocalRepositories(service, named(roots.values()), DefSymbols())


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_random_queries_match_as_the_slow_twin_says(forest, seed):
    roots, source = forest
    node = query(random.Random(seed))
    assert answer(source, node) == expected(roots, node)


@pytest.mark.parametrize("seed", range(12))
def test_random_queries_on_random_trees(tmp_path, seed):
    rng = random.Random(seed)
    roots = {name: str(tmp_path / name) for name in ("one", "two")}
    for root in roots.values():
        os.makedirs(root)
        planted(rng, root)
        if rng.random() < 0.7:
            build(root, index_dir(root))
    with Service() as service:
        source = LocalRepositories(service, named(roots.values()), DefSymbols())
        for _ in range(6):
            node = query(rng)
            assert answer(source, node) == expected(roots, node), node
            planted(rng, roots["one"])  # an edit is seen at once
