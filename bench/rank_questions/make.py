"""Questions from a repository, by rules that look at no answer.

What a name means: the source file that alone defines it, as a type if there is such a type, else as
a function or a value of a file, else as a member. A name that several files define so means none.
ctags misses some definitions; so a name also means none if an unindented line of another source
file reads `class NAME`, `function NAME` and the like (for a type: a type). Names have at least four
characters and are identifiers that begin with a letter. A field or an enumerator is no question
(agents look for types, functions and constants). Beside the three sources, and outside of all
means, there are questions for `fields` and for `contested` names: those that other files define as
something less (a method `Result` beside a class `Result`).

Searches, each for a name as it is spelled where it is defined; the right file is what it means:

- ctags: a third types, a third functions and methods, a third constants and variables of files;
- tests: what the name of a test begins with (`test_parse_url_twice`, `TestParseURL`,
  `describe("parseUrl")`), if the name means the file that the test's file is named after;
- changelogs: what stands in backquotes, or looks like code (`parseUrl`, `parse_url`).

find_files, the right file being the only source file with

- ctags: a stem that is, however joined, the name of something it defines (`parse_url.py` for
  `parseUrl`);
- tests: the stem of a test's file and the folder: the query is that folder's name and the words of
  the stem (`backends redis`);
- changelogs: the path or the dotted module that a changelog mentions, or a stem that is, however
  joined, a name from it.

Of each source some are drawn with a fixed seed; changelogs draw first, then tests, then ctags, and
what was drawn is not drawn again.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from bench.rank_questions.source_tree import SUFFIXES, Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from bench.rank_questions.source_tree import Definition, SourceTree

NAME_MIN = 4
_SEED = 17
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LOOKS_LIKE_CODE = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]")
_PLAIN_FOLDERS = frozenset(("src", "lib", "pkg", "source"))
_TEST_NAMES = {
    "Python": re.compile(r"(?m)^\s*(?:async )?(?:def|class) +[Tt]est_?(\w+)"),
    "Go": re.compile(r"(?m)^func (?:Test|Benchmark|Fuzz|Example)_?(\w+)\("),
    "TypeScript": re.compile(r"\b(?:describe|it|test)(?:\.\w+)*\(\s*['\"`](.*?)['\"`]\s*,"),
}


_KEYWORD = re.compile(
    r"(?m)^(?:(?:export|default|declare|abstract|async) +)*"
    r"(class|interface|enum|type|def|func|function|const|let|var) +([A-Za-z_]\w*)"
)
_TYPE_KEYWORDS = frozenset(("class", "interface", "enum", "type"))


BESIDE = ("contested", "fields")


class Question(NamedTuple):
    """What is asked, and the one right file."""

    tool: str
    """`search_content` or `find_files`."""
    source: str
    """`ctags`, `tests` or `changelogs`; or one of `BESIDE`, which the means leave out."""
    query: str
    path: str


def questions(name: str, tree: SourceTree, searches: int, find_files: int) -> list[Question]:
    """All questions of a repository: at most so many of each source."""
    asked = []
    meanings = _meanings(tree)
    fields = {name: one.path for name, one in meanings.items() if one.is_field}
    meanings = {name: one for name, one in meanings.items() if not one.is_field}
    contested = {name: one.path for name, one in meanings.items() if one.is_contested}
    beside = {"fields": lambda: [fields], "contested": lambda: [contested]}
    for tool, most, makers in (
        ("search_content", searches, _searches(tree, meanings)),
        ("find_files", find_files, _finds(tree)),
    ):
        drawn: set[str] = set()
        for source, groups in makers.items():
            for query, path in _drawn(f"{name} {tool} {source}", groups(), most, drawn):
                asked.append(Question(tool, source, query, path))
    for source, groups in beside.items():
        for query, path in _drawn(f"{name} {source}", groups(), searches, set()):
            asked.append(Question("search_content", source, query, path))
    return asked


def digest(asked: Sequence[Question]) -> str:
    """A short hash of questions, to tell whether two runs put the same ones."""
    lines = "\n".join("\t".join(question) for question in asked)
    return hashlib.sha256(lines.encode()).hexdigest()[:12]


Pairs = dict[str, str]
"""Query → the right file."""


def _drawn(
    seed: str, groups: Sequence[Pairs], most: int, drawn: set[str]
) -> Iterator[tuple[str, str]]:
    """Draw an equal share of each group, without what is drawn already."""
    chance = random.Random(f"{_SEED} {seed}")
    for number, group in enumerate(groups):
        share = most * (number + 1) // len(groups) - most * number // len(groups)
        left = sorted(query for query in group if query not in drawn)
        for query in chance.sample(left, min(share, len(left))):
            drawn.add(query)
            yield query, group[query]


class _Meaning(NamedTuple):
    path: str
    level: Level
    is_method: bool
    is_contested: bool
    """Whether other files define it as something less."""

    @property
    def is_field(self) -> bool:
        """Whether it is a member of a type, but not a function."""
        return self.level == Level.MEMBER and not self.is_method


def _meanings(tree: SourceTree) -> dict[str, _Meaning]:
    types, others = _by_keyword(tree)
    by_name: dict[str, list[Definition]] = defaultdict(list)
    for one in tree.definitions:
        if _is_name(one.name):
            by_name[one.name].append(one)
    meanings = {}
    for name, those in by_name.items():
        for level in ((Level.TYPE,), (Level.FUNCTION, Level.VALUE), (Level.MEMBER,)):
            best = [one for one in those if one.level in level]
            if best:
                witnesses = types[name] if best[0].level == Level.TYPE else others[name]
                if len({*(one.path for one in best), *witnesses}) == 1:
                    meanings[name] = _Meaning(
                        best[0].path,
                        best[0].level,
                        best[0].is_method,
                        len({one.path for one in those}) > 1,
                    )
                break
    return meanings


def _is_name(text: str) -> bool:
    return len(text) >= NAME_MIN and text[0] != "_" and _NAME.fullmatch(text) is not None


def _by_keyword(tree: SourceTree) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return name → files that seem to define it: as a type, and as anything."""
    types: dict[str, set[str]] = defaultdict(set)
    anything: dict[str, set[str]] = defaultdict(set)
    for path in tree.sources:
        for keyword, name in _KEYWORD.findall(tree.text(path)):
            anything[name].add(path)
            if keyword in _TYPE_KEYWORDS:
                types[name].add(path)
    return types, anything


