import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import blocks as oracle
from tests.oracle import trigrams
from triseek.files.tree import text as decoding
from triseek.kernels import blocks
from triseek.kernels.formats import BlockBuffers
from triseek.kernels.jit import is_compiled

LINES = st.lists(
    st.one_of(
        st.binary(max_size=12).map(lambda line: line.replace(b"\0", b"a")),
        st.sampled_from([b"", b"a", b"ab", b"abc", b"abab", b"\xff\xfe\xfd", b"x" * 900]),
    ),
    max_size=60,
)
TEXTS = st.tuples(LINES, st.sampled_from([b"\n", b""])).map(
    lambda drawn: b"\n".join(drawn[0]) + drawn[1]
)


class Extraction:
    """The kernels' buffers, and what they hold at the end."""

    def __init__(self, room=1 << 17):
        self.state = np.zeros(blocks.STATE_SLOTS, np.int64)
        self.state[blocks.FIRST_LINE] = 1
        self.seen = np.zeros(blocks.SEEN_WORDS, np.uint64)
        self.pairs = np.empty(room, np.uint32)
        kinds = (np.uint32, np.uint64, np.uint64, np.uint32, np.uint8, np.uint64)
        self.columns = tuple(np.empty(1000, kind) for kind in kinds)
        self.buffers = BlockBuffers(self.state, self.seen, self.pairs, *self.columns)

    def add(self, text, begin, end, offset, file=0):
        return blocks.extract(text, begin, end, offset, file, self.buffers)

    def finish(self, size, file=0):
        return blocks.finish(size, file, self.buffers)

    def take(self, text: bytes, cuts=(), file=0):
        """A whole file in chunks that end at `cuts`; its line count."""
        column, at = np.frombuffer(text, np.uint8), 0
        for cut in [*sorted(cuts), len(text)]:
            assert self.add(column[at:cut].copy(), 0, cut - at, at, file) == 0
            at = cut
        return self.finish(len(text), file)

    @property
    def rows(self):
        count = int(self.state[blocks.BLOCKS])
        return list(zip(*(column[:count].tolist() for column in self.columns[:5]), strict=True))

    @property
    def grams(self):
        count = int(self.state[blocks.BLOCKS])
        ends = self.columns[5][:count].tolist()
        return [self.pairs[a:b].tolist() for a, b in zip([0, *ends], ends, strict=False)]


def expected(text: bytes, file=0):
    """What the oracle says of a file: its rows and the trigrams of each."""
    cut = oracle.cut(text, blocks.BLOCK_BYTES)
    rows = [(file, b.offset, len(b.text), b.first_line, b.flags) for b in cut]
    return rows, [trigrams.distinct(b.text) for b in cut]


def assert_is(found, text):
    rows, grams = expected(text)
    assert found.rows == rows
    assert [set(block) for block in found.grams] == grams
    assert all(len(block) == len(set(block)) for block in found.grams)
    assert not found.seen.any()


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """As plain Python the kernels read the bound when they run; compiled it is in them."""
    if not is_compiled():
        monkeypatch.setattr(blocks, "BLOCK_BYTES", 512)


@given(TEXTS, st.data())
@settings(deadline=None, max_examples=60 if is_compiled() else 15)
def test_any_chunks_of_a_file_give_the_blocks_of_the_whole(text, data):
    size = st.integers(0, len(text))
    found = Extraction()

    lines = found.take(text, data.draw(st.lists(size, max_size=8)))

    assert_is(found, text)
    assert lines == text.count(b"\n") + (text[-1:] not in (b"\n", b""))


@pytest.mark.parametrize(
    "text",
    [
        b"", b"a", b"\n", b"ab", b"abc", b"ab\n", b"a\nb\nc", b"\n\n\n", b"\xff", b"abc\n\xe9\n",
        b"x" * 16_383 + b"\n" + b"tail", b"x" * 16_384 + b"\n", b"x" * 16_385,
        b"abc" * 20_000 + b"\nend", b"y\n" * 9_000 + b"\xc3\xa9",
    ],
    ids=lambda text: f"{len(text)} bytes {text[:2]!r} to {text[-2:]!r}",
)  # fmt: skip
def test_edges(text):
    found = Extraction()
    found.take(text)
    assert_is(found, text)


def test_a_block_ends_with_the_line_that_passes_its_size():
    size = blocks.BLOCK_BYTES
    for length in (size - 2, size - 1, size, size + 1):
        text = b"a" * length + b"\nbcd\n"
        found = Extraction()
        found.take(text)
        assert [row[2] for row in found.rows] == (
            [length + 5] if length + 1 < size else [length + 1, 4]
        )


