"""Languages that are parsed with tree-sitter: their grammars, and the files that they are for.

The grammars are packages with compiled parsers. Those of the `symbols` extra may be missing; files
of their languages are then left to ctags. Nothing here imports a grammar: that is done by the
process that parses (`parse_process`).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import xxhash

HEAD_BYTES = 1 << 16
"""Bytes of a header that are looked at to tell C++ from C."""
_RULES = 1
"""Changes with each change of `parsing` that changes its results for some file."""


class Grammar(NamedTuple):
    """A grammar and our query for it."""

    name: str
    """The language, and the name of the query file."""
    module: str
    """Name of the package that has the compiled parser."""
    function: str = "language"
    """Name of the function of the module that returns the parser."""

    @property
    def is_installed(self) -> bool:
        """Whether the package is there."""
        return _is_installed(self.module)

    @property
    def query(self) -> str:
        """The text of the query that captures definitions."""
        return (Path(__file__).parent / "queries" / f"{self.name}.scm").read_text("utf-8")

    @property
    def edition(self) -> str:
        """A name of everything that decides the results for a text."""
        return _edition(self)


def _grammar(name: str, function: str = "language", module: str = "") -> Grammar:
    return Grammar(name, f"tree_sitter_{module or name}", function)


_TYPESCRIPT = _grammar("typescript", "language_typescript")
_C = _grammar("c")
_CPP = _grammar("cpp")
_SUFFIXES = {
    _grammar("python"): b"py pyi pyw",
    _grammar("javascript"): b"js mjs cjs jsx",
    _TYPESCRIPT: b"ts mts cts",
    _grammar("typescript", "language_tsx"): b"tsx",
    _grammar("go"): b"go",
    _grammar("rust"): b"rs",
    _grammar("java"): b"java",
    _C: b"c",
    _CPP: b"cc cpp cxx c++ hh hpp hxx h++ ipp tpp inl cu cuh",
    _grammar("c_sharp"): b"cs csx",
    _grammar("ruby"): b"rb rake gemspec ru",
    _grammar("php", "language_php"): b"php phtml",
    _grammar("bash"): b"sh bash ksh",
    _grammar("lua"): b"lua",
    _grammar("kotlin"): b"kt kts",
    _grammar("scala"): b"scala sc",
    _grammar("swift"): b"swift",
}
_BY_SUFFIX = {
    suffix: grammar for grammar, suffixes in _SUFFIXES.items() for suffix in suffixes.split()
}
_BY_NAME = {b"Rakefile": _BY_SUFFIX[b"rb"], b"Gemfile": _BY_SUFFIX[b"rb"]}
_BY_INTERPRETER = {
    b"python": _BY_SUFFIX[b"py"], b"node": _BY_SUFFIX[b"js"], b"ruby": _BY_SUFFIX[b"rb"],
    b"php": _BY_SUFFIX[b"php"], b"sh": _BY_SUFFIX[b"sh"], b"bash": _BY_SUFFIX[b"sh"],
    b"lua": _BY_SUFFIX[b"lua"],
}  # fmt: skip
_INTERPRETER = re.compile(rb"#![^\n]*?\b(python|node|ruby|php|bash|sh|lua)[\d.]*[ \t\r]*(?:\s|$)")
_CPP_HEADER = re.compile(
    rb"(?m)^[ \t]*(?:class|namespace|template|using|public|private|protected|constexpr)\b"
    rb"|\w::\w"
)
GRAMMARS = tuple(_SUFFIXES)
"""All of them, installed or not; a language with several dialects has several grammars."""


def grammar_of(path: bytes, text: bytes) -> Grammar | None:
    """Return the grammar for a file, by its name or its `#!` line; None if there is none."""
    name = path[path.rfind(b"/") + 1 :]
    suffix = name[name.rfind(b".") + 1 :] if b"." in name else b""
    if suffix == b"h":
        return _CPP if _CPP_HEADER.search(text, 0, HEAD_BYTES) else _C
    grammar = _BY_SUFFIX.get(suffix) or _BY_SUFFIX.get(suffix.lower()) or _BY_NAME.get(name)
    if grammar is None and not suffix and (match := _INTERPRETER.match(text, 0, 256)):
        return _BY_INTERPRETER[match[1]]
    return grammar


@lru_cache(maxsize=64)
def _is_installed(module: str) -> bool:
    return find_spec("tree_sitter") is not None and find_spec(module) is not None


@cache
def _edition(grammar: Grammar) -> str:
    from importlib.metadata import version

    package = grammar.module.replace("_", "-")
    digest = xxhash.xxh3_64_hexdigest(grammar.query.encode())
    versions = f"{version('tree-sitter')} {version(package)}"
    return f"{grammar.name} {grammar.function} {versions} {_RULES} {digest}"
