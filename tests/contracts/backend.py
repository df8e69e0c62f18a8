"""Every backend gives the same rows for the same request: ripgrep's, and the oracle's."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import tempfile
import threading
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import rg
from tests.conftest import plant
from tests.oracle import search as oracle
from triseek.engine.search.backends import ripgrep, scan
from triseek.engine.search.query import Query
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest, Totals

if TYPE_CHECKING:
    from triseek.engine.search.backends.base import Backend, FileRows

TREE: dict[str | bytes, bytes | str] = {
    "src/main.c": "#include <stdio.h>\nint main(void)\n{\n\treturn 0;\n}\n",
    "src/util.c": "int util(int a)\n{\n\tif (a)\n\t\treturn 0;\n\treturn 1;\n}\n\nint other;\n",
    "src/util.h": "int util(int a);\nint other;\n",
    "src/deep/er/x.py": "def main():\n    return 0\n\n\nmain()\n",
    "src.txt": "return 0 return 0 returned\nRETURN\n\nreturn\n",
    "src-b/c.rs": "fn main() {\n    return;\n}\n",
    "README.md": "# Main\n\nint and return, main and return 0;\nfoo\nfoo bar\nbar foo",
    "empty.c": "",
    "newlines": "\n\n\n",
    "crlf.txt": "return 0;\r\nmain\r\nint foo\r\nlast return",
    "latin1.txt": b"caf\xe9 return\nna\xefve main\n\xff\xfe\n",
    "utf8.txt": "Straße return\nΣΊΣΥΦΟΣ σίσυφος\nK Kelvin K\nſhort\n",
    "bom.txt": b"\xef\xbb\xbfreturn 0;\nmain\n",
    "utf16le.txt": b"\xff\xfe" + "return 0;\nmaine\n\nint".encode("utf-16-le"),
    "utf16be.txt": b"\xfe\xff" + "int main\nreturn 0;\n".encode("utf-16-be"),
    "binary.bin": b"return 0;\n\0main\nint\n",
    "long.txt": "x" * 5000 + " return " + "y" * 5000 + "\nmain\n",
    b"name\xff.txt": "return of the name\n",
    "new\nline": "return on a strange path\n",
    "1:2:3": "return 0;\n4:5:main\n",
    "-dash": "return from dash\n",
    "dense.txt": "".join(f"int line {n} return {n % 7};\n" for n in range(300)),
    ".hidden/h.c": "return hidden;\n",
    ".gitignore": "ignored/\n*.o\n",
    ".ignore": "skipped.txt\n",
    "ignored/i.c": "return ignored;\n",
    "skipped.txt": "return skipped;\n",
    ".git/HEAD": "return ref\n",
    "x.o": "return object\n",
    "none.txt": "nothing to see\n",
}

PATTERNS: list[tuple[list[str], dict[str, Any]]] = [
    (["-e", "return 0;"], {"patterns": ("return 0;",)}),
    (["-F", "-e", "return", "-e", "main"], {"patterns": ("return", "main"), "fixed": True}),
    (["-e", "r"], {"patterns": ("r",)}),
    (["-e", ""], {"patterns": ("",)}),
    (["-e", "zebra"], {"patterns": ("zebra",)}),
    (["-e", "^int|;$"], {"patterns": ("^int|;$",)}),
    (["-e", "$"], {"patterns": ("$",)}),
    (["-e", r"\breturn\b"], {"patterns": (r"\breturn\b",)}),
    (["-e", r"\Aint"], {"patterns": (r"\Aint",)}),
    (["-e", r"\w+\(.*\)"], {"patterns": (r"\w+\(.*\)",)}),
    (["-e", "[^a-z]+"], {"patterns": ("[^a-z]+",)}),
    (["-i", "-e", "RETURN"], {"patterns": ("RETURN",), "case": "insensitive"}),
    (["-i", "-e", "k|s|σ"], {"patterns": ("k|s|σ",), "case": "insensitive"}),
    (["-S", "-e", "Main"], {"patterns": ("Main",), "case": "smart"}),
    (["-w", "-e", "main"], {"patterns": ("main",), "word": True}),
    (["-w", "-e", "return|int"], {"patterns": ("return|int",), "word": True}),
    (["-x", "-e", "return|foo"], {"patterns": ("return|foo",), "line": True}),
    (["-F", "-e", "--pre=x"], {"patterns": ("--pre=x",), "fixed": True}),
    (["--crlf", "-e", "0;$|main$"], {"patterns": ("0;$|main$",), "crlf": True}),
    (["--no-unicode", "-e", r"\w+\W"], {"patterns": (r"\w+\W",), "unicode": False}),
    (["-U", "-e", "return"], {"patterns": ("return",), "multiline": True}),
    (["-U", "-e", r"\)\n\{"], {"patterns": (r"\)\n\{",), "multiline": True}),
    (["-U", "-e", r"0;\n"], {"patterns": (r"0;\n",), "multiline": True}),
    (["-U", "-e", "^int"], {"patterns": ("^int",), "multiline": True}),
    (["-U", "-e", r"foo\s+|\n\n"], {"patterns": (r"foo\s+|\n\n",), "multiline": True}),
    (
        ["-U", "--multiline-dotall", "-e", "int.*?return"],
        {"patterns": ("int.*?return",), "multiline": True, "dotall": True},
    ),
]
SHOWN: list[tuple[list[str], dict[str, Any]]] = [
    ([], {}),
    (["-v"], {"invert": True}),
    (["-m", "1"], {"max_count": 1}),
    (["-m", "2", "-v"], {"max_count": 2, "invert": True}),
    (["-A", "1"], {"after": 1}),
    (["-B", "2"], {"before": 2}),
    (["-C", "1"], {"before": 1, "after": 1}),
    (["-C", "1", "-v"], {"before": 1, "after": 1, "invert": True}),
    (["-m", "1", "-A", "2", "-B", "1"], {"max_count": 1, "after": 2, "before": 1}),
    (["--passthru"], {"passthru": True}),
    (["--passthru", "-m", "2"], {"passthru": True, "max_count": 2}),
]
LISTED: list[tuple[list[str], dict[str, Any]]] = [
    (["-c"], {"mode": "count"}),
    (["-c", "-v"], {"mode": "count", "invert": True}),
    (["-c", "-m", "2"], {"mode": "count", "max_count": 2}),
    (["--count-matches"], {"mode": "count_matches"}),
    (["-l"], {"mode": "files"}),
    (["-l", "-v"], {"mode": "files", "invert": True}),
    (["--files-without-match"], {"mode": "files_without_match"}),
]
SCOPES: list[tuple[list[str], dict[str, Any]]] = [
    (["-g", "*.c"], {"globs": ("*.c",)}),
    (["-g", "!src/**"], {"globs": ("!src/**",)}),
    (["-g", "-dash"], {"globs": ("-dash",)}),
    (["--iglob", "*.TXT"], {"iglobs": ("*.TXT",)}),
    (["-t", "c"], {"types": ("c",)}),
    (["-T", "c", "-T", "md"], {"types_not": ("c", "md")}),
    (["-T", "all", "-t", "c"], {"type_order": (("negate", "all"), ("select", "c"))}),
    (["-t", "all", "-T", "c"], {"type_order": (("select", "all"), ("negate", "c"))}),
    (
        ["-t", "c", "-T", "all", "-t", "md"],
        {"type_order": (("select", "c"), ("negate", "all"), ("select", "md"))},
    ),
    (
        ["--type-add", "foo:*.txt", "-t", "foo"],
        {"types": ("foo",), "type_changes": (("add", "foo:*.txt"),)},
    ),
    (["--hidden"], {"hidden": True}),
    (["--no-ignore"], {"no_ignore": True}),
    (["--no-ignore-vcs"], {"no_ignore_vcs": True}),
    (["--hidden", "--no-ignore", "-a"], {"hidden": True, "no_ignore": True, "text": True}),
    (["--max-depth", "2"], {"max_depth": 2}),
    (["--max-filesize", "100"], {"max_filesize": 100}),
]
PATHS: list[tuple[str, ...]] = [
    ("src",),
    ("src", "src-b"),
    ("src/deep", "src/deep/er"),
    ("ignored",),
]


def _named(cases: list[tuple[list[str], dict[str, Any]]]) -> list[Any]:
    """Cases named by ripgrep's flags."""
    return [pytest.param(tuple(flags), fields, id=" ".join(flags)) for flags, fields in cases]


