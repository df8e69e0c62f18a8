"""What a match on a line says of the name that the line defines."""

from __future__ import annotations

import numpy as np
import pytest

from triseek.engine.ranking.definitions import CHECKS_MAX, Defines, Definitions
from triseek.engine.search.backends.base import Batch
from triseek.kernels.formats import ROW
from triseek.model.search import PatternSpec
from triseek.query.pattern import compile as compile_pattern


def question(*patterns, **spec):
    return Definitions(compile_pattern(PatternSpec(patterns=patterns, **spec)))


def batch_of(files, between=b""):
    """A batch of whole files, given as [(path, text)]."""
    rows, text = [], b""
    for number, (_, lines) in enumerate(files):
        for count, line in enumerate(lines.splitlines(keepends=True)):
            text += between
            rows.append((number, count + 1, 0, len(text), len(text) + len(line), False))
            text += line
    counts = np.ones(len(files), np.int64)
    return Batch([path for path, _ in files], counts, np.array(rows, ROW), text)


@pytest.mark.parametrize(
    ("patterns", "spec", "line", "expected"),
    [
        (["foo"], {}, "def foo(bar):", "GLOBAL"),
        (["foo"], {}, "def foo_bar(x):", "PARTLY"),
        (["bar"], {}, "def foo(bar):", "NOT"),
        (["foo"], {"word": True}, "def foo(bar):", "GLOBAL"),
        (["foo"], {"word": True}, "def foo_bar(foo):", "NOT"),
        (["FOO"], {"case": "insensitive"}, "def foo(bar):", "GLOBAL"),
        (["FOO"], {"case": "insensitive"}, "def Foo_Bar(bar):", "PARTLY"),
        (["foo"], {"case": "smart"}, "class Foo:", "TYPE"),
        (["def foo"], {}, "def foo(bar):", "GLOBAL"),
        (["def foo"], {}, "def foo_t(bar):", "PARTLY"),
        (["def foo"], {}, "def foot(bar):", "NOT"),
        (["Set"], {}, "class QuerySetMixin:", "PARTLY"),
        (["set"], {}, "def reset(): pass", "NOT"),
        (["set"], {}, "def set2(): pass", "PARTLY"),
        (["_meta"], {}, "def get_meta(): pass", "PARTLY"),
        (["_meta"], {}, "def get_metadata(): pass", "NOT"),
        (["def foo(bar"], {"fixed": True}, "def foo(bar):", "GLOBAL"),
        ([r"def foo\("], {}, "def foo(bar):", "GLOBAL"),
        ([r"foo|bar"], {}, "def bar(foo):", "GLOBAL"),
        (["foo", "bar"], {}, "class bar:", "TYPE"),
        ([r"class \w+Error\b"], {}, "class ValueError(Exception):", "TYPE"),
        ([r"\w+Error\b"], {}, "class ValueError(Exception):", "TYPE"),
        ([r"_get\w*_set"], {}, "def x_get_a_set_b():", "PARTLY"),
        ([r".*size.*"], {}, "def read(size):", "NOT"),
        ([r"."], {}, "def f(size):", "NOT"),
        ([r"\w*"], {}, "def foo(size):", "NOT"),
        (["f"], {}, "def f(size):", "GLOBAL"),
        (["f"], {}, "def foo(size):", "NOT"),
        (["fo"], {}, "def foo(size):", "NOT"),
        (["->"], {}, "def foo() -> int:", "NOT"),
        (["é"], {}, "def é(): pass", "GLOBAL"),
        (["foo"], {}, "    return foo(bar)", "NOT"),
        (["foo"], {}, " " * 3000 + "def foo(): pass", "NOT"),
    ],
)  # fmt: skip
def test_what_a_match_says_of_a_name(patterns, spec, line, expected):
    asked = question(*patterns, **spec)
    batch = batch_of([(b"a.py", line.encode() + b"\n")])

    assert [Defines(value).name for value in asked.of(batch)] == [expected]


