"""Queries narrowed to repositories: a repository is left out only if nothing of it can match."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from triseek.query.zoekt.parse import parse
from triseek.query.zoekt.syntax import And, Const, Not, Or, Repo, Substring, Type
from triseek.zoekt import scope

NAMES = frozenset(("org/api", "org/web", "org/api-go", "other/x.y", "a b", 'q"u(o', "back\\slash"))


def holds(node, name, atoms):
    """Evaluate a query for a file of a repository; `atoms` says which texts the file has."""
    match node:
        case Const(value):
            return value
        case Repo(pattern):
            return re.search(pattern, name) is not None
        case Substring():
            return atoms[node.pattern]
        case Not(child) | Type(_, child):
            return holds(child, name, atoms) != isinstance(node, Not)
        case And(children):
            return all(holds(child, name, atoms) for child in children)
        case Or(children):
            return any(holds(child, name, atoms) for child in children)
    raise AssertionError(node)


def query(randomness, depth):
    """A random query of texts, repositories and operators."""
    kind = randomness.randrange(5 if depth else 2)
    if kind == 0:
        return f"r:{randomness.choice(('org', '^org/api$', 'x', 'nothing', 'web'))}"
    if kind == 1:
        return randomness.choice(("foo", "bar", "baz"))
    parts = [query(randomness, depth - 1) for _ in range(2)]
    if kind == 2:
        return f"({parts[0]} {parts[1]} )"
    return f"({parts[0]} or {parts[1]} )" if kind == 3 else f"-{parts[0]}"


def test_no_repository_with_a_match_is_left_out():
    randomness = random.Random("scope")
    narrower = 0
    for _ in range(400):
        text = query(randomness, 4)
        node = parse(text)
        relevant = scope.relevant(text, NAMES)
        narrower += relevant != NAMES
        for name in NAMES - relevant:
            for values in itertools.product((True, False), repeat=3):
                atoms = dict(zip(("foo", "bar", "baz"), values, strict=True))
                assert not holds(node, name, atoms), (text, name)
    assert narrower > 100


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("r:^org/api$ foo", {"org/api"}),
        ("r:api foo", {"org/api", "org/api-go"}),
        ("foo -r:org", NAMES - {"org/api", "org/web", "org/api-go"}),
        ("r:API", set()),  # names are compared with their case
        ("r:nothing or foo", NAMES),
        ("type:repo r:web", {"org/web"}),
        (r"r:(?i:WEB)\z", {"org/web"}),
        (r"r:x\.y", {"other/x.y"}),
        ("foo (", NAMES),  # what this parser does not understand is for the hosts
    ],
)
def test_repositories_are_chosen_by_name(text, names):
    assert scope.relevant(text, NAMES) == names


@pytest.mark.parametrize("text", ["foo", "foo or bar", "-foo", 'case:yes "a b"', "f:x or c:y z"])
def test_a_narrowed_query_reads_as_the_query_and_the_names(text):
    for names in (["org/api"], sorted(NAMES)):
        without, only = parse(scope.without(text, names)), parse(scope.only(text, names))
        assert isinstance(without, And)
        assert isinstance(only, And)
        assert scope.relevant(scope.only(text, names), NAMES) == set(names)
        assert scope.relevant(scope.without(text, names), NAMES) == NAMES - set(names)
        kept = [child for child in only.children if not isinstance(child, Repo)]
        original = parse(text)
        assert kept == (list(original.children) if isinstance(original, And) else [original])


def test_a_query_that_is_not_understood_is_sent_as_it_is():
    assert scope.without("foo (", ["a"]) == scope.only("foo (", ["a"]) == "foo ("


@pytest.mark.parametrize(
    ("text", "is_list"),
    [("type:repo foo", True), ("foo t:repo", True), ("foo or bar type:repo", True),
     ("foo", False), ('"type:repo"', False), ("type:file foo", False), ("(", False)],
)  # fmt: skip
def test_queries_for_repositories_are_known(text, is_list):
    assert scope.lists_repositories(text) == is_list