class Rooted(NamedTuple):
    """A backend, and the root that it is to search."""

    root: str
    search: Backend


def scanning(root: str, **options: Any) -> Rooted:
    """The scan backend."""
    return Rooted(root, functools.partial(scan.search, **options))


def by_ripgrep(root: str, **options: Any) -> Rooted:
    """The ripgrep backend."""
    return Rooted(root, functools.partial(ripgrep.search, **options))


def _threads() -> set[threading.Thread]:
    """All threads but those of the pool that searches of an index share and keep."""
    return {each for each in threading.enumerate() if not each.name.startswith("triseek-verify")}


class BackendContract(ABC):
    """Subclass, and say how to make the backend."""

    @classmethod
    @abstractmethod
    def make(cls, root: str) -> Rooted:
        """The backend for a root; an index, if it takes one, is built here."""

    @pytest.fixture(scope="class")
    @classmethod
    def root(cls, tmp_path_factory: pytest.TempPathFactory) -> str:
        """One tree for all backends, so that ripgrep is asked once."""
        folder = tmp_path_factory.getbasetemp() / "contract"
        if not folder.exists():
            folder.mkdir()
            plant(folder, TREE)
        return str(folder)

    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls, root: str) -> Rooted:
        return cls.make(root)

    @pytest.mark.rg
    @pytest.mark.parametrize(("flags", "spec"), _named(PATTERNS))
    def test_rows_are_those_ripgrep_prints(self, backend, root, flags, spec):
        for more, fields in SHOWN:
            request = SearchRequest(pattern=PatternSpec(**spec), **fields)
            expected = _once(rg_rows(root, (*flags, *more)))
            assert printed(run(backend, request), crlf="--crlf" in flags) == expected, more

    @pytest.mark.rg
    @pytest.mark.parametrize(("flags", "spec"), _named(PATTERNS))
    def test_counts_and_lists_are_those_ripgrep_prints(self, backend, root, flags, spec):
        for more, fields in LISTED:
            if r"\Aint" in flags and "--count-matches" in more:
                continue  # rg finds every line's start to be a text's, and then counts only one
            request = SearchRequest(pattern=PatternSpec(**spec), **fields)
            found = [(file.path, file.count) for file in run(backend, request)]
            assert found == rg_list(root, (*flags, *more)), more

    @pytest.mark.rg
    @pytest.mark.parametrize(("flags", "scope"), _named(SCOPES))
    def test_only_files_in_scope_answer(self, backend, root, flags, scope):
        spec = PatternSpec(patterns=("return",))
        request = SearchRequest(pattern=spec, scope=ScopeSpec(**scope))
        assert printed(run(backend, request)) == rg_rows(root, (*flags, "-e", "return"))

    @pytest.mark.rg
    @pytest.mark.parametrize("paths", PATHS, ids=" ".join)
    def test_only_named_folders_answer_each_file_once(self, backend, root, paths):
        request = SearchRequest(pattern=PatternSpec(patterns=("return",)), paths=paths)
        expected = dict.fromkeys(rg_rows(root, ("-e", "return"), paths))
        assert printed(run(backend, request)) == list(expected)

    @pytest.mark.parametrize("regex", ["return 0;", "^int|o$", "[0-9;#]{2,}", "", "(a|b)+;?$"])
    @pytest.mark.parametrize("invert", [False, True])
    def test_lines_are_those_of_re_over_lines(self, repo, regex, invert):
        files = {
            os.fsencode(name): text.encode() if isinstance(text, str) else text
            for name, text in TREE.items()
            if not os.fsencode(name).startswith((b".", b"utf16", b"bom", b"ignored", b"skipped"))
            and os.fsencode(name) != b"x.o"
        }
        request = SearchRequest(pattern=PatternSpec(patterns=(regex,)), invert=invert)
        found = run(self.make(repo(files)), request)
        assert as_lines(found) == oracle.search(files, regex.encode(), invert=invert)

    def test_a_file_with_a_late_nul_is_found_up_to_it_but_not_counted(self, repo):
        late = b"needle\n" + b"x" * 70_000 + b"\n" + b"y" * 200_000 + b"\nnul \0 needle\n"
        early = b"needle\n\0"
        backend = self.make(repo({"late": late, "early": early, "text": "needle\n"}))
        spec = PatternSpec(patterns=("needle",))
        for fields in (
            {}, {"max_count": 1}, {"mode": "files"}, {"mode": "count"}, {"after": 1},
            {"mode": "count", "max_count": 1},
            {"pattern": PatternSpec(patterns=("needle\\n",), multiline=True)},
        ):  # fmt: skip
            request = SearchRequest(**{"pattern": spec, **fields})
            found = run(backend, request)
            counted = fields == {"mode": "count"}
            assert [file.path for file in found] == ([] if counted else [b"late"]) + [b"text"]
            bounded = "max_count" in fields or fields.get("mode") == "files"
            said = [file.nul is not None for file in found]
            assert said == ([False] if counted else [not bounded, False]), fields

    def test_a_limit_of_zero_lines_per_file_finds_nothing(self, backend):
        spec = PatternSpec(patterns=("return",))
        assert run(backend, SearchRequest(pattern=spec, max_count=0)) == []

    def test_totals_say_what_was_found(self, backend):
        totals = Totals()
        request = SearchRequest(pattern=PatternSpec(patterns=("return",)))
        found = run(backend, request, totals)
        assert totals.files_matched == len(found)
        assert totals.lines == sum(file.count for file in found)
        assert totals.files_searched >= len(found)
        assert totals.bytes_searched > 0

    def test_rows_without_numbers_are_the_same_rows(self, backend):
        spec = PatternSpec(patterns=("return",))
        with_, without = (
            run(backend, SearchRequest(pattern=spec, after=1, line_numbers=wanted))
            for wanted in (True, False)
        )
        assert [row[2:] for row in texts(with_)] == [row[2:] for row in texts(without)]

    def test_closing_early_leaves_nothing_running(self, repo):
        files = {f"d{n % 50}/f{n}": "needle\n" * 50 for n in range(3000)}
        request = SearchRequest(pattern=PatternSpec(patterns=("needle",)))
        threads, children = _threads(), _children()  # earlier tests may have left parsers
        root = repo(files)
        batches = self.make(root).search(Query.of(root, request), Totals())
        next(iter(batches))
        batches.close()
        assert _threads() <= threads
        assert set(_children()) <= set(children)

    @settings(
        max_examples=40, deadline=None, suppress_health_check=[HealthCheck.differing_executors]
    )
    @given(data=st.data())
    def test_any_pattern_finds_in_any_tree_what_re_finds(self, data):
        files = data.draw(st.dictionaries(_NAMES, _TEXTS, min_size=1, max_size=4))
        regex = data.draw(_REGEXES)
        flags = {flag: data.draw(st.booleans()) for flag in ("word", "line")}
        insensitive = data.draw(st.booleans())
        invert = data.draw(st.booleans())
        spec = PatternSpec(
            patterns=(regex,), case="insensitive" if insensitive else "sensitive", **flags
        )
        with tempfile.TemporaryDirectory() as folder:
            plant(Path(folder), files)
            found = run(self.make(folder), SearchRequest(pattern=spec, invert=invert))
        twin = ("(?i)" if insensitive else "") + _wrapped(regex, **flags)
        assert as_lines(found) == oracle.search(files, twin.encode(), invert=invert)


