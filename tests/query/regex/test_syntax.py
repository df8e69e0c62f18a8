"""Trees of patterns are folded from the leaves up, in pattern order, at any depth."""

import pytest

from tests.query.regex.trees import A, B, C
from triseek.errors import OutOfTime
from triseek.model import budget
from triseek.query.regex.syntax import (
    Alternate,
    Capture,
    Chars,
    Concat,
    Empty,
    Repeat,
    children,
    fold,
)


def written(node, below):
    match node:
        case Chars(((code, _),)):
            return chr(code)
        case Concat():
            return "".join(below)
        case Alternate():
            return f"({'|'.join(below)})"
        case Repeat():
            return f"{below[0]}*"
        case Capture(_, number):
            return f"<{number}:{below[0]}>"
        case _:
            return ""


def test_children_are_folded_first_and_in_pattern_order():
    tree = Concat((A, Alternate((B, Repeat(Capture(Concat((B, C)), 1), 0, None))), Empty(), C))

    assert fold(tree, written) == "a(b|<1:bc>*)c"


def test_a_node_that_occurs_twice_is_combined_each_time():
    assert fold(Concat((A, A, Repeat(A, 2, 2))), lambda _, below: 1 + sum(below)) == 5


def test_only_nodes_that_hold_others_have_children():
    assert children(Concat((A, B))) == children(Alternate((A, B))) == (A, B)
    assert children(Repeat(A, 0, 1)) == children(Capture(A, 1)) == (A,)
    assert children(A) == children(Empty()) == ()


def test_depth_is_not_bounded_by_the_interpreters_stack():
    tree = A
    for _ in range(50_000):
        tree = Repeat(tree, 0, 1)

    assert fold(tree, lambda _, below: 1 + sum(below)) == 50_001


def test_a_fold_ends_with_the_time_of_its_request():
    tree = Concat((A,) * 10_000)

    with pytest.raises(OutOfTime), budget.limited(0):
        fold(tree, lambda _, below: len(below))
