"""Which lines the commands that print lines print."""

from __future__ import annotations

import pytest

from triseek.agents.shell.line_filters import Filter, Lines, line_filter, then


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("cat a b", Filter((Lines(),), ("a", "b"))),
        ("cat -n a", Filter((Lines(),), ("a",), numbers=True)),
        ("head -n 5 a", Filter((Lines(1, 5),), ("a",))),
        ("tail -3", Filter((Lines(tail=3),), ())),
        ("tail -n +4 a", Filter((Lines(4),), ("a",))),
        ("sed -n 2,3p;7p a", Filter((Lines(2, 3), Lines(7, 7)), ("a",))),
        ("sed 7q a", Filter((Lines(1, 7),), ("a",))),
        ("nl -ba a", Filter((Lines(),), ("a",), numbers=True)),
        ("cat -v a", None),
        ("cat - a", None),
        ("head -c 5 a", None),
        ("sed -n 5,7p;6p a", None),
        ("sed -i 5d a", None),
        ("grep x a", None),
    ],
)
def test_a_filter_is_read_from_its_words(command, result):
    assert line_filter(tuple(command.split(" "))) == result


@pytest.mark.parametrize(
    ("parts", "after", "lines"),
    [
        ((Lines(),), (Lines(2, 3),), (Lines(2, 3),)),
        ((Lines(10, 20),), (Lines(2, 3), Lines(5)), (Lines(11, 12), Lines(14, 20))),
        ((Lines(1, 2), Lines(5, 6)), (Lines(),), (Lines(1, 2), Lines(5, 6))),
        ((Lines(1, 2), Lines(5, 6)), (Lines(1, 2),), None),
        ((Lines(10, 12),), (Lines(9),), None),
        ((Lines(tail=3),), (Lines(1, 2),), None),
    ],
)
def test_filters_in_a_row_print_the_lines_of_lines(parts, after, lines):
    assert then(parts, after) == lines
