"""A repository, and the ways in which a working tree differs from what was indexed of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.zoekt.git_repository import commit_all, git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES: dict[str | bytes, str | bytes] = {
    "src/one.py": "def one():\n    return needle\n",
    "src/two.py": "def two():\n    return 2\n",
    "src/deep/three.go": "package deep\n\nfunc Needle() {}\n",
    "lines.txt": "needle\nplain\n",
    "docs/a.md": "# Needle\n\nneedle and needle\n",
    "big.txt": "plain line\n" * 300 + "needle at the end\n",
    ".hidden": "needle\n",
    ".gitignore": "*.log\nbuild/\n",
    "unended": "a needle",
}
QUERIES = (
    "needle", "case:yes needle", "needle f:py", "-needle", "needle or plain", "new_word",
    "type:filename needle", "f:one", "needle -f:src", r"^\s+return", "lang:python",
)  # fmt: skip


def _edit(tree: Path) -> None:
    (tree / "src/two.py").write_text("def two():\n    return new_word or needle\n")
    (tree / "src/one.py").write_text("nothing\n")


def _edit_in_place(tree: Path) -> None:
    """Of the same size and time."""
    path = tree / "lines.txt"
    before = path.stat()
    path.write_text("plains\nneedle\n"[: before.st_size])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _delete(tree: Path) -> None:
    (tree / "src/one.py").unlink()


def _delete_staged(tree: Path) -> None:
    git(tree, "rm", "-q", "src/one.py", "docs/a.md")


def _untrack(tree: Path) -> None:
    git(tree, "rm", "-q", "--cached", "src/one.py")
    (tree / "src/one.py").write_text("new_word\n")


def _rename(tree: Path) -> None:
    (tree / "src/one.py").rename(tree / "src/other.py")
    git(tree, "mv", "docs/a.md", "docs/b.md")


def _rename_folder(tree: Path) -> None:
    (tree / "src").rename(tree / "source")


def _new_files(tree: Path) -> None:
    (tree / "new.txt").write_text("needle new_word\n")
    (tree / "out.log").write_text("needle ignored\n")
    (tree / "fresh").mkdir()
    (tree / "fresh/x.py").write_text("return needle\n")


def _stage(tree: Path) -> None:
    _edit(tree)
    (tree / "new.txt").write_text("needle new_word\n")
    git(tree, "add", "-A")
    (tree / "src/two.py").write_text("def two():\n    return 'needle twice'\n")


def _commit(tree: Path) -> None:
    _edit(tree)
    commit_all(tree)
    (tree / "lines.txt").write_text("new_word\n")


def _switch(tree: Path) -> None:
    git(tree, "checkout", "-q", "-b", "other")
    (tree / "docs/a.md").write_text("new_word\n")
    (tree / "src/two.py").unlink()
    commit_all(tree)


def _swap_kinds(tree: Path) -> None:
    (tree / "src/one.py").unlink()
    (tree / "src/one.py").mkdir()
    (tree / "src/one.py/inner").write_text("needle new_word\n")
    (tree / "lines.txt").unlink()
    (tree / "lines.txt").symlink_to("docs/a.md")


def _assume_unchanged(tree: Path) -> None:
    git(tree, "update-index", "--assume-unchanged", "src/two.py")
    git(tree, "update-index", "--skip-worktree", "lines.txt")
    _edit(tree)
    (tree / "lines.txt").write_text("new_word\n")


def _convert(tree: Path) -> None:
    """The same to git, and other bytes here."""
    git(tree, "config", "filter.words.clean", "sed s/new_word/plain/")
    git(tree, "config", "filter.words.smudge", "sed s/plain/new_word/")
    (tree / ".git/info/attributes").write_text("lines.txt filter=words\n")
    (tree / "lines.txt").unlink()
    git(tree, "checkout", "-q", "lines.txt")


def _convert_in_size(tree: Path) -> None:
    """The same to git, and as many bytes here."""
    git(tree, "config", "filter.words.clean", "sed s/NEEDLE/plains/")
    git(tree, "config", "filter.words.smudge", "sed s/plains/NEEDLE/")
    (tree / "lines.txt").write_text("needle\nplains\n")
    commit_all(tree)
    (tree / ".git/info/attributes").write_text("*.txt filter=words\n")
    (tree / "lines.txt").unlink()
    git(tree, "checkout", "-q", "lines.txt")


def _convert_line_ends(tree: Path) -> None:
    (tree / ".git/info/attributes").write_text("*.txt text eol=crlf\n")
    (tree / "lines.txt").unlink()
    git(tree, "checkout", "-q", "lines.txt")


CHANGES: dict[str, Callable[[Path], None]] = {
    "nothing": lambda _tree: None,
    "edit": _edit,
    "edit in place": _edit_in_place,
    "delete": _delete,
    "delete staged": _delete_staged,
    "untrack": _untrack,
    "rename": _rename,
    "rename folder": _rename_folder,
    "new files": _new_files,
    "stage": _stage,
    "commit": _commit,
    "switch": _switch,
    "swap kinds": _swap_kinds,
    "assume unchanged": _assume_unchanged,
    "convert": _convert,
    "convert in size": _convert_in_size,
    "convert line ends": _convert_line_ends,
}
