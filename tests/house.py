"""Figures of the source code that the shape of the project is judged by.

`python -m tests.house` prints them for this checkout, `python -m tests.house REVISION` for another
revision: run both to see what a change did.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tarfile
import tempfile
import tokenize
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = "triseek"
SHORT_LINES = 60
"""A file with fewer lines is short."""
_NO_CODE = frozenset(
    (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
     tokenize.ENCODING, tokenize.ENDMARKER)
)  # fmt: skip


def figures(root: Path) -> dict[str, int]:
    """The figures of the package below a folder."""
    files = sorted((root / PACKAGE).rglob("*.py"))
    modules = [file for file in files if file.name != "__init__.py"]
    tests = {file.stem for file in (root / "tests").rglob("test_*.py")}
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    classes = Counter(name for tree in trees for name in _public_classes(tree))
    sources = [file.read_text(encoding="utf-8") for file in files]
    return {
        "files": len(files),
        "lines": sum(source.count("\n") for source in sources),
        "code lines": sum(map(code_lines, sources)),
        "bare dict[str, Any]": sum(source.count("dict[str, Any]") for source in sources),
        "names of several public classes": sum(count > 1 for count in classes.values()),
        f"files under {SHORT_LINES} lines": sum(
            file.read_text(encoding="utf-8").count("\n") < SHORT_LINES for file in modules
        ),
        "modules without a test of their name": sum(
            f"test_{file.stem}" not in tests for file in modules
        ),
    }


def code_lines(source: str) -> int:
    """Lines with code: blank lines, comments and docstrings do not count."""
    documented = {
        line
        for node in _docstrings(ast.parse(source))
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - documented)


def _docstrings(tree: ast.AST) -> Iterator[ast.Expr]:
    """Strings that stand by themselves: docstrings, also those under a field or a constant."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                yield node


def _public_classes(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(__file__).parents[1]
        if len(sys.argv) > 1:
            archive = subprocess.run(
                ["git", "archive", sys.argv[1], PACKAGE, "tests"],
                cwd=root, capture_output=True, check=True,
            ).stdout  # fmt: skip
            with tarfile.open(fileobj=io.BytesIO(archive)) as files:
                files.extractall(folder, filter="data")
            root = Path(folder)
        for name, count in figures(root).items():
            print(f"{count:>7,}  {name}")


if __name__ == "__main__":
    main()
