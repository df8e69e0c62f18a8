"""The search verb does what its arguments ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from triseek import __version__
from triseek.cli.quick import search
from triseek.terminal import status
from triseek.terminal.command_context import CommandContext, NeedsClient

if TYPE_CHECKING:
    from pathlib import Path


def run(*words: str, **context: object) -> tuple[int, str]:
    out: list[bytes] = []
    here = CommandContext(
        terminal=False, width=80, plain=False, stdin_readable=False, out=out.append
    )._replace(**context)  # type: ignore[arg-type]
    return search(words, here), b"".join(out).decode()


def test_help_and_version_need_no_pattern() -> None:
    code, text = run("--help")

    assert (code, text.startswith("Search file contents.")) == (status.FOUND, True)
    assert run("--version") == (status.FOUND, f"triseek {__version__}\n")


def test_types_are_listed_as_the_flags_left_them() -> None:
    _, all_types = run("--type-list")
    code, text = run("--type-list", "--type-add=mine:*.mine", "--type-clear=py")

    assert code == status.FOUND
    assert "\npy: " in all_types
    assert "\npy: " not in text
    assert "\nmine: *.mine\n" in text
    assert text.splitlines() == sorted(text.splitlines(), key=lambda line: line.split(":")[0])


def test_a_search_and_a_path_are_two_kinds(tmp_path: Path) -> None:
    (tmp_path / "needle.txt").write_text("needle\nhay\n")

    assert run("hay", cwd=str(tmp_path)) == (status.FOUND, "needle.txt:hay\n")
    assert run("--kind=path", "needle", cwd=str(tmp_path)) == (status.FOUND, "needle.txt\n")
    assert run("straw", cwd=str(tmp_path)) == (status.NOTHING, "")


def test_standard_input_of_another_process_is_not_searched(tmp_path: Path) -> None:
    with pytest.raises(NeedsClient, match="stdin"):
        run("x", "-", cwd=str(tmp_path), has_stdin=False)
