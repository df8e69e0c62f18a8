"""A corpus of texts that others wrote: changelogs and docstrings of installed packages.

The questions are the project's own. Each was written from its drawer's text alone, before any
ranking was seen: a paraphrase avoids the drawer's words where it can, an exact one repeats some.
"""

from __future__ import annotations

import ast
import gzip
import hashlib
import importlib.metadata
import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from bench.memory.corpora import Corpus, Question, Text
from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

QUESTIONS = Path(__file__).with_name("questions.jsonl")
SOURCES = Path(__file__).with_name("sources.toml")
LENGTHS = range(80, 701)
"""Characters of a text that is taken."""


class Source(TypedDict):
    """Where texts are read."""

    kind: str
    package: str
    version: str
    path: str
    count: int


def read() -> Corpus:
    """Return the drawers of all sources with the questions about them.

    Raises:
        Faulty: A source is not installed in its version, or a text is not what its questions are
            about.
    """
    drawers = tuple(drawer for source in _sources() for drawer in _chosen(source))
    digests = {drawer.id: digest(drawer.text) for drawer in drawers}
    questions = []
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if digests.get(row["drawer"]) != row["digest"]:
            raise Faulty(f"the text {row['drawer']} is not the one that its question is about")
        questions.append(Question(query=row["query"], evidence=(row["drawer"],), kind=row["kind"]))
    return Corpus(name="foreign-texts", drawers=drawers, questions=tuple(questions))


def digest(text: str) -> str:
    """Return the start of a text's SHA-256, by which it is recognised."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _sources() -> list[Source]:
    sources: list[Source] = tomllib.loads(SOURCES.read_text(encoding="utf-8"))["source"]
    return sources


def _chosen(source: Source) -> list[Text]:
    """Return the texts of a source, each once, those with the least hashes."""
    reader = _news if source["kind"] == "news" else _docstrings
    texts = {text: name for name, text in reader(source) if len(text) in LENGTHS}
    drawers = [
        Text(id=f"{source['package']}:{name}", text=text, room=source["package"])
        for text, name in texts.items()
    ]
    return sorted(drawers, key=lambda drawer: digest(drawer.text))[: source["count"]]


def _news(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the indented paragraphs of a GNU NEWS file, named by release and hash."""
    try:
        text = gzip.decompress(Path(source["path"]).read_bytes()).decode("utf-8", "replace")
    except OSError as error:
        raise Faulty(f"{source['path']} of {source['package']} cannot be read: {error}") from error
    release = ""
    for block in re.split(r"\n\s*\n", text):
        heading = re.match(r"\* Noteworthy changes in release (\S+)", block.strip())
        release = heading[1] if heading else release
        if block.startswith("  ") and release:
            paragraph = " ".join(re.sub(r"\[.*?\]\s*$", "", block, flags=re.DOTALL).split())
            yield f"{release}#{digest(paragraph)[:8]}", paragraph


def _docstrings(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the docstrings of a package's public objects, named by file and object."""
    try:
        distribution = importlib.metadata.distribution(source["package"])
    except importlib.metadata.PackageNotFoundError:
        raise Faulty(f"{source['package']} is not installed") from None
    if distribution.version != source["version"]:
        raise Faulty(
            f"{source['package']} {source['version']} is needed; this is {distribution.version}"
        )
    folder = Path(str(distribution.locate_file(source["path"])))
    for path in sorted(folder.rglob("*.py")):
        names = path.relative_to(folder).parts
        if not {"tests", "testing"} & set(names):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for name, docstring in _documented(tree.body, ""):
                yield f"{'/'.join(names)}#{name}", docstring


def _documented(body: Iterable[ast.stmt], prefix: str) -> Iterator[tuple[str, str]]:
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if node.name.startswith("_"):
            continue
        docstring = ast.get_docstring(node)
        if docstring:
            yield f"{prefix}{node.name}", " ".join(docstring.split())
        if isinstance(node, ast.ClassDef):
            yield from _documented(node.body, f"{prefix}{node.name}.")
