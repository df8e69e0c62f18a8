"""ripgrep's file types: names, globs, and the effects of `-t`, `-T` and `--type-add`.

The types (`type_list.txt`, next to this file) are the output of `rg --no-config --type-list` in
version 15.1.0, byte for byte.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import InvalidQuery
from triseek.query.globs.gitignore import RuleSet, parse_name_glob

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triseek.model.search import ScopeSpec, TypeChange, TypeChoice


_TYPE_LIST = "type_list.txt"


class TypeGlobs(NamedTuple):
    """The globs of consecutive `-t`, or consecutive `-T`, options."""

    takes: bool
    """Whether the option is `-t`."""
    globs: tuple[str, ...]


class Types:
    """Selected and excluded file types; decides which file names they take or leave out."""

    def __init__(self, spec: ScopeSpec) -> None:
        """Combine the types of a scope, in order; the last glob that matches decides.

        Raises:
            InvalidQuery: A name or a definition is invalid, also for ripgrep.
        """
        choices = globs_of_types(spec)
        self.selects = any(choice.takes for choice in choices)
        """Whether a name that matches no glob is left out."""
        self.rules = [
            replace(parse_name_glob(glob), negated=not takes)
            for takes, globs in choices
            for glob in globs
        ]
        self._set = RuleSet(self.rules)
        self.active = self.selects or bool(self.rules)

    def decide(self, names: Sequence[bytes]) -> dict[bytes, bool]:
        """Return file name → whether the types take it, for the names that they decide."""
        # To ripgrep, a path that ends with a dot has no file name.
        matched = self._set.decide(b"", [name for name in names if name[-1:] != b"."], dirs=False)
        verdicts = {name: not negated for name, negated in matched.items()}
        if self.selects:
            verdicts.update({name: False for name in names if name not in matched})
        return verdicts


@lru_cache(maxsize=1)
def default_types() -> dict[str, tuple[str, ...]]:
    """Return ripgrep's types without any changes: name → globs, ordered by name."""
    lines = Path(__file__).with_name(_TYPE_LIST).read_text("ascii").splitlines()
    return {name: tuple(globs.split(", ")) for name, globs in (line.split(": ") for line in lines)}


def definitions(changes: Iterable[TypeChange] = ()) -> dict[str, tuple[str, ...]]:
    """Return ripgrep's type table after `--type-add` and `--type-clear`, applied in order.

    Raises:
        InvalidQuery: A definition is neither `name:glob` nor `name:include:other,…`.
    """
    table = dict(default_types())
    for action, text in changes:
        if action == "clear":
            table.pop(text, None)
        else:
            name, globs = _definition(text, table)
            table[name] = table.get(name, ()) + globs
    return table


def globs_of_types(spec: ScopeSpec) -> list[TypeGlobs]:
    """Return the globs of a scope's types, in their order, with neighbours joined.

    Without an order, negated types come after selected ones.

    Raises:
        InvalidQuery: A name or a definition is invalid, also for ripgrep.
    """
    order: list[TypeChoice] = list(spec.type_order)
    if not order:
        order += [("select", name) for name in spec.types]
        order += [("negate", name) for name in spec.types_not]
    if not (order or spec.type_changes):
        return []  # without reading the table
    table = definitions(spec.type_changes)
    return [
        TypeGlobs(action == "select", tuple(_globs(table, (name for _, name in names))))
        for action, names in groupby(order, key=itemgetter(0))
    ]


def _definition(text: str, table: dict[str, tuple[str, ...]]) -> tuple[str, tuple[str, ...]]:
    parts = text.split(":")
    name = parts[0]
    are_defined = all(other in table for other in parts[-1].split(","))
    if not name.isalnum() or name == "all" or not parts[-1]:
        parts = []
    if len(parts) == 2:
        return name, (parts[1],)
    if len(parts) == 3 and parts[1] == "include" and are_defined:
        return name, tuple(glob for other in parts[2].split(",") for glob in table[other])
    raise InvalidQuery(
        f"invalid type definition {text!r}",
        next_step="Write name:glob, as in web:*.html, or name:include:other,names.",
    )


def _globs(table: dict[str, tuple[str, ...]], names: Iterable[str]) -> list[str]:
    chosen: list[str] = []
    for name in names:
        if name == "all":
            chosen += chain.from_iterable(table.values())
        elif name in table:
            chosen += table[name]
        else:
            raise _unknown(name, table)
    return chosen


def _unknown(name: str, table: dict[str, tuple[str, ...]]) -> InvalidQuery:
    close = get_close_matches(name, table, n=3)
    hint = f"Did you mean {' or '.join(close)}? " if close else ""
    return InvalidQuery(
        f"unrecognized file type: {name}",
        next_step=f"{hint}`--type-list` names all types.",
        tool_step=f'{hint}Or pass a glob instead: glob: "*.ext".',
    )


@lru_cache(maxsize=65536)
def language_of(name: bytes) -> str:
    """Return the type under which a file name is counted, else its extension, else empty."""
    suffix = name.rpartition(b".")[2] if b"." in name[1:] else b""
    kind = _by_name().get(name) or _by_suffix().get(suffix)
    return kind or suffix.lower().decode("utf-8", "replace")


# Extensions that several types claim, if the type with the fewest globs is not the right one.
_PREFERRED = {
    "bat": "batch", "conf": "config", "cmd": "batch", "css": "css", "el": "elisp",
    "erb": "erb", "f": "fortran", "gradle": "gradle", "h": "c", "hh": "cpp", "hpp": "cpp",
    "html": "html", "i": "swig", "inc": "bitbake", "java": "java", "jl": "julia", "js": "js",
    "json": "json", "lhs": "haskell", "hs": "haskell", "lock": "lock", "m": "objc",
    "md": "markdown", "mk": "make", "ml": "ocaml", "php": "php", "pl": "perl", "pp": "puppet",
    "pro": "prolog", "properties": "java", "ps": "postscript", "py": "python", "r": "r",
    "rb": "ruby", "s": "asm", "S": "asm", "scss": "sass", "sh": "sh", "sv": "verilog",
    "svh": "verilog", "tf": "tf", "ts": "typescript", "tsx": "typescript", "v": "verilog",
    "vim": "vim", "vue": "vue", "zsh": "zsh", "C": "cpp", "H": "cpp", "c": "c",
}  # fmt: skip


def _by_number_of_globs() -> list[tuple[str, tuple[str, ...]]]:
    """Return the types with the most specific ones last: fewest globs, then the longest name."""
    return sorted(default_types().items(), key=lambda item: (-len(item[1]), len(item[0])))


@lru_cache(maxsize=1)
def _by_suffix() -> dict[bytes, str]:
    """Return extension → type, from the globs that are `*.` and a plain extension."""
    types: dict[bytes, str] = {}
    for name, globs in _by_number_of_globs():
        for glob in globs:
            if glob.startswith("*.") and glob[2:].isalnum():
                types[glob[2:].encode()] = name
    types.update({suffix.encode(): name for suffix, name in _PREFERRED.items()})
    return types


@lru_cache(maxsize=1)
def _by_name() -> dict[bytes, str]:
    """Return whole file name → type, from the globs without wildcards; more specific types win."""
    types = {b"Makefile": "make", b"makefile": "make", b"GNUmakefile": "make"}
    for name, globs in _by_number_of_globs():
        for glob in globs:
            if not set(glob) & set("*?[{"):
                types[glob.encode()] = name
    types[b"Dockerfile"] = "docker"
    return types
