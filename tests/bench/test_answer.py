"""Answers are compared before they are timed, so the comparison must not be fooled."""

import pytest

from bench import answer
from bench.model import Faulty

LINES = b"a.c:1:one\na.c:7:two\nsub/b.c:3:three:4:five\n"


def test_files_may_come_in_any_order():
    turned = b"sub/b.c:3:three:4:five\na.c:1:one\na.c:7:two\n"

    assert answer.read(LINES, "lines").digest == answer.read(turned, "lines").digest


def test_a_leading_dot_and_a_root_are_cut_from_paths():
    dotted = answer.read(b"./a.c:1:one\n", "lines")
    absolute = answer.read(b"/top/tree/a.c:1:one\n", "lines", below=b"/top/tree")

    assert dotted.files == absolute.files == answer.read(b"a.c:1:one\n", "lines").files


def test_counts_of_nothing_are_no_answer():
    counted = answer.read(b"a.c:0\nb.c: 3\n", "count")

    assert {path: file.found for path, file in counted.files.items()} == {b"b.c": 3}


def test_a_line_that_is_no_match_is_refused():
    with pytest.raises(Faulty, match="no match"):
        answer.read(b"something else\n", "lines")


@pytest.mark.parametrize(
    "changed",
    [
        b"a.c:1:one\na.c:8:two\nsub/b.c:3:three:4:five\n",
        b"a.c:1:one\na.c:7:TWO\nsub/b.c:3:three:4:five\n",
        b"a.c:1:one\na.c:7:two\n",
        LINES + b"z.c:1:more\n",
    ],
    ids=["number", "text", "missing file", "extra file"],
)
def test_any_difference_shows_when_answers_must_be_exact(changed):
    reference = answer.read(LINES, "lines")

    assert answer.compare(reference, reference, "exact", frozenset()).status == "equal"
    verdict = answer.compare(reference, answer.read(changed, "lines"), "exact", frozenset())
    assert verdict.status == "differs"


def test_own_rules_excuse_whole_files_but_never_other_lines():
    listed = frozenset({b"a.c", b"sub/b.c"})
    reference = answer.read(LINES, "lines")
    hidden = answer.read(LINES + b".hidden:1:x\n", "lines")
    skipped = answer.read(b"a.c:1:one\na.c:7:two\n", "lines")
    other = answer.read(LINES.replace(b"a.c:7", b"a.c:8"), "lines")

    assert answer.compare(reference, hidden, "own", listed).status == "explained"
    assert answer.compare(reference, skipped, "own", listed).status == "explained"
    assert answer.compare(reference, other, "own", listed).status == "differs"


def test_own_rules_do_not_excuse_losing_most_of_the_answer():
    many = b"".join(b"f%d.c:1:x\n" % number for number in range(100))
    few = b"".join(b"f%d.c:1:x\n" % number for number in range(90))
    listed = frozenset(b"f%d.c" % number for number in range(100))

    verdict = answer.compare(answer.read(many, "lines"), answer.read(few, "lines"), "own", listed)

    assert verdict.status == "differs"


def test_a_file_of_which_only_binary_was_said_is_compared_on_neither_side():
    said = b'odd.bin: binary file matches (found "\\0" byte around offset 15)\n'
    reference = answer.read(LINES + said, "lines")

    assert reference.binary == {b"odd.bin"}
    assert answer.compare(reference, answer.read(LINES, "lines"), "exact", frozenset())[0] == (
        "equal"
    )
