"""Lines of a file: of those below the root, and of no other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.ui.opened import Opened
from triseek.ui.searches import AROUND, LINE_MAX

SECRET = "the secret outside\n"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text(SECRET)
    return folder


def test_lines_around_one_are_shown_with_their_numbers(repo) -> None:
    text = "".join(f"line {number}\n" for number in range(1, 1001))
    opened = Opened(repo({"a.txt": text}))

    middle = opened.told("lines", path="a.txt", line=500)
    end = opened.told("lines", path="a.txt", line=1000)

    assert middle["first"] == 500 - AROUND
    assert middle["lines"][AROUND] == "line 500"
    assert middle["more"] is True
    assert end["lines"][-1] == "line 1000"
    assert end["more"] is False


def test_a_long_line_is_cut_and_bytes_that_are_no_text_are_replaced(repo) -> None:
    opened = Opened(repo({"a.txt": b"x" * 10_000 + b"\r\n\xff\xfe\n"}))

    assert opened.told("lines", path="a.txt")["lines"] == ["x" * LINE_MAX, "��"]


@pytest.mark.parametrize(
    "path",
    ["../outside/secret.txt", "/etc/passwd", "src/../../outside/secret.txt", "", ".", "..", "src",
     "src/", "nothing", "a\0b", "x" * 5000, "/dev/zero", "/proc/self/environ"],
)  # fmt: skip
def test_what_is_no_file_below_the_root_is_not_shown(
    opened: Opened, outside: Path, path: str
) -> None:
    answer = opened.ask("lines", path=path)

    assert answer.status_code == 400
    assert SECRET.strip() not in answer.text


def test_a_link_out_of_the_root_is_not_followed(opened: Opened, outside: Path) -> None:
    root = Path(opened.root)
    (root / "leak.txt").symlink_to(outside / "secret.txt")
    (root / "leak").symlink_to(outside)
    (root / "inner.txt").symlink_to(root / "other.txt")

    assert opened.ask("lines", path="leak.txt").status_code == 400
    assert opened.ask("lines", path="leak/secret.txt").status_code == 400
    assert opened.told("lines", path="inner.txt")["lines"] == ["nothing here"]


def test_a_folder_beside_the_root_with_a_longer_name_is_outside(opened: Opened) -> None:
    beside = Path(f"{opened.root}-beside")
    beside.mkdir()
    (beside / "secret.txt").write_text(SECRET)
    (Path(opened.root) / "leak.txt").symlink_to(beside / "secret.txt")

    assert opened.ask("lines", path="leak.txt").status_code == 400


def test_a_pipe_is_not_waited_for(opened: Opened) -> None:
    os.mkfifo(Path(opened.root) / "pipe")

    assert opened.ask("lines", path="pipe").status_code == 400


def test_a_file_that_is_no_text_is_not_shown(repo) -> None:
    opened = Opened(repo({"a.bin": b"a\0b\n"}))

    assert "not text" in opened.refused("lines", path="a.bin")["message"]
