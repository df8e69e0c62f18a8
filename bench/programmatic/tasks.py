"""Tasks made by a program, and what is true of them: by rg and ctags, without triseek."""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from bench import command, corpora, sampling
from bench.model import Faulty
from bench.programmatic import definitions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from bench.programmatic.definitions import Definition

Kind: TypeAlias = Literal["trace", "usages", "config"]
Place: TypeAlias = tuple[str, int]
"""A path relative to the folder of the repositories, and a line; 0 stands for the file itself."""

SEED = "programmatic 1"
EACH = 4
"""Tasks of each class: half of them for tuning, half reported."""
CLASSES: Mapping[Kind, Sequence[tuple[int, int]]] = {
    "trace": ((3, 10), (11, 40), (41, 120), (121, 400)),
    "usages": ((3, 10), (11, 40), (41, 120), (121, 400)),
    "config": ((2, 6), (7, 15), (16, 40), (41, 200)),
}
"""The least and the most lines that rg prints."""
DEFINITIONS_MAX = 4
"""Definitions of a traced name, at most: a name of many is a word, not a symbol."""
LINES_OF_EXTENT = (5, 200)
LINE_MAX = 500
"""Bytes of a line that rg prints; generated files have longer ones."""
_NAME = re.compile(r"[A-Za-z]+(?:_[A-Za-z]+)+|[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)+")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_CODE = re.compile(r"\.(py|pyx|go|rs|ts|tsx|js|mjs|cjs)$")
_TESTS = re.compile(
    r"(^|/)(tests?|testing|testsuite|__tests__|integration-tests|evals)/|[._-]test\.|(^|/)test_"
)
_DOCS = re.compile(r"\.(md|rst|txt|adoc|mdx)$")


class Fact(NamedTuple):
    """Something that an answer has to show."""

    group: str
    places: frozenset[Place]
    """Any of them will do."""


class Task(NamedTuple):
    """A question on code, and the facts that answer it."""

    kind: Kind
    name: str
    repository: str
    """The folder that is asked about; "" for all."""
    lines: int
    """Lines that `rg -n -w NAME` prints."""
    is_reported: bool
    """Whether it belongs to the half that nothing was mended by."""
    facts: tuple[Fact, ...]
    definitions: tuple[Definition, ...]
    uses: frozenset[Place]
    """All lines with the name that do not define it."""


class Sources:
    """The repositories as tasks are drawn from them."""

    def __init__(self, root: Path, names: Sequence[str], rg: str) -> None:
        """Read all files that rg searches."""
        self.root = root
        self.names = names
        self._rg = rg
        self.frequency = {
            name: sampling.frequency(root / name, corpora.listing(root / name, rg))
            for name in names
        }
        self.definitions = definitions.of_folder(root)

    def lines(self, name: str, repository: str) -> dict[Place, str] | None:
        """Return the lines with a name as a whole word; None if one is too long."""
        argv = [self._rg, "--no-config", "-n", "--no-heading", "-w", name, repository or "."]
        output = command.run(argv, cwd=self.root, keep=True).output.decode(errors="replace")
        found = {}
        for line in output.splitlines():
            if len(line) > LINE_MAX:
                return None
            path, number, text = line.removeprefix("./").split(":", 2)
            found[path, int(number)] = text
        return found


def drawn(sources: Sources) -> list[Task]:
    """Draw the tasks.

    Raises:
        Faulty: There are too few names that occur as often as the classes ask for.
    """
    return [
        task
        for kind, bounds in CLASSES.items()
        for low, high in bounds
        for task in _of_class(sources, kind, low, high)
    ]


def _of_class(sources: Sources, kind: Kind, low: int, high: int) -> Iterator[Task]:
    draw = random.Random(f"{SEED} {kind} {low}")
    count = 0
    for repository, name in _candidates(sources, kind, low, high, draw):
        found = sources.lines(name, repository)
        if found is None or not low <= len(found) <= high:
            continue
        task = _MAKERS[kind](sources, name, repository, found)
        if task is not None:
            yield task._replace(is_reported=count % 2 == 1)
            count += 1
            if count == EACH:
                return
    raise Faulty(f"{kind}: too few names in {low} to {high} lines")