_NAMES = st.sampled_from([b"a", b"b/c", b"b.x", b"b/d/e", b"z.py", b"A"])
_TEXTS = st.lists(
    st.sampled_from(
        [b"a", b"b", b"ab", b" ", b"\n", b"\n", b"B", b"_", b"1", b"\r\n", b"ba.", b"\0"]
    ).map(lambda piece: piece if piece != b"\0" else b"-"),
    max_size=25,
).map(b"".join)
_REGEXES = st.recursive(
    st.sampled_from(["a", "b", "ab", "B", ".", "[ab]", "[^a]", r"\w", r"\s", "1", "_", "^", "$"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("(?:{0[0]}|{0[1]})".format),
        inner.map("(?:{})?".format),
        inner.map("(?:{})*".format),
        inner.map("(?:{}){{2}}".format),
    ),
    max_leaves=6,
)


def _wrapped(regex: str, *, word: bool, line: bool) -> str:
    """What `-w` and `-x` mean, in Python's words."""
    if line:
        return f"^(?:{regex})$"
    return rf"(?<!\w)(?:{regex})(?!\w)" if word else regex


def run(backend: Rooted, request: SearchRequest, totals: Totals | None = None) -> list[FileRows]:
    """All files a request finds, in the order they come."""
    query = Query.of(backend.root, request)
    batches = backend.search(query, Totals() if totals is None else totals)
    return [file for batch in batches for file in batch.files()]


def texts(found: list[FileRows]) -> list[tuple[bytes, int, int, bool, bytes]]:
    """Every row as path, number, offset, context, text."""
    return [
        (file.path, number, offset, context, file.text[begin:end])
        for file in found
        for _, number, offset, begin, end, context in file.rows.tolist()
    ]


def as_lines(found: list[FileRows]) -> list[oracle.Line]:
    """Rows as the oracle has them."""
    return [
        oracle.Line(path, number, offset, text) for path, number, offset, _, text in texts(found)
    ]


def printed(found: list[FileRows], *, crlf: bool = False) -> list[bytes]:
    """Rows as `rg -nb` prints them, line by line; under `--crlf` it ends the last line so, too."""
    lines = []
    for path, number, offset, context, text in texts(found):
        mark = b"-" if context else b":"
        for line in re.findall(rb"[^\n]*\n|[^\n]+", text):
            head = path + b"\0%d%b%d%b" % (number, mark, offset, mark)
            unended = crlf and not line.endswith(b"\n")
            lines.append(head + line.removesuffix(b"\n") + b"\r" * unended)
            number += 1
            offset += len(line)
    return lines


@functools.cache
def rg_rows(root: str, flags: tuple[str, ...], paths: tuple[str, ...] = ()) -> list[bytes]:
    """The rows ripgrep prints, one line each."""
    output = _rg(root, ("-nbH", "--null", "--no-context-separator", "--no-heading", *flags), paths)
    # A path may hold a newline, so rows are told apart by the path before their NUL.
    return re.findall(rb"(?s)(?:^|(?<=\n))([^\0]+\0[^\n]*)\n", output) if output else []


def _once(rows: list[bytes]) -> list[bytes]:
    """Rows without those rg 14.1.0 prints a second time: with `-U` and `-m`, some context lines."""
    first: dict[bytes, bytes] = {}
    for row in rows:
        place = re.match(rb"[^\0]+\0\d+", row)
        assert place is not None, row
        first.setdefault(place[0], row)
    return list(first.values())


@functools.cache
def rg_list(root: str, flags: tuple[str, ...]) -> list[tuple[bytes, int]]:
    """The paths ripgrep prints, and their counts as a backend counts them."""
    output = _rg(root, ("-H", "--null", *flags), ())
    if "-l" in flags or "--files-without-match" in flags:
        count = int("-l" in flags)
        return [(path, count) for path in output.split(b"\0")[:-1]]
    return [(path, int(count)) for path, count in re.findall(rb"([^\0]+)\0(\d+)\r?\n", output)]


def _rg(root: str, flags: tuple[str, ...], paths: tuple[str, ...]) -> bytes:
    done = subprocess.run(
        [rg.program(), "--no-config", "--color=never", "--sort=path", *flags, "--", *paths],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def _children() -> list[int]:
    """Processes this one has started and that still run, the guard of `ipc.children` left out."""
    listed = Path(f"/proc/self/task/{threading.get_native_id()}/children")
    pids = [int(pid) for pid in listed.read_text().split()] if listed.exists() else []
    return [pid for pid in pids if os.getpgid(pid) != pid]
