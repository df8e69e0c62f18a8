"""Searches that once differed from ripgrep's, each on a tree of its own, with every backend."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.cli.running import rg, triseek
from tests.cli.test_parity import without_times

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.rg, pytest.mark.usefixtures("needs_rg")]


class Case(NamedTuple):
    """What to search, and how."""

    content: bytes
    words: str


CUT_OFF = b"\xe2\x82needle aa\nn\xc3\xc3\xc3needle\nab\xff\xcc\x81needle\n\xf0\x9f\x8eneedle\n"
"""Text with invalid UTF-8 of several kinds."""

CASES = [
    # -U searches anew behind each match.
    Case(b"ab\ncd\nef\n", r"-U -v -n 'a|b\nc'"),
    Case(b"a;b\nc\n", r"-U 'a;|^b\nc'"),
    Case(b"a\nb\nab\n", r"-U -n '\Aa|b\n'"),
    Case(b"a\nb\nab\n", r"-U -n -x 'a|b\na'"),
    Case(b"a\nb\nab\n", r"-U -n -C1 '\n\z'"),
    # With -U the text is one, so \A and \z are its ends and not those of a line.
    *(
        Case(b"a\nbaz\nabc\n", f"-U -n '{pattern}'")
        for pattern in (r"\Abaz", r"(?-m)^baz", r"\Aa", r"a\z", r"abc\z", r"(?-m)abc$", r"\z")
    ),
    # Empty matches at the ends of lines are counted as they are shown.
    *(
        Case(b"a\n\nb c\nd", f"{flags} '{pattern}'")
        for flags in ("--count-matches", "-o -c")
        for pattern in ("$", r"\>", r"\z")
    ),
    *(
        Case(b"ab\nab\nxab\n", rf"{flags} '{pattern}'{operand}")
        for flags in ("--column", "-o", "--json")
        for pattern in (r"\Aa|b", r"\Aab")
        for operand in ("", " f")
    ),
    # Empty matches in lines that end with CR LF.
    *(
        Case(b"a\r\n\r\nb\r\n \nab cd\r\n", f"-n --crlf {words}")
        for words in ("-x ''", "-w ''", "-x 'a|'", "-w 'b*'", "-o -w ''", "-c -x ''")
    ),
    *(
        Case(content, r"-n --crlf -w '\z'")
        for content in ("é\r\n\r\nb é\r\n".encode(), b"\xff\r\n\r\n", b"\r\n\r\n")
    ),
    # A cut-off character is one column, and so is each other byte that is not UTF-8.
    *(
        Case(CUT_OFF, f"-M {size} --max-columns-preview {flags} needle")
        for size in (1, 2, 3, 4, 8)
        for flags in ("-n", "-r X")
    ),
    # No pattern at all matches no line.
    *(Case(b"one\ntwo\n", f"-f none {flags}") for flags in ("", "-v", "-v -c", "-v -U", "-v -l")),
    *(Case(b"a\nb\n", f"--json --passthru {pattern}") for pattern in ("a", "absent")),
    # With \A or \z ripgrep searches every line alone, and without CR LF where --crlf is given.
    *(
        Case(b"foo\r\nfoo\n\nx\n", f"-n {flags} '{pattern}'")
        for flags in ("--crlf", "--crlf --passthru", "--crlf -o", "-m1 -A2", "-m1 --passthru -v")
        for pattern in (r"\Afoo", r"foo\z", r"\A$", r"\A\z", "^$", r"\B")
    ),
    Case(b"a\n\r\n", "-n '(?s).|(?R:$)/'"),
    Case(b"a\nb\r\nc", "--crlf -U '(?s).'"),
    # What is printed is counted without its colours.
    *(
        Case(b"a b\naa\n", f"--stats --color=always {flags} a")
        for flags in ("", "-n", "--heading -H", "--column", "-C1 -c")
    ),
    # What ripgrep has read of a file when it meets a NUL.
    *(Case(b"a\n" + b"b\n" * size + b"a\0\n", "--json a .") for size in (1, 50_000)),
    # What stands before a line is in sight of \A unless ripgrep has read the line first.
    *(
        Case(content, f"{flags} '\\A|a'")
        for content in (b"\na\naa", b"\xef\xbb\xbf\na\nfoo", b"\xfe\xff\0\n\0a\0a\0\n")
        for flags in ("-rX", "--count-matches", "-rX --mmap", "--count-matches --mmap")
    ),
    *(Case(b"a\nb\na\0", rf"{flags} '\Aa|b'") for flags in ("-uuu -U", "-uuu -o", "--binary")),
    # Whether a NUL is met depends on how far a file is read.
    *(
        Case(content, words)
        for content in (b"aa\n\0", b"a\n\0", b"aa\nb\n\0")
        for words in ("-l -v x", "-l a", "-m1 -l -v x", "-q -v x", "--files-without-match a")
    ),
    *(Case(b"a\na a\nb\n", f"--files-without-match --stats {flags} a f") for flags in ("", "-v")),
    # An empty match that only a line without its LF has.
    *(
        Case(b"a\r\nab\nb\r\r\n", f"-v -w {flags} '{pattern}'")
        for flags in ("--vimgrep", "-o", "-rX", "--json", "--column -C1", "--stats")
        for pattern in ("(?R:$)", "(?R)a$", "(?R:$)|b")
    ),
    # Behind -m no line is asked about any more, but matches are still shown.
    *(
        Case(b"b\na\nab\na", f"--passthru -v -m1 {flags} a")
        for flags in ("-rX", "--column", "-o", "--json", "--color=always -n", "--stats", "-x -rX")
    ),
    *(Case(b"\na", f"-U -v {flags} '\\s$'") for flags in ("--json", "-o", "--column")),
    *(
        Case(content, f"-U -v {flags} {pattern}")
        for content in (
            b" \n ",
            b"b\na\nab\na",
            b"\xc3\xa9ab\nabba\xc3\xa9 b\n",
            b" \n\na\n\nab\r\n",
        )
        for pattern in (r"-e '^]' -e '\b{start-half} '", r"-e 'a\w' -e '\n'", "'$'", r"'a\nb|b'")
        for flags in (
            "-m1 --column",
            "-m1 -o",
            "-m2 --json",
            "-m1 -rX",
            "-m3 --vimgrep",
            "-m1 --stats",
        )
    ),
    # --passthru shows binary files up to their NUL, whether they match or not.
    *(
        Case(content, f"--passthru --binary {flags} a")
        for content in (b"\0", b"\na \0", b"b\n\0a\n", b"b\n\0b\n")
        for flags in ("", "-n", "--json", "-m1", "-v")
    ),
    # Of a row that holds a NUL behind 64 KiB, ripgrep without --binary shows the context only.
    *(
        Case(b"b\n" + b"....\n" * 15_000 + b"..\0.\n", f"--binary -U {flags} '\\.[\\x00-f]'")
        for flags in ("-C1", "-B2", "-A1 -n", "-C1 --json", "-B1 -m1")
    ),
    # An empty match behind the last line: ripgrep shows the context and finds nothing.
    *(
        Case(b"a\n", rf"{flags} '\z'")
        for flags in ("-uuu -U -B2", "--binary -U -C1", "-uuu -U -C1 --json", "-uuu -U -n -B1 -m1")
    ),
    # Matches of several lines in one row.
    *(
        Case(b"ab\n" * 30 + b"\n" + b"abcdefg\n" * 9, f"-U --vimgrep {flags} '{pattern}'")
        for flags in ("", "-M5", "-M5 --max-columns-preview", "--trim", "--color=always")
        for pattern in (r"$\<|a\nb?", r"\n", "[^x]", "(?s)b.a")
    ),
    # --vimgrep shows the first line of a match that is not too long, and those before it.
    *(
        Case(b"abcd\nabcdef\nab\n\n", f"-U --vimgrep {flags} -e '{pattern}'")
        for flags in ("-M2", "-M4", "-M1 -b", "-M2 --max-columns-preview", "-M2 -rXYZ")
        for pattern in (r"[a-z\n]+", r"f\n", r"d\nab")
    ),
    # The end of a line and its CR LF are two places.
    *(
        Case(b"a \r\nb\nc\r\r\n\r\nd", f"{flags} '{pattern}'")
        for flags in ("-n", "-c", "-v -n", "--passthru -n", "--crlf -n", "-U -o")
        for pattern in (r"\s??(?R:$)$", "x?$(?R:$)", "(?R:^)^", "(?R:$)|$")
    ),
    # What is wrong with the words is said before anything is searched, or nothing is.
    *(
        Case(b"needle\n", f"{words} f")
        for words in ("-Tnosuch -m0 x", "-g{a -m0 x", "-m0 -ra '('", "-a '(' ./no")
    ),
    # Of ripgrep's own tests: r2094 and r1095_crlf_empty_match.
    Case(b"a\nb\nc\na\nb\nc", "-U -m1 --passthru -r B b"),
    *(Case(b"test\r\n\n", rf"--json -U {flags} '\n'") for flags in ("", "--crlf")),
    # Behind the last of -m a line of context that matches is a row of its own.
    *(Case(b"\n ", rf"--json -U -m1 {flags} '\W'") for flags in ("-C1", "-A2", "-B1")),
    # Which files have a count of 0 depends on where ripgrep notices a NUL.
    *(
        Case(content, f"-c --include-zero {flags} '{pattern}'")
        for content in (
            b"abcd\n" * 15_000 + b"needle\0y\n" + b"ab\n",
            b"\xff\xfe" + ("abc\n" * 40_000 + "needle\0\n").encode("utf-16-le"),
            b"\xef\xbb\xbf" + b"abcd\n" * 15_000 + b"needle\0\n",
            b"ab\0\nneedle\n",
        )
        for flags in ("", "-U", "--mmap", "-U --mmap", "--count-matches")
        for pattern in ("needle", "absent", r"needle[^z]\w?", r"b\sq")
    ),
    # Nothing is searched, so there are no statistics.
    *(Case(b"needle\n", f"-m0 {flags} needle") for flags in ("--stats", "--json", "-l --stats")),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.content[:40]!r} {case.words}")
@pytest.mark.parametrize("backend", ["scan", "rg", "index"])
def test_the_answer_is_ripgreps(case: Case, backend: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(case.content)
    (tmp_path / "none").touch()
    if backend == "index":
        triseek(["build", "."], tmp_path)
    words = shlex.split(case.words)

    engine = "auto" if backend == "index" else backend
    mine, its = triseek([f"--engine={engine}", *words], tmp_path), rg(words, tmp_path)

    assert timeless(mine.out) == timeless(its.out)
    assert mine.status == its.status


@pytest.mark.parametrize(
    "words",
    ["-m2 foo", "-m2 'foo[2-4]'", "-m2 ''", "-m2 -A1 foo", "-m1 -A9 foo", "-m2 -A1 'foo[14]'",
     "-m2 -B1 foo[24]", "-c -m2 foo", "-m9 foo", "-m2 --passthru foo"],
)  # fmt: skip
def test_statistics_count_the_bytes_up_to_the_last_match(words: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"foo1\nfoo2\nfoo3\nfoo4\nfoo5\n")
    for shown in (["--stats"], ["--json"]):
        given = [*shown, *shlex.split(words)]

        mine, its = triseek(["--engine=scan", *given], tmp_path), rg(given, tmp_path)

        assert searched(mine.out) == searched(its.out)


def timeless(out: bytes) -> bytes:
    """Return output without what a run took."""
    if out.startswith(b"{"):
        return without_times(out)
    return re.sub(rb"(?m)^\d+\.\d+ seconds.*\n", b"", out)


def searched(out: bytes) -> list[bytes]:
    """Return every number of bytes searched that the output tells."""
    return re.findall(rb"(?:\d+ bytes searched|\"bytes_searched\":\d+)", out)
