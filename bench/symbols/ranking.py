"""Whether symbols order the files of an answer better than forms of lines do.

    python -m bench.symbols.ranking LANGUAGE=FOLDER…

Questions are those of `bench.rank_questions`: a name, and the one file that defines what it means.
Each is searched with `ranked`; then the first files of its answer are parsed, and those that define
the name are put first: types, then functions and values, then members. Both orders are compared.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench.markdown import table
from bench.rank_questions import make, source_tree
from triseek.engine.engine import Engine
from triseek.engine.ranking.ranked import ranked
from triseek.engine.symbols.cache import SymbolCache
from triseek.engine.symbols.symbols import Symbols
from triseek.model.search import PatternSpec, SearchRequest

FILES = 20
"""Files of an answer that are parsed."""
QUESTIONS = 60
_TYPES = ("class", "struct", "interface", "enum", "type", "alias", "talias", "trait")


def main(trees: list[str]) -> None:
    """Print a table in Markdown."""
    rows = []
    for tree in trees:
        language, _, folder = tree.partition("=")
        with tempfile.TemporaryDirectory() as scratch:
            rows += _measured(language, Path(folder).resolve(), Path(scratch))
    heads = ["tree", "source", "questions", "hit@1", "hit@1 by symbols", "MRR", "MRR by symbols"]
    print(table([*heads, "search ms", "parsing ms", "from the cache ms"], rows))


def _measured(language: str, root: Path, scratch: Path) -> list[list[str]]:
    tree = source_tree.read(root, language)
    asked = [
        question
        for question in make.questions(root.name, tree, QUESTIONS, 0)
        if question.tool == "search_content"
    ]
    engine = Engine(str(root), index_dir=str(scratch / "index"))
    engine.build()
    by_source: dict[str, list[tuple[float, float, float, float, float]]] = {}
    with Symbols(SymbolCache(str(scratch / "symbols"))) as symbols:
        for question in asked:
            name, path = question.query, question.path.encode()
            request = SearchRequest(pattern=PatternSpec(patterns=(name,), fixed=True), mode="files")
            started = time.perf_counter()
            page = ranked(engine, request, limit=FILES, scores={}, stop=lambda: False)
            searched = time.perf_counter()
            paths = [file.path for file in page.files]
            by_symbols = _reordered(symbols, root, paths, name)
            parsed = time.perf_counter()
            _reordered(symbols, root, paths, name)
            again = time.perf_counter()
            by_source.setdefault(question.source, []).append((
                _reciprocal(paths, path), _reciprocal(by_symbols, path),
                searched - started, parsed - searched, again - parsed,
            ))  # fmt: skip
    return [
        _row(f"{root.parents[1].name}/{source}", figures) for source, figures in by_source.items()
    ]


def _reordered(symbols: Symbols, root: Path, paths: list[bytes], name: str) -> list[bytes]:
    def level(path: bytes) -> int:
        text = (root / path.decode()).read_bytes()
        kinds = [one for one in symbols.of_file(path, text) if one.name == name]
        if any(one.kind in _TYPES and not one.parent for one in kinds):
            return 0
        return min((1 + bool(one.parent) for one in kinds), default=3)

    return sorted(paths, key=level)


def _reciprocal(paths: list[bytes], path: bytes) -> float:
    return 1 / (paths.index(path) + 1) if path in paths else 0.0


def _row(name: str, figures: list[tuple[float, float, float, float, float]]) -> list[str]:
    before, after, *times = zip(*figures, strict=True)
    return [
        *name.split("/"),
        f"{len(figures)}",
        f"{statistics.mean(one == 1 for one in before):.3f}",
        f"{statistics.mean(one == 1 for one in after):.3f}",
        f"{statistics.mean(before):.3f}",
        f"{statistics.mean(after):.3f}",
        *(f"{statistics.median(one) * 1e3:.0f}" for one in times),
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
