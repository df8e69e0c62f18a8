import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.query.strategies_patterns import lines, patterns
from triseek.errors import InvalidQuery
from triseek.model.search import PatternSpec
from triseek.query.pattern import Pattern
from triseek.query.pattern import compile as compiled
from triseek.query.regex.exact import ExactMatcher


def spans(pattern, text, **options):
    return Pattern(PatternSpec(patterns=(pattern,), **options)).spans(text)


def exact_spans(tree, text):
    """Every match by the exact matcher alone, in the steps of grep-matcher's `find_iter`."""
    matcher, found, at, last = ExactMatcher(tree), [], 0, -1
    while at <= len(text) and (match := matcher.find(text, at)):
        start, end = match
        at = end + 1 if start == end else end
        if start != end or end != last:
            found.append(match)
            last = end
    return found


options = st.fixed_dictionaries(
    {},
    optional={
        "case": st.sampled_from(["sensitive", "insensitive", "smart"]),
        "word": st.booleans(),
        "line": st.booleans(),
        "unicode": st.booleans(),
        "crlf": st.booleans(),
        "multiline": st.booleans(),
    },
)


@settings(max_examples=300, deadline=None)
@given(patterns(), options, st.lists(lines, min_size=1, max_size=8))
def test_every_backend_gives_what_the_exact_matcher_gives(pattern, options, texts):
    try:
        found = Pattern(PatternSpec(patterns=(pattern,), **options))
    except InvalidQuery:
        return

    for text in texts:
        expected = exact_spans(found.tree, text)
        assert found.spans(text) == expected
        assert found.matches(text) == bool(expected)


@settings(max_examples=300, deadline=None)
@given(patterns(), options, st.lists(lines, min_size=1, max_size=6), st.booleans(), st.data())
def test_a_search_that_begins_anew_is_one_of_the_rest(pattern, options, texts, is_long, data):
    try:
        found = Pattern(PatternSpec(patterns=(pattern,), **{**options, "multiline": True}))
    except InvalidQuery:
        return
    text = b"\n".join(texts) + b"\n" * is_long * 5_000  # RE2 takes long texts another way
    find = found.finder(text, anew=True)

    for at in data.draw(st.lists(st.integers(0, len(b"\n".join(texts))), min_size=1, max_size=9)):
        match = ExactMatcher(found.tree).find(text[at:])
        assert find(text, at) == (match and (match[0] + at, match[1] + at))


@settings(max_examples=150, deadline=None)
@given(patterns(), st.lists(lines, min_size=1, max_size=6))
def test_a_whole_text_gives_what_one_big_exact_search_gives(pattern, texts):
    text = b"\n".join(texts)
    try:
        found = Pattern(PatternSpec(patterns=(pattern,), multiline=True))
    except InvalidQuery:
        return

    assert list(found.finditer(text)) == exact_spans(found.tree, text)


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("", "é", [(0, 0), (1, 1), (2, 2)]),  # between bytes, as rg reports
        ("a*", "baac", [(0, 0), (1, 3), (4, 4)]),
        ("a|", "ab", [(0, 1), (2, 2)]),
        ("foo", "foofoo", [(0, 3), (3, 6)]),
        (r"\bfoo\b", "foo éfoo foo", [(0, 3), (10, 13)]),
        ("(?i)k", "kK\u212a", [(0, 1), (1, 2), (2, 5)]),
        ("(?i)STRASSE", "stra\u017fse", [(0, 8)]),
        ("a{1001}", "a" * 1002, [(0, 1001)]),
    ],
)
def test_matches_follow_one_another_as_in_ripgrep(pattern, text, expected):
    assert spans(pattern, text.encode()) == expected


def test_word_mode_looks_at_both_neighbours_also_beyond_ascii():
    assert spans("foo", "foo éfoo foo_ (foo)".encode(), word=True) == [(0, 3), (16, 19)]
    assert spans("foo", "éfoo".encode(), word=True, unicode=False) == [(2, 5)]
    assert spans("foo", b"\xfffoo", word=True) == []
    assert spans(".*o", b"foo fo x", word=True) == [(0, 6)]


def test_crlf_ends_lines_before_the_carriage_return():
    assert spans("a$", b"a\rb", crlf=True) == [(0, 1)]
    assert spans("a$", b"a\rb") == []


def test_equal_specs_share_one_pattern():
    assert compiled(PatternSpec(patterns=("x",))) is compiled(PatternSpec(patterns=("x",)))


def test_a_long_text_is_searched_as_a_short_one_is():
    text = b"x foo_bar foo\n" * 1000
    pattern = Pattern(PatternSpec(patterns=("foo",), word=True))

    assert len(list(pattern.finditer(text))) == 1000
    assert len(list(pattern.finditer(text + "é".encode()))) == 1000


def test_threads_may_share_a_pattern():
    pattern = Pattern(PatternSpec(patterns=(r"\w+.\b",), word=True))
    texts = [f"é{n} foo{n % 7} ß_{n}".encode() for n in range(200)]
    expected = [exact_spans(pattern.tree, text) for text in texts]
    answers = []

    def search():
        answers.append([pattern.spans(text) for text in texts])

    threads = [threading.Thread(target=search) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [expected] * 6
