"""Paths of a root as rules see them: relative, or as the user typed them."""

import pytest

from triseek.model.search import ScopeSpec
from triseek.query.globs.gitignore import RuleSet, parse_line, wrap
from triseek.query.globs.rule_paths import AS_IT_IS, RulePrefix


def rules(*globs):
    return RuleSet([parse_line(glob) for glob in globs])


def test_without_an_operand_paths_stay_as_they_are():
    assert RulePrefix.of(ScopeSpec()) == AS_IT_IS
    assert not AS_IT_IS.changes
    assert not AS_IT_IS.cuts
    assert AS_IT_IS.path(b"src/a.c") == b"src/a.c"


@pytest.mark.parametrize(
    ("prefix", "path", "seen"),
    [
        (RulePrefix(b"", b"../lib/"), b"a.c", b"../lib/a.c"),
        (RulePrefix(b"lib/", b"../lib/"), b"lib/x/a.c", b"../lib/x/a.c"),
        (RulePrefix(b"lib/", b""), b"lib/a.c", b"a.c"),
        (RulePrefix(b"", b"/home/u/", b"/home/u/src"), b"src/a.c", b"a.c"),
        (RulePrefix(b"", b"/home/u/", b"/home/u/src"), b"doc/a.c", b"/home/u/doc/a.c"),
    ],
)
def test_a_path_is_translated_to_what_was_typed(prefix, path, seen):
    assert prefix.changes
    assert prefix.path(path) == seen


def test_names_are_decided_by_the_path_that_rules_see():
    prefix = RulePrefix(b"lib/", b"../lib/")
    names = [b"a.c", b"b.h"]

    assert prefix.decide(rules("/../lib/*.c"), b"lib/", names, dirs=False) == {b"a.c": False}
    assert prefix.decide(rules("!*.c"), b"lib/", names, dirs=False) == {b"a.c": True}
    assert prefix.decide(rules("*.c"), b"", names, dirs=False) == {}


def test_the_working_folder_is_removed_from_absolute_paths():
    prefix = RulePrefix(b"", b"/home/u/", b"/home/u/src")

    assert list(prefix.decide(rules("/x/*.c"), b"src/x/", [b"a.c", b"b.h"], dirs=False)) == [b"a.c"]
    assert prefix.decide(rules("/x/*.c"), b"doc/x/", [b"a.c"], dirs=False) == {}


def test_rules_touch_names_only_below_the_folder():
    prefix = RulePrefix(b"lib/", b"../lib/")
    names = [b"a.c"]

    assert prefix.touches(rules("*.c"), b"lib/", names, wrap(names))
    assert not prefix.touches(rules("*.c"), b"", names, wrap(names))
    assert not prefix.touches(rules("*.rs"), b"lib/", names, wrap(names))
