"""What `--engine index` refuses by name, as docs/reference/differences.md lists it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.running import triseek
from tests.conftest import plant

if TYPE_CHECKING:
    from pathlib import Path

OTHER_FILES = "triseek: the index does not hold the files this search asks for\n"
NO_INDEX = "no index"
NO_MATCH = "triseek: the index cannot tell what does not match\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, state: Path) -> Path:
    """An indexed folder, with folders in it of which no file is indexed."""
    root = tmp_path_factory.mktemp("engine-index") / "tree"
    plant(root, {".git/HEAD": "", ".gitignore": "ignored/\n", "a.txt": "needle\nother\n"})
    names = ["sub/b.txt", "ignored/c.txt", ".hidden/d.txt", "../beside/e.txt"]
    plant(root, dict.fromkeys(names, "needle\n"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRISEEK_HOME", str(state))
        assert triseek(["build"], root).status == 0
    plant(root, {"new/f.txt": "needle\n"})
    return root


@pytest.mark.parametrize("words", [["needle"], ["needle", "sub"], ["-l", "needle", "."]])
def test_what_an_index_can_say_is_answered(words: list[str], root: Path) -> None:
    said = triseek(["--engine=index", *words], root)

    assert (said.status, said.err) == (0, "")
    assert b"b.txt" in said.out


@pytest.mark.parametrize("flag", ["-v", "--passthru", "--files-without-match"])
def test_what_does_not_match_is_refused(flag: str, root: Path) -> None:
    said = triseek(["--engine=index", flag, "needle"], root)

    assert (said.status, said.out, said.err) == (2, b"", NO_MATCH)
    assert triseek([flag, "needle"], root).status in (0, 1)


@pytest.mark.parametrize(
    "flag",
    ["-a", "--binary", "-u", "-uu", "-uuu", "--mmap", "--hidden", "--no-ignore", "--no-ignore-vcs",
     "--no-ignore-dot", "--no-ignore-exclude", "--no-ignore-global", "--no-ignore-parent",
     "--no-ignore-files", "--follow", "--one-file-system"],
)  # fmt: skip
def test_what_asks_for_other_files_is_refused(flag: str, root: Path) -> None:
    said = triseek(["--engine=index", flag, "needle"], root)

    assert (said.status, said.out, said.err) == (2, b"", OTHER_FILES)
    assert triseek([flag, "needle"], root).status == 0


@pytest.mark.parametrize(
    ("place", "why"),
    [("../beside", NO_INDEX), ("..", NO_INDEX), ("ignored", OTHER_FILES), (".hidden", OTHER_FILES),
     ("new", OTHER_FILES)],
)  # fmt: skip
def test_a_folder_that_the_index_does_not_cover_is_refused(
    place: str, why: str, root: Path
) -> None:
    said = triseek(["--engine=index", "needle", place], root)

    assert (said.status, said.out) == (2, b"")
    assert why in said.err
    assert len(said.err.splitlines()) <= 2
    assert b"needle" in triseek(["needle", place], root).out
