"""Binary files that were named, or asked for with --binary, are noted as ripgrep notes them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import rg, triseek

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.rg, pytest.mark.usefixtures("needs_rg")]

LINES = b"".join(b"line %d needle\n" % number for number in range(12_000))
"""About 220 KiB: several of ripgrep's buffers."""


def with_nul(at: int) -> bytes:
    return LINES[:at] + b"\0" + LINES[at:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("binary")
    for at in (0, 100, 65_535, 65_536, 70_000, 131_072, 200_000):
        (root / f"nul{at}").write_bytes(with_nul(at))
    (root / "nul_in_a_line_without").write_bytes(
        LINES[:70_000].rpartition(b"\n")[0] + b"\n\0\n" + LINES
    )
    (root / "text").write_bytes(b"needle\n")
    return root


NAMES = [f"nul{at}" for at in (0, 100, 65_535, 65_536, 70_000, 131_072, 200_000)]


@pytest.mark.parametrize("name", [*NAMES, "nul_in_a_line_without"])
@pytest.mark.parametrize("words", [["needle"], ["-n", "-C1", "9 needle"], ["-l", "needle"]])
def test_a_named_binary_file_is_noted(words: list[str], name: str, folder: Path) -> None:
    given = [*words, name]

    mine, its = triseek(given, folder), rg(given, folder)

    assert (mine.status, mine.out) == (its.status, its.out)


@pytest.mark.parametrize(
    "words", [["--binary", "9 needle"], ["-uuu", "-n", "needle"], ["-a", "-c", "needle"]]
)
def test_binary_files_found_on_the_way_are_noted_when_asked_for(
    words: list[str], folder: Path
) -> None:
    mine, its = triseek(words, folder), rg(words, folder)

    assert (mine.status, mine.out) == (its.status, its.out)


def test_many_named_files_are_read_in_buffers_as_ripgrep_does(folder: Path) -> None:
    given = ["needle", "-n", *NAMES, *["text"] * 11]

    mine, its = triseek(given, folder), rg(given, folder)

    assert mine.out == its.out


def test_a_nul_anywhere_is_noticed_where_ripgrep_notices_it(tmp_path: Path) -> None:
    generator = random.Random(14)
    for _ in range(12):
        at = generator.randrange(len(LINES))
        (tmp_path / "file").write_bytes(with_nul(at))
        for given in (["99 needle", "file"], ["-uuu", "99 needle"]):
            mine, its = triseek(given, tmp_path), rg(given, tmp_path)

            assert mine.out == its.out, at
