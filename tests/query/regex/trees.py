"""Trees of patterns, and their parts, for the tests of the parser."""

import pytest

from triseek.errors import InvalidQuery
from triseek.model.search import PatternSpec
from triseek.query.regex.parse import parse
from triseek.query.regex.syntax import Chars


def tree(*patterns, **options):
    return parse(PatternSpec(patterns=patterns, **options)).tree


def char(first, last=None):
    return Chars(((ord(first), ord(last or first)),))


def assert_refused(pattern, message):
    """The error of a pattern is one line with this text, and names a next step."""
    with pytest.raises(InvalidQuery) as caught:
        tree(pattern)

    assert message in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.next_step


A, B, C = char("a"), char("b"), char("c")
