"""A glob's shapes say what its regular expression says."""

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from triseek.errors import InvalidQuery
from triseek.query.globs.gitignore import compile_wrapped, parse_line, parse_name_glob, wrap
from triseek.query.globs.path_table import PathTable
from triseek.query.globs.shapes import Shape, literal_of, shapes_of

COMPONENTS = st.one_of(
    st.sampled_from(
        [b"", b"a", b"b", b"ab", b"aB", b".a", b"a.b", b"b\na", b"\xff", b"a\xff", b"."]
    ),
    st.lists(
        st.sampled_from([b"a", b"b", b"A", b".", b"\n", b"\xff", "é".encode()]), max_size=12
    ).map(b"".join),
)
PATHS = st.lists(COMPONENTS, min_size=1, max_size=5).map(b"/".join)
PIECES = st.sampled_from(
    [
        *("a", "b", "ab", "A", ".", "\n", "\udcff", "é", "/", "/", "*", "*", "**/", "/**", "/**/"),
        *("?", "[ab]", "[!a]", "{a,b}", "{ab,}", "**"),
    ]
)
LITERALS = st.sampled_from(["a", "b", "ab", "A", "a.b", "\udcff", "a/b", "/a", "a/", ".a"])
FORMS = st.sampled_from(
    [
        *("*{}*", "**/*{}*/**", "**/{}/**", "**/{}*/**", "**/*{}/**", "**/{}/*.{}", "**/{}/*"),
        *("**/{}/**/{}*", "**/*{}/*{}*", "**/{}*/*{}", "/{}/**", "/*{}*", "**/{}/**/{}"),
        *(
            "**/*/{}/**",
            "**/*{}*/**/*{}*",
            "*{}*{}*",
            "{}*{}*{}",
            "**/*{}/{}/**",
            "**/{}/{}/*{}",
            "**/*{}/*/**",
        ),
    ]
)
GLOBS = st.one_of(
    st.lists(PIECES, min_size=1, max_size=8).map("".join),
    st.tuples(FORMS, LITERALS, LITERALS, LITERALS).map(lambda drawn: drawn[0].format(*drawn[1:])),
)


def parsed(glob, *, fold_case):
    try:
        rule = parse_line(glob, fold_case=fold_case)
    except InvalidQuery:
        rule = None
    assume(rule is not None)
    return rule


def by_expression(rule, paths):
    """Path by path, with nothing but RE2."""
    expression = compile_wrapped((rule.body,))
    subjects = [path.rpartition(b"/")[2] if rule.name_only else path for path in paths]
    return [expression.search(wrap([subject])) is not None for subject in subjects]


@settings(max_examples=800, deadline=None)
@given(GLOBS, st.booleans(), st.lists(PATHS, max_size=12))
@example("**/*a*/**", False, [b"a", b"a/", b"/a", b"b/a/b", b"a//b", b"/a/", b"a\xff/\n"])
@example("**/*a/*/**", False, [b"a/x", b"b/a/x", b"a/b/x", b"a/", b"a//"])
@example("**/a/*.b", False, [b"a/.b", b"a/b/.b", b"b/a/a.b", b"ba/a.b", b"a//.b", b"/a/.b"])
@example("**/A*/**", True, [b"b/ab/", b"ba/b", b"/aB/b", b"A/A"])
@example("*\n*", False, [b"b\na", b"b\na/b", b"\n", b""])
@example("/", False, [b"", b"a", b"/", b"a/"])
@example("**/{}", True, [b"", b"a", b"/", b"a/"])
def test_a_table_finds_what_the_regular_expression_finds(glob, fold_case, paths):
    rule = parsed(glob, fold_case=fold_case)
    assert PathTable.of(paths).matches([rule]).tolist() == by_expression(rule, paths)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(GLOBS, st.booleans()), max_size=4), st.lists(PATHS, max_size=12))
def test_several_rules_find_what_any_of_them_finds(globs, paths):
    rules = [parsed(glob, fold_case=fold_case) for glob, fold_case in globs]
    each = [by_expression(rule, paths) for rule in rules]
    expected = [any(found) for found in zip(*each, strict=True)] if each else [False] * len(paths)
    assert PathTable.of(paths).matches(rules).tolist() == expected


@settings(max_examples=300, deadline=None)
@given(GLOBS, st.booleans(), st.lists(PATHS, max_size=12))
def test_whatever_matches_holds_the_literal(glob, fold_case, paths):
    rule = parsed(glob, fold_case=fold_case)
    for path, matched in zip(paths, by_expression(rule, paths), strict=True):
        subject = path.rpartition(b"/")[2] if rule.name_only else path
        assert not matched or literal_of(rule) in (subject.lower() if fold_case else subject)


@settings(max_examples=300, deadline=None)
@given(GLOBS, st.lists(PATHS, max_size=12))
def test_a_types_glob_speaks_of_names_whatever_it_looks_like(glob, paths):
    try:
        rule = parse_name_glob(glob)
    except InvalidQuery:
        return
    assert PathTable.of(paths).matches([rule]).tolist() == by_expression(rule, paths)


@pytest.mark.parametrize(
    ("glob", "shape"),
    [
        ("*usb*", Shape(b"", b"", True, 0, inside=b"usb")),
        ("**/*usb*/**", Shape(b"", b"", True, 0, same_component=True, folder=b"usb")),
        ("**/usb/**", Shape(b"", b"", True, 0, same_component=True, folder=b"/usb/")),
        ("**/usb*/*.c", None),
        ("**/usb/*.c", Shape(b"", b".c", True, 2, same_component=True, folder=b"/usb/\0")),
        ("**/*usb/Makefile", Shape(b"Makefile", b"", True, 8, exact=True, folder=b"usb/\0")),
        ("**/a/b/**/x*", Shape(b"x", b"", True, 1, same_component=True, folder=b"/a/b/")),
        ("*usb*x*", None),
        ("/*usb*", None),
    ],
)
def test_globs_people_write_need_no_expression(glob, shape):
    assert shapes_of(parse_line(glob)) == (None if shape is None else [shape])
