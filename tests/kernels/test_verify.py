"""Matching lines by kernel and by `re`. Reading files is `verify_files`'s, hence needs the JIT."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import lines as oracle
from triseek.kernels import fetch, verify
from triseek.kernels.formats import ROW, Dfa, LineHits, Needles, read_only
from triseek.query.regex import automaton

NO_DFA = Dfa(
    read_only(np.zeros(256, np.uint32)),
    read_only(np.zeros(1, np.uint16)),
    0,
    read_only(np.zeros(1, np.uint8)),
)
TEXTS = st.lists(
    st.sampled_from([b"ab", b"abc", b"b", b" ", b"_", b"\n", b"\n", b"c", b"-", b"\xc3\xa9"]),
    max_size=40,
).map(b"".join)
NEEDLES = st.lists(
    st.sampled_from([b"ab", b"abc", b"a", b"b", b"bc", b"c"]), min_size=1, max_size=4, unique=True
)


def packed(needles):
    starts = np.concatenate(([0], np.cumsum([len(needle) for needle in needles])))
    rare = np.array([at for needle in needles for at in (0, len(needle) - 1)], np.int64)
    text = np.frombuffer(b"".join(needles), np.uint8)
    return Needles(text, read_only(starts.astype(np.int64)), read_only(rare))


def found_lines(text, needles, confirm, dfa=NO_DFA):
    """Every (begin, end, verdict) of `next_line`, line after line."""
    column, strings = np.frombuffer(text, np.uint8), packed(needles)
    found = np.full(2 + len(needles), -1, np.int64)
    at, rows = 0, []
    while True:
        verdict = verify.next_line(column, at, len(text), confirm, strings, dfa, found)
        if verdict == 0:
            return rows
        rows.append((int(found[0]), int(found[1]), int(verdict)))
        at = int(found[1])


@given(TEXTS, NEEDLES)
@settings(deadline=None, max_examples=200)
def test_lines_with_any_needle_are_found_once_each(text, needles):
    wanted = oracle.with_needles(text, needles)
    assert found_lines(text, needles, verify.CONFIRM_NONE) == [(a, b, 1) for a, b in wanted]
    assert found_lines(text, needles, verify.CONFIRM_LATER) == [(a, b, 2) for a, b in wanted]


@given(TEXTS, NEEDLES)
@settings(deadline=None, max_examples=300)
def test_words_are_found_as_re_finds_them_and_only_beyond_ascii_is_uncertain(text, needles):
    found = found_lines(text, needles, verify.CONFIRM_WORD)
    wanted = oracle.with_words(text, needles)
    assert [(a, b) for a, b, verdict in found if text[a:b].isascii()] == [
        (a, b) for a, b in wanted if text[a:b].isascii()
    ]
    assert {verdict for a, b, verdict in found if text[a:b].isascii()} <= {1}
    # Beside a byte beyond ASCII the pattern decides, so none that may match may be left out.
    assert set(wanted) <= {(a, b) for a, b, _ in found}


def test_a_word_is_found_where_a_shorter_needle_begins_at_the_same_place():
    """A bug: `-w -e ab -e abc` lost the lines where `abc` was the word."""
    assert found_lines(b"abc x\n", [b"ab", b"abc"], verify.CONFIRM_WORD) == [(0, 6, 1)]
    assert found_lines(b"xab ab\n", [b"ab"], verify.CONFIRM_WORD) == [(0, 7, 1)]
    assert found_lines(b"abab ab_\nab", [b"ab", b"b"], verify.CONFIRM_WORD) == [(9, 11, 1)]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (b"", []),
        (b"ab", [(0, 2, 1)]),
        (b"ab\n", [(0, 3, 1)]),
        (b"\nab", [(1, 3, 1)]),
        (b"ab\n\nab\n", [(0, 3, 1), (4, 7, 1)]),
        (b"a\nb\n", []),
    ],
    ids=repr,
)
def test_edges(text, rows):
    assert found_lines(text, [b"ab"], verify.CONFIRM_NONE) == rows


def test_the_automaton_confirms_a_needles_line():
    from triseek.model.search import PatternSpec
    from triseek.query.pattern import compile as compile_pattern

    dfa = automaton.build(compile_pattern(PatternSpec(patterns=("^ab.*c$",))).tree)
    text = b"ab c\nxab c\nab-c\nab\xc3\xa9c\nab"
    found = found_lines(text, [b"ab"], verify.CONFIRM_AUTOMATON, dfa)
    assert found == [(0, 5, 1), (11, 16, 1), (16, 22, 2)]


compiled = pytest.mark.skipif(not fetch.is_available(), reason="reading files takes the JIT")


class Call:
    """One call of `verify_files` over whole files of small blocks."""

    def __init__(self, folder, contents, needle, *, numbers=True, most=0, rows=100, text=5000):
        self.contents = contents
        self.directory = os.open(folder, os.O_RDONLY)
        names = [b"f%d" % k for k in range(len(contents))]
        for name, content in zip(names, contents, strict=True):
            (folder / os.fsdecode(name)).write_bytes(content)
        self.blob = np.frombuffer(b"".join(names), np.uint8)
        self.starts = np.concatenate(([0], np.cumsum([len(n) for n in names]))).astype(np.int64)
        cut = [oracle.each(content) for content in contents]
        self.edges = np.concatenate(([0], np.cumsum([len(c) for c in cut]))).astype(np.int64)
        flat = [span for spans in cut for span in spans]
        self.offsets = np.array([a for a, _ in flat], np.uint64)
        self.sizes = np.array([b - a for a, b in flat], np.uint64)
        self.lines = np.array([k + 1 for spans in cut for k in range(len(spans))], np.uint32)
        stats = [fetch.stat_slowly(self.directory, name) for name in names]
        self.expected = np.array(stats, np.int64).reshape(-1)
        self.options = np.array([verify.CONFIRM_NONE, 1, numbers, most], np.int64)
        self.needles = packed([needle])
        self.counts = np.zeros(len(contents), np.int64)
        self.outcome = np.full(len(contents), 9, np.uint8)
        self.room = np.zeros(verify.ROOM_SLOTS, np.int64)
        self.found = np.zeros(rows, ROW)
        self.flag, self.text = np.zeros(rows, np.uint8), np.zeros(text, np.uint8)

    def run(self, first=0, arena=64):
        n = len(self.contents)
        return verify.verify_files(
            self.directory, self.blob, self.starts, np.arange(n), self.edges, self.offsets,
            self.sizes, self.lines, self.expected, first, n, self.options, self.needles, NO_DFA,
            np.zeros(fetch.SCRATCH_BYTES, np.uint8), np.zeros(arena, np.uint8),
            np.zeros(fetch.STAT_SLOTS, np.int64), np.full(3, -1, np.int64),
            LineHits(np.empty(8, np.uint64), np.empty(8, np.uint64), np.empty(8, np.uint8)),
            np.zeros(1, np.uint64), self.found, self.flag, self.text,
            self.counts, self.outcome, self.room,
        )  # fmt: skip

    def rows(self):
        used = int(self.room[verify.ROWS_USED])
        return [
            (file, number, offset, self.text[begin:end].tobytes())
            for file, number, offset, begin, end, _ in self.found[:used].tolist()
        ]


def expected_rows(contents, needle):
    return [
        (file, number, begin, text[begin:end])
        for file, text in enumerate(contents)
        for number, (begin, end) in enumerate(oracle.each(text), 1)
        if needle in text[begin:end]
    ]


CONTENTS = [b"ab\nx\nab ab\n", b"", b"none\n", b"ab" * 20 + b"\nx\nab", b"\n\nab\n"]


@compiled
@pytest.mark.parametrize("arena", [41, 64, 4096])
def test_rows_counts_and_line_numbers_are_those_of_the_files(tmp_path, arena):
    call = Call(tmp_path, CONTENTS, b"ab")
    assert call.run(arena=arena) == 5
    assert call.rows() == expected_rows(CONTENTS, b"ab")
    assert call.counts.tolist() == [2, 0, 0, 2, 1]
    assert call.outcome.tolist() == [verify.SEARCHED] * 5
    assert call.room[verify.BYTES_READ] == sum(map(len, CONTENTS))


@compiled
def test_a_file_is_left_at_its_bound_and_numbers_are_zero_unless_wanted(tmp_path):
    call = Call(tmp_path, CONTENTS, b"ab", most=1, numbers=False)
    call.run()
    assert call.rows() == [(0, 0, 0, b"ab\n"), (3, 0, 0, b"ab" * 20 + b"\n"), (4, 0, 2, b"ab\n")]


@compiled
@pytest.mark.parametrize(("rows", "text"), [(3, 5000), (100, 50)])
def test_what_does_not_fit_is_taken_back_and_goes_on_in_the_next_call(tmp_path, rows, text):
    call = Call(tmp_path, CONTENTS, b"ab", rows=rows, text=text)
    first, said = 0, []
    while first < 5:
        call.room[:] = 0
        done = call.run(first)
        assert done > first
        assert done == 5 or call.outcome[done] == verify.UNDONE
        said += call.rows()
        first = done
    assert said == expected_rows(CONTENTS, b"ab")


@compiled
@pytest.mark.parametrize("change", ["grow", "touch", "replace", "remove", "fifo"])
def test_a_file_that_is_not_what_was_indexed_gives_nothing_and_says_so(tmp_path, change):
    call = Call(tmp_path, CONTENTS, b"ab")
    path = tmp_path / "f3"
    stat = path.stat()
    if change == "grow":
        path.write_bytes(CONTENTS[3] + b"\nab")
    elif change == "touch":
        os.utime(path, ns=(1, 1))
    elif change == "replace":
        (tmp_path / "new").write_bytes(CONTENTS[3])
        os.utime(tmp_path / "new", ns=(stat.st_atime_ns, stat.st_mtime_ns))
        os.replace(tmp_path / "new", path)
    else:
        path.unlink()
    if change == "fifo":
        os.mkfifo(path)
    assert call.run() == 5
    assert call.outcome.tolist() == [0, 0, 0, verify.CHANGED, 0]
    assert call.rows() == [row for row in expected_rows(CONTENTS, b"ab") if row[0] != 3]
