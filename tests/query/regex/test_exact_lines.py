"""The exact matcher run on candidate lines only: the same matches as over the whole text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.query.strategies_patterns import lines, patterns
from triseek.model.search import PatternSpec
from triseek.query.regex import exact
from triseek.query.regex.exact import ExactMatcher
from triseek.query.regex.exact_lines import ExactLines, sees_line_ends
from triseek.query.regex.parse import parse


def node_of(pattern, **options):
    return parse(PatternSpec(patterns=(pattern,), **options)).tree


@pytest.fixture
def every_place_is_marked(monkeypatch):
    monkeypatch.setattr(exact, "_MARK_MASK", 0)


@pytest.mark.parametrize(
    ("pattern", "sees"),
    [
        ("a", False),
        ("^a$", False),
        (r"\bé\b", False),
        (r"\Aa", True),
        (r"a\z", True),
        ("(?R:a$)", True),
        (r"a\nb", True),
        ("[^a]", True),
        ("(?:a|(b[^c]))*", True),
    ],
)
def test_a_text_is_split_unless_the_pattern_sees_line_ends(pattern, sees):
    assert sees_line_ends(node_of(pattern, multiline=True)) is sees


def test_a_search_line_by_line_finds_what_a_search_of_the_text_finds():
    node = node_of(r"\bé+\b")
    text = "aé é\nx\néé, é".encode()

    find, whole = ExactLines(node).finder(), ExactMatcher(node)

    for at in range(len(text) + 1):
        assert find(text, at) == whole.find(text, at)


@pytest.mark.usefixtures("every_place_is_marked")
@settings(max_examples=300, deadline=None)
@given(
    patterns(),
    st.lists(lines, min_size=1, max_size=6).map(b"\n".join),
    st.lists(st.integers(0, 40), min_size=1, max_size=9),
)
def test_what_they_have_found_out_holds_where_each_begins_anew(pattern, text, places):
    node = node_of(f"(?s:.*?)k{pattern}|{pattern}", multiline=True)
    find = ExactLines(node).finder(anew=True)

    for at in places:
        if at <= len(text):
            alone = ExactMatcher(node).find(text[at:])
            assert find(text, at) == (alone and (alone[0] + at, alone[1] + at))