def _searches(
    tree: SourceTree, meanings: Mapping[str, _Meaning]
) -> dict[str, Callable[[], list[Pairs]]]:
    def changelogs() -> list[Pairs]:
        names = (name for text in map(tree.text, tree.changelogs) for name in _code(text))
        return [{name: meanings[name].path for name in names if name in meanings}]

    def tests() -> list[Pairs]:
        return [dict(_tested(tree, meanings))]

    def ctags() -> list[Pairs]:
        groups: list[Pairs] = [{}, {}, {}]
        for name, meaning in meanings.items():
            if meaning.level == Level.TYPE:
                groups[0][name] = meaning.path
            elif meaning.level == Level.VALUE:
                groups[2][name] = meaning.path
            else:
                groups[1][name] = meaning.path
        return groups

    return {"changelogs": changelogs, "tests": tests, "ctags": ctags}


def _code(text: str) -> Iterator[str]:
    """Yield the names that stand in backquotes or look like code; of dotted ones the last."""
    for quoted in re.findall(r"`{1,2}([^`\n]+)`", text):
        name = quoted.strip().lstrip("~.@").partition("(")[0].rpartition(".")[2]
        if _NAME.fullmatch(name):
            yield name
    for name in _NAME.findall(text):
        if _LOOKS_LIKE_CODE.search(name):
            yield name


def _tested(tree: SourceTree, meanings: Mapping[str, _Meaning]) -> Iterator[tuple[str, str]]:
    """Yield names that tests are named after, and the files that define them."""
    names_of: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, meaning in meanings.items():
        names_of[meaning.path][_joined(name)].append(name)
    for test, tested in _pairs(tree):
        names = names_of[tested]
        for title in _TEST_NAMES[tree.language].findall(tree.text(test)):
            for begin in _beginnings(title, tree.language):
                if len(names.get(begin, ())) == 1:
                    yield names[begin][0], tested
                    break


