"""How often the order of results shows a definition early, against path order.

Names that are defined in a tree are found by another program: Python's own parser, or Universal
Ctags for C. Some of them are drawn (with a fixed seed), each is searched as a plain literal, and it
is noted which file of the answer is the first with a definition.

What this does not show: whether a definition is what was wanted. Names as short as `i` and names
that hundreds of files define are drawn like any other.
"""

from __future__ import annotations

import ast
import random
import shutil
import statistics
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from bench.markdown import ms, table
from bench.model import Faulty
from triseek.engine.engine import Engine
from triseek.engine.ranking.ranked import ranked
from triseek.model.search import PatternSpec, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

Defined: TypeAlias = "dict[str, set[bytes]]"
"""Name → the files that define it."""

NAMES = 300
FIRST_FILES = 3
MANY_FILES = 10
DRAWN_MAX = 4_000
"""Most names occur in few files; so many are tried to find `NAMES` that do not."""
PAGE = 20
TIMED = {"c": ("kmalloc", "struct device", "return"), "py": ("QuerySet", "def get", "return")}
_SEED = 6
_CTAGS_KINDS = "--kinds-C=dfgstuv"
"""Macros, functions, enums, structs, typedefs, unions, variables; no members, no prototypes."""


class Place(NamedTuple):
    """Of one name."""

    files: int
    """Files of the answer."""
    ranked: int | None
    """How many of them stand before the first that defines the name; None: not on the page."""
    by_path: int | None


def report(root: Path, index_dir: Path) -> str:
    """Measure in a tree, which is indexed first; two tables."""
    engine = Engine(str(root), index_dir=str(index_dir))
    engine.build()
    language = _language(root)
    defined: Defined = {}
    for name, path in _FINDERS[language](root):
        defined.setdefault(name, set()).add(path)
    names = random.Random(_SEED).sample(sorted(defined), min(DRAWN_MAX, len(defined)))
    places = [_place(engine, name, defined[name]) for name in names[:NAMES]]
    many = [place for place in places if place.files >= MANY_FILES]
    for name in names[NAMES:]:
        if len(many) < NAMES and len(_by_path(engine, name)) >= MANY_FILES:
            many.append(_place(engine, name, defined[name]))
    head = ("names", "order", "in the first file", f"in the first {FIRST_FILES}")
    rows = [*_rows("any", places), *_rows(f"in {MANY_FILES} files or more", many)]
    return table(head, rows) + "\n\n" + _costs(engine, TIMED[language])


def _rows(about: str, places: Sequence[Place]) -> Iterator[tuple[str, str, str, str]]:
    for order, found in (
        ("ranked", [place.ranked for place in places]),
        ("by path", [place.by_path for place in places]),
    ):
        first = sum(place == 0 for place in found)
        early = sum(place is not None and place < FIRST_FILES for place in found)
        whole = max(1, len(found))
        shares = (f"{100 * first / whole:.0f} %", f"{100 * early / whole:.0f} %")
        yield (f"{about}: {len(found)}", order, *shares)


def _costs(engine: Engine, texts: Sequence[str]) -> str:
    rows = []
    for text in texts:
        request = _request(text)
        plain, order = [], []
        for _ in range(7):
            begun = time.perf_counter()
            for _batch in engine.search(request):
                pass
            between = time.perf_counter()
            found = ranked(engine, request, limit=20, scores={}, stop=lambda: False)
            plain.append((between - begun) * 1e3)
            order.append((time.perf_counter() - between) * 1e3)
        usual = statistics.median(plain), statistics.median(order)
        lines = f"{found.search.totals.lines:,}"
        rows.append((f"`{text}`", lines, ms(usual[0]), ms(usual[1]), ms(usual[1] - usual[0])))
    return table(("20 of", "lines", "search, ms", "ranked, ms", "added, ms"), rows)


def _request(text: str) -> SearchRequest:
    return SearchRequest(pattern=PatternSpec(patterns=(text,), fixed=True), sweep=False)


def _place(engine: Engine, name: str, defining: set[bytes]) -> Place:
    by_path = _by_path(engine, name)
    found = ranked(engine, _request(name), limit=PAGE, scores={}, stop=lambda: False)
    return Place(
        len(by_path), _before([file.path for file in found.files], defining),
        _before(by_path, defining),
    )  # fmt: skip


def _by_path(engine: Engine, name: str) -> list[bytes]:
    return [path for batch in engine.search(_request(name)) for path in batch.paths]


def _before(paths: Sequence[bytes], defining: set[bytes]) -> int | None:
    return next((place for place, path in enumerate(paths) if path in defining), None)


def _language(root: Path) -> str:
    """What most of a tree is written in."""
    return max(_FINDERS, key=lambda suffix: sum(1 for _ in root.rglob(f"*.{suffix}")))


def _by_parser(root: Path) -> Iterator[tuple[str, bytes]]:
    """Functions, methods and classes of Python files."""
    for path in sorted(root.rglob("*.py")):
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        relative = str(path.relative_to(root)).encode()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node.name, relative


def _by_ctags(root: Path) -> Iterator[tuple[str, bytes]]:
    """What Universal Ctags says C files define."""
    program = shutil.which("ctags")
    if program is None:
        raise Faulty("ctags is not on this machine; install universal-ctags")
    argv = [program, "-R", "--languages=C", "--langmap=C:.c.h", _CTAGS_KINDS, "-u", "-x"]
    with subprocess.Popen(
        [*argv, "--_xformat=%N\t%F", "-f", "-", "."], cwd=root, stdout=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            name, path = line.rstrip(b"\n").split(b"\t", 1)
            if not name.startswith(b"__anon"):
                yield name.decode(), path.removeprefix(b"./")


_FINDERS = {"py": _by_parser, "c": _by_ctags}