@pytest.mark.parametrize(
    ("path", "line", "level"),
    [
        ("a.py", "class foo(Base):", "TYPE"),
        ("a.py", "    class foo:", "GLOBAL"),
        ("a.py", "    def foo(self):", "MEMBER"),
        ("a.py", "foo = 1", "GLOBAL"),
        ("a.go", "type foo struct {", "TYPE"),
        ("a.go", "func foo() {", "GLOBAL"),
        ("a.go", "func (c *Context) foo() {", "MEMBER"),
        ("a.rs", "pub(crate) struct foo {", "TYPE"),
        ("a.rs", "    pub fn foo() {", "MEMBER"),
        ("a.c", "struct foo {", "TYPE"),
        ("a.c", "typedef unsigned long foo;", "TYPE"),
        ("a.c", "struct page *foo(void)", "GLOBAL"),
        ("a.cc", "void Owner::foo() {", "MEMBER"),
        ("a.ts", "export interface foo {", "TYPE"),
        ("a.ts", "  foo(a: string): void {", "MEMBER"),
        ("a.js", "exports.foo = function () {", "GLOBAL"),
        ("a.js", "Owner.prototype.foo = function () {", "MEMBER"),
        ("a.java", "public class foo {", "TYPE"),
        ("a.java", "    public void foo() {", "MEMBER"),
    ],
)
def test_types_rank_above_functions_and_those_above_members(path, line, level):
    defines = question("foo").of(batch_of([(path.encode(), line.encode() + b"\n")]))

    assert [Defines(value).name for value in defines] == [level]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["return"], [Defines.NOT, Defines.NOT]),
        (["return x"], [Defines.NOT, Defines.NOT]),
        (["const Limit"], [Defines.NOT, Defines.GLOBAL]),
        (["return", "Limit"], [Defines.NOT, Defines.GLOBAL]),
    ],
)
def test_a_keyword_is_no_name(patterns, expected):
    batch = batch_of([(b"a.go", b"\treturn x\nconst Limit = 1\n")])

    assert question(*patterns).of(batch).tolist() == expected


def test_a_row_of_many_lines_defines_what_one_of_them_does():
    batch = batch_of([(b"a.py", b"")])
    text = b"x = 1\ndef foo():\n    pass\n"
    batch = Batch([b"a.py"], np.ones(1, np.int64), np.array([(0, 1, 0, 0, 26, False)], ROW), text)

    assert question("foo", multiline=True).of(batch).tolist() == [Defines.GLOBAL]


def test_context_defines_nothing():
    batch = batch_of([(b"a.py", b"def foo():\n")])
    batch.rows["context"] = True

    assert question("foo").of(batch).tolist() == [Defines.NOT]


@pytest.mark.parametrize("between", [b"", b"12:", b"def foo"])
def test_a_line_is_one_of_its_own_whatever_stands_around_it(between):
    files = [(b"a.py", b"def foo():\nx = foo()"), (b"b.py", b"def foo():\r\n  foo"), (b"c", b"foo")]

    assert question("foo").of(batch_of(files, between)).tolist() == [3, 0, 3, 0, 0]


@pytest.mark.parametrize("batches", [1, 2, 5])
def test_behind_many_checks_whole_names_are_still_found_however_batches_are_cut(batches):
    lines = [b"def foo%d(): pass\n" % n for n in range(CHECKS_MAX + 10)] + [b"def foo(): pass\n"]
    asked, size = question("foo"), len(lines) // batches + 1
    found = [
        value
        for begin in range(0, len(lines), size)
        for value in asked.of(batch_of([(b"a.py", b"".join(lines[begin : begin + size]))]))
    ]

    assert found == [Defines.PARTLY] * CHECKS_MAX + [Defines.NOT] * 10 + [Defines.GLOBAL]


def test_a_long_line_takes_no_long_time():
    line = b"static int " + b"a b(c " * 500_000 + b"\n"

    assert question("foo").of(batch_of([(b"a.c", line)])).tolist() == [0]
    assert question(r"foo\w+").of(batch_of([(b"a.js", line)])).tolist() == [0]
