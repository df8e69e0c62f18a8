"""Ask a backend, and tell what it said in plain tuples that can be compared."""

import os
import shutil

from tests.contracts.backend import scanning
from triseek.engine.freshness import sweep
from triseek.engine.search.backends.indexed import Indexed
from triseek.engine.search.query import Query
from triseek.index import update
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest, Totals


def ask(backend, *patterns, scope=None, paths=(), mode="lines", sweep=True, more=None, **spec):
    """[(path, count, [(number, offset, line, context)])] in the order they came."""
    pattern = PatternSpec(patterns=patterns, **spec)
    request = SearchRequest(
        pattern=pattern, scope=scope or ScopeSpec(), paths=paths, mode=mode, sweep=sweep,
        **(more or {}),
    )  # fmt: skip
    return answer(backend, request)


def answer(backend, request):
    totals = Totals()
    batches = list(backend.search(Query.of(backend.root, request), totals))
    return [
        (file.path, file.count, [tuple(row) for row in said(file)])
        for batch in batches
        for file in batch.files()
    ]


def said(file):
    for row in file.rows:
        begin, end = int(row["begin"]), int(row["end"])
        number, offset = int(row["number"]), int(row["offset"])
        yield number, offset, file.text[begin:end], bool(row["context"])


def both(root, index_dir):
    """The backend through the index, and the one that reads the tree."""
    return Indexed(os.fspath(root), os.fspath(index_dir)), scanning(os.fspath(root), threads=1)


def paths(said):
    return [path.decode(errors="surrogateescape") for path, _, _ in said]


def write(root, files):
    """Make files, given as {path: content}; folders come by themselves."""
    for name, content in files.items():
        path = os.path.join(os.fspath(root), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


TICK_S = 0.012
"""Longer than the clock of any file system we test on stands still."""


def shorten_racy_times(monkeypatch):
    """A test cannot wait two seconds at every step."""
    monkeypatch.setattr(sweep, "RACY_NS", int(TICK_S * 1e9))
    monkeypatch.setattr(update, "RACY_NS", int(TICK_S * 1e9))
