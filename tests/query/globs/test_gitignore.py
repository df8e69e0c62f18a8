"""Globs mean what gitignore, as ripgrep reads it, means by them."""

import re
from random import Random

import pytest

from tests.strategies_trees import INVALID, ODD, PLAIN, RAW, make_glob
from triseek.errors import InvalidQuery
from triseek.query.globs.gitignore import RuleSet, parse_line, parse_name_glob, wrap
from triseek.query.globs.path_table import PathTable


def matches(glob, path, *, is_dir=False, fold_case=False):
    folder, slash, name = path.encode().rpartition(b"/")
    rules = RuleSet([parse_line(glob, fold_case=fold_case)])
    return name in rules.decide(folder + slash, [name], dirs=is_dir)


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("*.rs", "a/b.rs", True),
        ("*.rs", "b.rsx", False),
        ("foo", "a/foo", True),
        ("/foo", "a/foo", False),
        ("/foo", "foo", True),
        ("a/b", "a/b", True),
        ("a/b", "x/a/b", False),
        ("a/*", "a/b/c", False),
        ("a/**", "a/b/c", True),
        ("a/**", "a", False),
        ("a/**/c", "a/c", True),
        ("a/**/c", "a/x/y/c", True),
        ("a/**/c", "ac", False),
        ("**/c", "c", True),
        ("**", "a/b", True),
        ("a**b", "a/b", False),
        ("a**b", "axxb", True),
        ("?.c", "a.c", True),
        ("?.c", ".c", False),
        ("[ab].c", "b.c", True),
        ("[!ab].c", "b.c", False),
        ("[!ab].c", "x.c", True),
        ("x[!a]y", "x/y", True),  # a negated class matches the separator, too
        ("[]-]", "]", True),
        ("[a-]", "-", True),
        ("{a,b}.c", "b.c", True),
        ("{,a}", "a", True),
        ("a{b,{c,d}}", "ad", True),
        ("a{b,{c,d}}", "a", False),
        ("\\*", "*", True),
        ("\\*", "x", False),
        ("\\#x", "#x", True),
        ("\\!x", "!x", True),
        ("a\\ ", "a ", True),
        ("a ", "a", True),
        ("foo.", "foo.", True),
        ("*.", "foo.", True),
        ("foo*", "foo.", True),
        ("é", "é", True),
    ],
)
def test_a_glob_matches_what_ripgrep_matches(glob, path, expected):
    assert matches(glob, path) is expected


def test_a_slash_at_the_end_means_folders_only():
    assert matches("build/", "x/build", is_dir=True)
    assert not matches("build/", "x/build")


def test_folding_case_is_for_ascii_only():
    assert matches("FOO*.[C]", "foox.c", fold_case=True)
    assert matches("foo.", "FOO.", fold_case=True)
    assert not matches("É", "é", fold_case=True)


@pytest.mark.parametrize("line", ["", "   ", "# x", "#", "\u00a0\t"])
def test_blank_lines_and_comments_are_no_rules(line):
    assert parse_line(line) is None


@pytest.mark.parametrize("glob", INVALID)
def test_an_invalid_glob_is_named(glob):
    with pytest.raises(InvalidQuery, match=re.escape(repr(glob))):
        parse_line(glob)
    with pytest.raises(InvalidQuery, match=re.escape(repr(glob))):
        parse_name_glob(glob)


def test_the_last_rule_that_matches_wins():
    rules = RuleSet([parse_line(line) for line in ("*.c", "!a.c", "a.c", "!*.h", "!b.c")])
    decided = rules.decide(b"", [b"a.c", b"b.c", b"c.c", b"d.h", b"e"], dirs=False)
    assert decided == {b"a.c": False, b"b.c": True, b"c.c": False, b"d.h": True}


def test_a_glob_that_matches_nothing_at_all_does_not_match_between_names():
    rules = RuleSet([parse_line("/{**,b}")])
    assert rules.decide(b"x/", [b"c", b"d"], dirs=False) == {}


@pytest.mark.parametrize("glob", ["/", "/{}", "{}", "**/{}", "//"])
def test_a_glob_may_match_the_folder_alone_that_it_counts_from(glob):
    rules = RuleSet([parse_line(glob)])
    for folder in (b"", b"a/", b"a/b/"):
        assert rules.decide(folder, [b"c", b"{}"], dirs=True) == {}
    assert rules.decide(b"", [b"", b"c"], dirs=True) == {b"": False}


def test_a_wrapped_blob_holds_every_path_by_itself():
    assert wrap([]) == b""
    assert wrap([b"a", b"b"], b"x/") == b"\0x/a/\0\0x/b/\0"


def test_comparing_columns_finds_what_the_regular_expression_finds():
    """The fast path of `PathTable.matches` equals matching path by path."""
    random = Random(7)
    paths = [make_path(random) for _ in range(200)]
    table = PathTable.of(paths)
    for _ in range(600):
        rule = parse_line(make_glob(random), fold_case=random.random() < 0.2)
        found = table.matches([rule]).tolist()
        assert found == [slowly(rule, path) for path in paths], rule.text


def make_path(random):
    names = [name.encode() for name in PLAIN + ODD] + RAW
    return b"/".join(random.choice(names) for _ in range(random.randint(1, 4)))


def slowly(rule, path):
    subject = path.rpartition(b"/")[2] if rule.name_only else path
    return re.fullmatch(rule.body.encode(), subject) is not None
