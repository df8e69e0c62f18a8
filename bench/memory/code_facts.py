"""A corpus of facts about code, made by rule from installed packages and asked for by a part.

Identifiers and files come from the source of Click, the options of a command from uvicorn, versions
from the packages' metadata, error codes from the operating system. Questions are parts of names:
words of an identifier, a file without its folder, a command's option, a version, a code.
"""

from __future__ import annotations

import ast
import errno
import importlib.metadata
import itertools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from bench.memory.corpora import Corpus, Question, Text
from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Iterator

OF_A_KIND = 40
"""The most drawers of a kind."""
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_VERSIONED = (
    "anyio", "attrs", "cachetools", "click", "cryptography", "hypothesis", "numba", "numpy",
    "packaging", "pillow", "pyarrow", "pydantic", "pytest", "rich", "starlette", "typer", "uvicorn",
)  # fmt: skip


def read() -> Corpus:
    """Return the facts and the questions about them.

    Raises:
        Faulty: A package is not installed.
    """
    drawers: list[Text] = []
    questions: list[Question] = []
    for kind in (_identifiers, _files, _options, _versions, _errors):
        for at, (text, asked) in enumerate(kind()):
            if at == OF_A_KIND:
                break
            name = kind.__name__.strip("_")
            drawers.append(Text(id=f"{name}-{at}", text=text, room=name))
            questions += [
                Question(query=query, evidence=(drawers[-1].id,), kind=name) for query in asked
            ]
    return Corpus(name="code-facts", drawers=tuple(drawers), questions=tuple(questions))


def parts(identifier: str) -> list[str]:
    """Return the words of an identifier, in lower case."""
    return [part.lower() for part in _PART.findall(identifier)]


def _identifiers() -> Iterator[tuple[str, list[str]]]:
    """Yield documented functions; asked for by two neighbouring words that no other one has."""
    facts = {
        name: f"`{name}` in `{path}` (line {node.lineno}): {_summary(node)}"
        for path, tree in _modules("click")
        for name, node in _functions(tree)
    }
    facts = dict(list(facts.items())[: 10 * OF_A_KIND])
    pairs = {name: list(itertools.pairwise(words)) for name in facts for words in [parts(name)]}
    every = [pair for listed in pairs.values() for pair in set(listed)]
    for name, fact in facts.items():
        unique = [pair for pair in pairs[name] if every.count(pair) == 1]
        if unique:
            yield fact, [" ".join(unique[-1])]


def _files() -> Iterator[tuple[str, list[str]]]:
    """Yield what each file defines; asked for by the file's name, and by its words."""
    for path, tree in _modules("click"):
        names = [
            node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)
        ]
        if names and not path.endswith("/__init__.py"):
            file = path.rpartition("/")[2]
            yield (
                f"The file `{path}` defines {', '.join(names[:8])}.",
                [file, f"{' '.join(parts(file.removesuffix('.py')))} file"],
            )


def _options() -> Iterator[tuple[str, list[str]]]:
    """Yield the options of a command; asked for as they are typed, and by their words."""
    trees = dict(_modules("uvicorn"))
    for node in ast.walk(trees["uvicorn/main.py"]):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if node.func.attr != "option" or not isinstance(node.args[0], ast.Constant):
            continue
        option = str(node.args[0].value).partition("/")[0]
        about = [
            str(word.value.value) for word in node.keywords
            if word.arg == "help" and isinstance(word.value, ast.Constant)
        ]  # fmt: skip
        if about:
            words = " ".join(parts(option))
            yield f"Run `uvicorn {option}`: {about[0]}", [f"uvicorn {option}", f"uvicorn {words}"]


def _versions() -> Iterator[tuple[str, list[str]]]:
    """Yield what is installed; asked for by name and by version."""
    for name in _VERSIONED:
        found = _distribution(name)
        needs = ", ".join((found.requires or ["nothing else"])[:3])
        version = found.version
        yield (
            f"{name} is pinned to {name}=={version}; it needs {needs}.",
            [f"which version of {name} is pinned", f"{name} {version}"],
        )


def _errors() -> Iterator[tuple[str, list[str]]]:
    """Yield the system's error codes; asked for by name and by number."""
    for number, name in sorted(errno.errorcode.items()):
        yield (
            f"The call fails with errno {number} ({name}): {os.strerror(number)}.",
            [name, f"errno {number}"],
        )


def _modules(package: str) -> Iterator[tuple[str, ast.Module]]:
    folder = Path(str(_distribution(package).locate_file(package)))
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield path.relative_to(folder.parent).as_posix(), tree


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            yield node.name, node


def _summary(node: ast.FunctionDef) -> str:
    docstring = " ".join((ast.get_docstring(node) or "").split())
    return re.split(r"(?<=\.)\s", docstring)[0][:200]


def _distribution(name: str) -> importlib.metadata.Distribution:
    try:
        return importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        raise Faulty(f"{name} is not installed; facts about code are made of it") from None