def test_every_cut_of_a_text_gives_the_same():
    text = b"ab\n\ncd\xe9fgh\nij" + b"k" * blocks.BLOCK_BYTES + b"\nlmn\no"
    cuts = [*range(12), *range(len(text) - 8, len(text) + 1)]
    for first in cuts:
        for second in (first, min(first + 1, len(text)), len(text) - 3):
            found = Extraction()
            found.take(text, [first, second])
            assert_is(found, text)


@pytest.mark.parametrize("at", [0, 1, 5, -1])
@pytest.mark.parametrize("before", [b"", b"first\n" * 5_000])
def test_a_nul_anywhere_in_a_chunk_makes_a_file_binary_and_abandon_leaves_no_trace(at, before):
    found = Extraction()
    found.take(b"kept text\n")
    rows, pairs = found.rows, found.grams
    text = bytearray(b"some more\ntext")
    text[at] = 0
    if before:
        assert found.add(np.frombuffer(before, np.uint8), 0, len(before), 0, 1) == 0
    binary = np.frombuffer(bytes(text), np.uint8)
    assert found.add(binary, 0, len(binary), len(before), 1) == 1

    blocks.abandon(1, len(pairs[0]), found.buffers)

    assert not found.seen.any()
    assert (found.rows, found.grams) == (rows, pairs)
    found.take(b"next\nfile", file=2)
    assert found.rows[1:] == [(2, 0, 9, 1, 0)]
    assert set(found.grams[1]) == trigrams.distinct(b"next\nfile")


def test_files_share_buffers_without_sharing_trigrams():
    texts = [b"abc\n", b"", b"abc", b"\xffabc\n" * 4_000, b"z"]
    found = Extraction()
    for number, text in enumerate(texts):
        found.take(text, file=number)
    said = [expected(text, number) for number, text in enumerate(texts)]
    assert found.rows == [row for rows, _ in said for row in rows]
    assert [set(block) for block in found.grams] == [grams for _, all_ in said for grams in all_]
    assert not found.seen.any()


MARKED = [
    b"\xef\xbb\xbfabc",
    b"\xff\xfea\0",
    b"\xfe\xff\0a",
    b"a\nb\0",
    b"x" * decoding.BUFFER_BYTES + b"\0",
]
EARLY_NUL = [b"bin\0ary\n", b"a\n\0", b"x" * (decoding.BUFFER_BYTES - 1) + b"\0"]


@given(st.lists(TEXTS, max_size=6), st.sampled_from([*MARKED, *EARLY_NUL]))
@settings(deadline=None, max_examples=25 if is_compiled() else 5)
def test_whole_files_in_an_arena_are_taken_until_one_is_left_to_the_caller(texts, marked):
    texts = [text for text in texts if not text.startswith((b"\xef\xbb", b"\xfe\xff", b"\xff\xfe"))]
    everything = [*texts, marked, *texts]
    arena = np.frombuffer(b"".join(everything), np.uint8)
    lengths = np.array([len(text) for text in everything], np.int64)
    begins = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64)
    lines, outcome = np.zeros(len(lengths), np.int64), np.zeros(len(lengths), np.uint8)
    found, at = Extraction(), 0
    while at < len(lengths):
        at = blocks.extract_files(arena, begins, lengths, at, 10, found.buffers, lines, outcome)
        if at < len(lengths):
            assert outcome[at] == blocks.LEFT
            at += 1
    middle = blocks.BINARY if marked in EARLY_NUL else blocks.LEFT
    assert outcome.tolist() == [*[blocks.TAKEN] * len(texts), middle, *[blocks.TAKEN] * len(texts)]
    numbers = [10 + k for k in range(len(everything)) if k != len(texts)]
    taken = [text for k, text in enumerate(everything) if k != len(texts)]
    wanted = [row for k, text in zip(numbers, taken, strict=True) for row in expected(text, k)[0]]
    assert found.rows == wanted
    assert not found.seen.any()


def test_a_file_that_could_not_be_read_is_left_to_the_caller():
    arena = np.frombuffer(b"abc", np.uint8)
    lengths, begins = np.array([-1], np.int64), np.zeros(1, np.int64)
    lines, outcome = np.zeros(1, np.int64), np.zeros(1, np.uint8)
    found = Extraction()
    at = blocks.extract_files(arena, begins, lengths, 0, 0, found.buffers, lines, outcome)
    assert (at, outcome[0]) == (0, blocks.LEFT)


def test_a_nul_is_early_here_where_it_is_to_whoever_reads_a_text():
    assert (blocks.BUFFER_BYTES, blocks.FIRST_READ) == (decoding.BUFFER_BYTES, decoding.FIRST_READ)
