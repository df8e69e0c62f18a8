"""Which files of a tree the lines of a file import, as far as names and paths tell."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_PYTHON = re.compile(r"^\s*(?:from\s+(\.*[\w.]*)\s+import\s+(.+)|import\s+([\w.]+))")
_SCRIPT = re.compile(r"""(?:from|require\(|import\(?)\s*["'](\.{1,2}/[^"']+)["']""")
_RUST = re.compile(r"\b(?:crate|super|self)((?:::[a-z_][a-z0-9_]*)+)")
_ENDINGS = ("", ".js", ".ts", ".mjs", ".jsx", ".tsx", "/index.js", "/index.ts")


def used(path: str, lines: Sequence[str], files: Collection[str]) -> list[str]:
    """The files that these lines of a file import, in their order; itself is none.

    Args:
        path: of the file, below the root.
        lines: of it.
        files: all paths of the tree.
    """
    ending = posixpath.splitext(path)[1]
    find = {".py": _python, ".pyi": _python, ".rs": _rust}.get(ending)
    if find is None:
        find = _script if ending in (".js", ".ts", ".mjs", ".jsx", ".tsx") else None
    if find is None:
        return []
    found = dict.fromkeys(name for line in lines for name in find(path, line, files))
    return [name for name in found if name != path]


def _python(path: str, line: str, files: Collection[str]) -> Iterator[str]:
    told = _PYTHON.match(line)
    if told is None:
        return
    module = told[1] if told[1] is not None else told[3]
    dots = len(module) - len(module.lstrip("."))
    parts = [part for part in module.split(".") if part]
    names = re.findall(r"\w+", told[2] or "")[:6]
    if dots:
        folder = path.rsplit("/", dots)[0] if path.count("/") >= dots else ""
        folders = [folder]
    else:
        folders = ["", "src", "lib"]
    for folder in folders:
        base = posixpath.join(folder, *parts)
        yield from _existing([f"{base}.py", f"{base}/__init__.py"], files)
        yield from _existing([f"{base}/{name}.py" for name in names], files)


def _script(path: str, line: str, files: Collection[str]) -> Iterator[str]:
    for name in _SCRIPT.findall(line):
        base = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        yield from list(_existing([base + ending for ending in _ENDINGS], files))[:1]


def _rust(path: str, line: str, files: Collection[str]) -> Iterator[str]:
    for name in _RUST.findall(line):
        parts = name.strip(":").split("::")
        source = path.partition("/src/")[0] + "/src" if "/src/" in path else "src"
        for count in range(len(parts), 0, -1):
            base = posixpath.join(source, *parts[:count])
            there = list(_existing([f"{base}.rs", f"{base}/mod.rs"], files))
            yield from there
            if there:
                break


def _existing(names: Sequence[str], files: Collection[str]) -> Iterator[str]:
    return (name for name in names if name in files)
