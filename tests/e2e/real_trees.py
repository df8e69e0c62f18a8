"""Real trees that every machine has after `make`, each with an index of its own."""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import sysconfig
from pathlib import Path
from typing import NamedTuple

from tests.cli.running import triseek

EXTRA = "TRISEEK_PARITY_TREES"
"""Environment variable: more folders, separated as in PATH, for the full run."""
NAMES = ("site-packages", "stdlib", "system")


class Tree(NamedTuple):
    name: str
    root: Path
    words: tuple[str, ...]
    """Distinct words and lines of some of its files, in a fixed order, to sample from."""


def prepare(name: str, beside: Path) -> Tree:
    """Index a tree, in the state folder of the environment. `beside` takes copies."""
    root = _root(name, beside)
    built = triseek(["build"], root)
    assert built.status == 0, built.err
    return Tree(name, root, _words(root))


def names() -> list[str]:
    return [*NAMES, *filter(None, os.environ.get(EXTRA, "").split(os.pathsep))]


def _root(name: str, beside: Path) -> Path:
    if name == "site-packages":
        # One large package stands for the folder: all of it would be 700 MB in some environments.
        return _package("numpy")
    if name == "stdlib":
        return _standard_library(beside / "stdlib")
    if name == "system":
        headers = Path("/usr/include/linux")
        return headers if headers.is_dir() else _package("mypy")
    return Path(name)


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _standard_library(target: Path) -> Path:
    """A copy without site-packages, which may hold anything, and without most of its tests.

    Added are a few files of the kinds it lacks: UTF-16, CRLF, hidden, ignored.
    """
    source = Path(sysconfig.get_path("stdlib"))
    left = ("site-packages", "dist-packages", "__pycache__", "test", "*.so", "*.a")
    copy = functools.partial(shutil.copytree, symlinks=True, dirs_exist_ok=True)
    copy(source, target, ignore=shutil.ignore_patterns(*left))
    for encodings in ("test/encoded_modules", "test/cjkencodings"):
        if (source / encodings).is_dir():
            copy(source / encodings, target / encodings)
    (target / "utf16.txt").write_text("import os\nnaïve straße ΣΊΣΥΦΟΣ\nlast line", "utf-16")
    (target / "crlf.txt").write_bytes(b"import os\r\n\r\nimport sys # TODO\r\nclass End:\r\n")
    (target / "kelvin.txt").write_text("300 \u212a\nſtraße import\nσίσυφος\nΣΊΣΥΦΟΣ\n", "utf-8")
    (target / ".hidden").mkdir(exist_ok=True)
    (target / ".hidden" / "secret.py").write_text("import os\nclass Hidden:\n    pass\n")
    (target / "idlelib").mkdir(exist_ok=True)  # Debian's interpreter comes without it
    (target / "idlelib" / ".ignore").write_text("*.def\n/Icons/\n")
    return target


def _words(root: Path) -> tuple[str, ...]:
    """Lines' worth of text from every n-th file: whatever a person might paste."""
    found: dict[str, None] = {}
    files = sorted(
        path for path in root.rglob("*") if path.suffix in (".py", ".h", ".pyi", ".c", ".txt")
    )
    for path in files[:: max(1, len(files) // 300)]:
        try:
            lines = path.read_bytes().decode("utf-8", "ignore").splitlines()
        except OSError:
            continue
        for line in lines[3:200:17]:
            text = line.strip()
            if 3 <= len(text) <= 60 and "\0" not in text:
                found.setdefault(text)
            found.update(dict.fromkeys(word for word in text.split() if 2 <= len(word) <= 30))
    return tuple(found)