def _beginnings(title: str, language: str) -> Iterator[str]:
    """Yield what a test may be named after, joined: the longest first."""
    if language == "TypeScript":  # a sentence, in which names look like code or stand alone
        words = _NAME.findall(title)
        yield from (
            _joined(word) for word in words if len(words) == 1 or _LOOKS_LIKE_CODE.search(word)
        )
        return
    parts = _PARTS.findall(title)
    yield from ("".join(parts[:size]).lower() for size in range(len(parts), 0, -1))


def _pairs(tree: SourceTree) -> Iterator[tuple[str, str]]:
    """Yield the tests' files that are named after one source file, and that file."""
    by_stem: dict[str, list[str]] = defaultdict(list)
    for path in tree.sources:
        by_stem[_joined(_stem(path))].append(path)
    for test in tree.tests:
        found = by_stem[_joined(_stem(test))]
        folders = test.split("/")[:-1]
        near = [path for path in found if path.split("/")[:-1] in (folders, folders[:-1])]
        alike = [path for path in found if _folder(path) == "".join(folders[-1:])]
        for those in (found, near, alike):
            if len(those) == 1:
                yield test, those[0]
                break


def _finds(tree: SourceTree) -> dict[str, Callable[[], list[Pairs]]]:
    by_stem: dict[str, list[str]] = defaultdict(list)
    by_folder: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in tree.sources:
        stem = _joined(_stem(path))
        by_stem[stem].append(path)
        by_folder[_folder(path), stem].append(path)

    def named(name: str) -> str:
        """Return the only file whose stem is a name; empty if there is none."""
        files = by_stem.get(_joined(name), ())
        return files[0] if len(files) == 1 and _is_name(name) else ""

    def changelogs() -> list[Pairs]:
        pairs: Pairs = {}
        for text in map(tree.text, tree.changelogs):
            pairs |= {name: named(name) for name in _code(text) if named(name)}
            pairs |= dict(_mentioned(text, tree))
        return [pairs]

    def tests() -> list[Pairs]:
        pairs: Pairs = {}
        for _, tested in _pairs(tree):
            folder, stem = _folder(tested), _stem(tested)
            if folder and len(by_folder[folder, _joined(stem)]) == 1:
                pairs[" ".join([folder, *map(str.lower, _PARTS.findall(stem))])] = tested
        return [pairs]

    def ctags() -> list[Pairs]:
        own = ((one.name, one.path) for one in tree.definitions if named(one.name) == one.path)
        return [dict(own)]

    return {"changelogs": changelogs, "tests": tests, "ctags": ctags}


def _mentioned(text: str, tree: SourceTree) -> Iterator[tuple[str, str]]:
    """Yield the paths and dotted modules of a text that are those of one source file."""
    suffixes = SUFFIXES[tree.language]
    for token in sorted(set(re.findall(r"[\w./-]*\w", text))):
        is_path = token.endswith(suffixes)
        words = token.strip("./").split("/" if is_path else ".")
        if is_path or (len(words) > 1 and all(map(_NAME.fullmatch, words))):
            ends = ("/".join(words),) if is_path else tuple("/".join(words) + s for s in suffixes)
            files = [
                path for path in tree.sources if f"/{path}".endswith(tuple(f"/{e}" for e in ends))
            ]
            if len(files) == 1:
                yield token if is_path else " ".join(words[-2:]), files[0]


def _stem(path: str) -> str:
    """The name of a file without suffix, and without what makes it a test."""
    stem = path.rpartition("/")[2].partition(".")[0]
    return re.sub(r"(?i)^test_|_test$|-test$", "", stem)


def _folder(path: str) -> str:
    """The nearest folder of a file that says something."""
    folders = [name for name in path.split("/")[:-1] if name not in _PLAIN_FOLDERS]
    return folders[-1] if folders else ""


def _joined(name: str) -> str:
    """The letters and digits of a name, in lower case."""
    return "".join(char for char in name if char.isalnum()).lower()
