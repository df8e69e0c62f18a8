"""Of a binary file ripgrep's lines are shown, and its warning, in folders and where it is named."""

from __future__ import annotations

import random
import re
import shlex
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


@pytest.mark.parametrize("words", ["^$", "-c '^$'", "-l '^$'", "-n '^$'", "--mmap needle"])
def test_more_named_files_than_are_mapped_are_read_in_buffers(words: str, tmp_path: Path) -> None:
    names = [f"f{number}" for number in range(12)]
    # In a mapped file ripgrep checks the first 64 KiB for a NUL: here it comes later.
    filler = b"7" * 70_000 + b"\n" if "--mmap" in words else b""
    for name in names:
        (tmp_path / name).write_bytes(b"needle a\n" + filler + b"\0\nx\0\0y\n\nneedle\n")
    given = [*shlex.split(words), *names]

    mine, its = triseek(given, tmp_path), rg(given, tmp_path)

    assert (mine.status, mine.out) == (its.status, its.out)


def test_a_nul_anywhere_is_noticed_where_ripgrep_notices_it(tmp_path: Path) -> None:
    generator = random.Random(14)
    for _ in range(12):
        at = generator.randrange(len(LINES))
        (tmp_path / "file").write_bytes(with_nul(at))
        for given in (["99 needle", "file"], ["-uuu", "99 needle"]):
            mine, its = triseek(given, tmp_path), rg(given, tmp_path)

            assert mine.out == its.out, at


FIRST_READ_ENDS_A_LINE = b"a\nneedle\n\0needle\n"
"""ripgrep reads three bytes first, and these are searched before the NUL is met."""


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory, state: Path) -> Path:
    root = tmp_path_factory.mktemp("searched")
    for at in (100, 65_536, 70_000, 200_000):
        (root / f"nul{at}").write_bytes(with_nul(at))
    (root / "first_read").write_bytes(FIRST_READ_ENDS_A_LINE)
    (root / "utf16").write_bytes(b"\xff\xfe" + "needle\nother\n".encode("utf-16-le"))
    (root / "text").write_bytes(b"needle\n")
    (root / "new\nline").write_bytes(with_nul(80_000))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRISEEK_HOME", str(state))
        assert triseek(["build", "."], root).status == 0
    return root


@pytest.mark.parametrize("backend", ["scan", "rg", "index", "auto"])
@pytest.mark.parametrize(
    "words",
    ["-n '99 needle'", "needle", "-l needle", "-c needle", "-m3 needle", "-C1 -n '99 needle'",
     "-n a", r"-U 'needle\n'", r"-U -l -e line -e '(?s:.)q'",
     "--stats -c needle", "-q needle", "-o -n '9 needle'", "zebra"],
)  # fmt: skip
def test_a_file_is_shown_up_to_its_first_nul_on_every_backend(
    words: str, backend: str, searched: Path
) -> None:
    given = shlex.split(words)

    mine, its = triseek([f"--engine={backend}", *given], searched), rg(given, searched)

    assert (mine.status, _timeless(mine.out)) == (its.status, _timeless(its.out))


@pytest.mark.parametrize("backend", ["scan", "rg", "auto"])
@pytest.mark.parametrize(
    "words",
    ["--mmap -n '99 needle'", "--binary -c a", "-uuu -n '9 needle'", "--binary '^$'",
     "-uuu -n needle", "--binary -n needle", "-uuu -v --json needle",
     "--binary --stats --passthru '99 needle'", "--binary --stats -C1 needle",
     "--binary --stats -v -C1 needle", "--binary --stats -o needle", "--binary --stats -q needle"],
)  # fmt: skip
def test_how_binary_files_are_read_can_be_chosen(words: str, backend: str, searched: Path) -> None:
    given = shlex.split(words)

    mine, its = triseek([f"--engine={backend}", *given], searched), rg(given, searched)

    assert (mine.status, _timeless(mine.out)) == (its.status, _timeless(its.out))


@pytest.mark.parametrize(
    "words", ["-m1 -C1", "-m2 -C1", "-m1 -A1 -c", "-m1 -A1 --count-matches", "-m2 -A1 -c"]
)
def test_a_search_that_has_enough_meets_no_further_nul(words: str, tmp_path: Path) -> None:
    (tmp_path / "late").write_bytes(b"a hit hit\n" + b"no\n" * 22_000 + b"\0x\n")
    (tmp_path / "long").write_bytes(b"\0\r\n\na hit hit\nhit" + b"y" * 70_000 + b"\nhit\n\r\n")
    for name in ("late", "long"):
        given = ["--binary", *words.split(), "hit", "-g", name]

        mine, its = triseek(["--engine=scan", *given], tmp_path), rg(given, tmp_path)

        assert (mine.status, mine.out) == (its.status, its.out), name


@pytest.mark.parametrize("words", ["-l -v", "-l -v -A1", "-q -v", "--files-without-match -v"])
@pytest.mark.parametrize("limit", range(1, 6))
def test_each_buffer_counts_as_one_line_where_v_lists_files(
    limit: int, words: str, tmp_path: Path
) -> None:
    (tmp_path / "in_the_fifth").write_bytes(b"q\n" * 140_000 + b"\0\n")
    (tmp_path / "in_the_third").write_bytes(b"q\n" * 40_000 + b"\0\n")
    (tmp_path / "matching").write_bytes(b"\n" * 20_000 + b"x\n" * 100_000 + b"\0\n")
    for name in ("in_the_fifth", "in_the_third", "matching"):
        given = [*words.split(), f"-m{limit}", "x", "-g", name]

        mine, its = triseek(["--engine=scan", *given], tmp_path), rg(given, tmp_path)

        assert (mine.status, mine.out) == (its.status, its.out), name


@pytest.mark.parametrize(
    "words", ["-n needle", "-o needle", "-v -n needle", "--json needle", "-c ."]
)
def test_a_named_file_in_utf_16_is_text(words: str, searched: Path) -> None:
    given = [*shlex.split(words), "utf16"]

    mine, its = triseek(given, searched), rg(given, searched)

    assert (mine.status, _timeless(mine.out)) == (its.status, _timeless(its.out))


@pytest.mark.parametrize("mapping", [[], ["--mmap"], ["--no-mmap"]])
@pytest.mark.parametrize("pattern", ["^$", "needle"])
def test_nuls_are_line_ends_where_ripgrep_reads_a_named_file(
    pattern: str, mapping: list[str], searched: Path
) -> None:
    for given in ([*mapping, "-c", pattern, "nul100"], [*mapping, "-n", pattern, *["nul100"] * 11]):
        mine, its = triseek(given, searched), rg(given, searched)

        assert (mine.status, mine.out) == (its.status, its.out)


def test_a_file_below_an_indexed_root_is_judged_by_itself(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "f").write_bytes(b"needle text\n")
    (tmp_path / "f").write_bytes(b"bin\0needle\n")
    (tmp_path / "sub" / "g").write_bytes(b"bin\0needle\n")
    (tmp_path / "g").write_bytes(b"needle text\n")
    assert triseek(["build", "."], tmp_path).status == 0
    below = tmp_path / "sub"

    mine, its = triseek(["-uuu", "-n", "needle"], below), rg(["-uuu", "-n", "needle"], below)

    assert mine.out == its.out


def _timeless(out: bytes) -> bytes:
    """Output without times, and without how much a backend had to read."""
    out = re.sub(rb'"(elapsed\w*)":\{[^}]*\}|"(searches|bytes_searched)":\d+', b"", out)
    return re.sub(rb"(?m)^\d+ (files searched|bytes searched)$|^[\d.]+ seconds.*$", b"", out)
