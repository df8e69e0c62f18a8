from hypothesis import given
from hypothesis import strategies as st

from triseek.query.regex.assertions import holds, satisfied
from triseek.query.regex.syntax import Assertion

KINDS = [
    "line_start",
    "line_end",
    "line_start_crlf",
    "line_end_crlf",
    "text_start",
    "text_end",
    "word",
    "not_word",
    "word_start",
    "word_end",
    "word_start_half",
    "word_end_half",
]
LOOKS = tuple(Assertion(kind, unicode) for kind in KINDS for unicode in (True, False))

texts = st.lists(
    st.one_of(
        st.sampled_from(
            [b"a", b"_", b" ", b"\n", b"\r", "é".encode(), "日".encode(), "—".encode()]
        ),
        st.binary(min_size=1, max_size=2),
    ),
    max_size=8,
).map(b"".join)


@given(texts)
def test_all_positions_at_once_agree_with_one_at_a_time(text):
    masks = satisfied(LOOKS, text)

    assert len(masks) == len(text) + 1
    for at, mask in enumerate(masks):
        assert [bool(mask >> bit & 1) for bit in range(len(LOOKS))] == [
            holds(look, text, at) for look in LOOKS
        ]


def places(kind, text, *, unicode=True):
    return [at for at in range(len(text) + 1) if holds(Assertion(kind, unicode), text, at)]


def test_word_boundaries_stand_around_words_of_any_script():
    text = "é日 x".encode()

    assert places("word", text) == [0, 5, 6, 7]
    assert places("word", text, unicode=False) == [6, 7]


def test_beside_invalid_bytes_a_boundary_needs_a_word_on_its_other_side():
    assert places("word", b"\xffa\xff") == [1, 2]
    assert places("not_word", b"\xff\xff") == []
    assert places("word_start_half", b"\xffa") == [0]
    assert places("word_end_half", b"a\xff") == [2]


def test_no_boundary_splits_the_spelling_of_a_character():
    spelled = "\U0001f600".encode()

    for kind in ("word", "not_word", "word_start_half", "word_end_half"):
        assert not set(places(kind, spelled)) & {1, 2, 3}


def test_crlf_is_one_line_end():
    assert places("line_end_crlf", b"a\r\nb\rc\nd") == [1, 4, 6, 8]
    assert places("line_start_crlf", b"a\r\nb\rc\nd") == [0, 3, 5, 7]