def _candidates(
    sources: Sources, kind: Kind, low: int, high: int, draw: random.Random
) -> Iterator[tuple[str, str]]:
    """Yield repositories and names, in turn by repository, each in the order of a draw."""
    if kind == "trace":
        total: Counter[str] = Counter()
        for frequency in sources.frequency.values():
            total.update(frequency)
        names = [
            name
            for name, count in total.items()
            if low <= count <= 2 * high
            and _NAME.fullmatch(name)
            and 1 <= len(sources.definitions.get(name, ())) <= DEFINITIONS_MAX
            and sum(name in frequency for frequency in sources.frequency.values()) > 1
        ]
        yield from (("", name) for name in _shuffled(names, draw))
        return
    pattern = _NAME if kind == "usages" else _VARIABLE
    columns = []
    for repository in _shuffled(sources.names, draw):
        names = [
            name
            for name, count in sources.frequency[repository].items()
            if low <= count <= 2 * high and pattern.fullmatch(name)
            and (kind == "config" or name in sources.definitions)
        ]  # fmt: skip
        columns.append([(repository, name) for name in _shuffled(names, draw)])
    for row in zip_longest(*columns):
        yield from (each for each in row if each)


def _shuffled(names: Iterable[str], draw: random.Random) -> list[str]:
    ordered = sorted(names)
    draw.shuffle(ordered)
    return ordered


def _trace(sources: Sources, name: str, repository: str, found: Mapping[Place, str]) -> Task | None:
    """Which repositories define and use a name."""
    defined = _defined(sources, name, "", found)
    by_repository: dict[str, set[Place]] = {}
    for path, line in found:
        by_repository.setdefault(path.partition("/")[0], set()).add((path, line))
    defining = {(each.path, each.line) for each in defined}
    users = {name for name, places in by_repository.items() if places - defining}
    if not defined or len(users) < 2 or users <= {path.partition("/")[0] for path, _ in defining}:
        return None
    facts = [Fact("definition", frozenset({place})) for place in sorted(defining)]
    facts += [
        Fact("repository", frozenset((path, 0) for path, _ in by_repository[user] - defining))
        for user in sorted(users)
    ]
    return _task("trace", name, repository, found, facts, defined)


def _usages(
    sources: Sources, name: str, repository: str, found: Mapping[Place, str]
) -> Task | None:
    """Where a name is defined, up to which line, and where it is used."""
    defined = _defined(sources, name, repository, found)
    if len(defined) != 1 or _TESTS.search(defined[0].path):
        return None
    end = definitions.extent(sources.root, defined[0])
    if not LINES_OF_EXTENT[0] <= end - defined[0].line + 1 <= LINES_OF_EXTENT[1]:
        return None
    place = (defined[0].path, defined[0].line)
    facts = [
        Fact("definition", frozenset({place})),
        Fact("extent", frozenset({(place[0], end)})),
        *(Fact("use", frozenset({use})) for use in sorted(set(found) - {place})),
    ]
    complete = (defined[0]._replace(end=end),)
    return _task("usages", name, repository, found, facts, complete)


def _config(
    _sources: Sources, name: str, repository: str, found: Mapping[Place, str]
) -> Task | None:
    """Where an environment variable is read or defined, and which other files have it."""
    use = re.compile(rf"[\"'`]{name}[\"'`]|\benv\.{name}\b")
    reading = {
        place for place, text in found.items() if _group(place[0]) == "code" and use.search(text)
    }
    files = {(path, _group(path)) for path, _ in found}
    if not reading or len({group for _, group in files}) < 2:
        return None
    facts = [Fact("read", frozenset({place})) for place in sorted(reading)]
    facts += [Fact(group, frozenset({(path, 0)})) for path, group in sorted(files)]
    return _task("config", name, repository, found, facts, ())


_MAKERS = {"trace": _trace, "usages": _usages, "config": _config}


def _task(
    kind: Kind,
    name: str,
    repository: str,
    found: Mapping[Place, str],
    facts: Sequence[Fact],
    defined: Sequence[Definition],
) -> Task:
    uses = frozenset(found) - {(each.path, each.line) for each in defined}
    return Task(kind, name, repository, len(found), False, tuple(facts), tuple(defined), uses)


def _defined(
    sources: Sources, name: str, repository: str, found: Mapping[Place, str]
) -> list[Definition]:
    """Return the definitions of a name that rg sees, too."""
    return [
        each
        for each in sources.definitions.get(name, ())
        if each.path.startswith(f"{repository}/" if repository else "")
        and (each.path, each.line) in found
    ]


def _group(path: str) -> str:
    """Return what kind of file a path names; the rest is what sets variables."""
    if _TESTS.search(path):
        return "tests"
    if _DOCS.search(path):
        return "documentation"
    return "code" if _CODE.search(path) else "configuration"
