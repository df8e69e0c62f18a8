r"""One table per language, both ways; and the finder of lines never loses one.

In a table a line is followed by the name it defines, behind ` -> `; or by nothing: it defines none.
"""

from __future__ import annotations

import random
import re

import pytest

from tests.engine.definition_tables import NONE, TABLES
from triseek.engine.ranking.definition_forms import WIDER
from triseek.engine.ranking.definition_names import defined_name, family_of, line_finder

CASES = [
    (file, line, name)
    for file, table in TABLES.items()
    for line, _, name in (row.rpartition(" -> ") for row in table.strip("\n").split("\n"))
]


@pytest.mark.parametrize(("file", "line", "name"), CASES)
def test_what_a_line_defines(file, line, name):
    line = line.replace("␉", "\t").encode()
    span = defined_name(line, family_of(file.encode()))

    assert (line[slice(*span)].decode() if span else NONE) == name


@pytest.mark.parametrize("file", ["a.json", "b.yaml", "c.md", "d", "e.txt", "f.csv", "g.unknown"])
def test_data_and_prose_define_nothing(file):
    assert family_of(file.encode()) is None


def test_the_quick_look_loses_no_line_that_defines():
    """The finder of a family and words finds every line whose name holds one of them."""
    rng = random.Random(4)
    for file, line, name in CASES:
        if name == NONE:
            continue
        family = family_of(file.encode())
        raw = line.replace("␉", "\t").encode()
        words = re.findall(rb"[\w$\x80-\xff]+", name.encode())
        word = rng.choice(words)
        some = word[rng.randrange(len(word)) :]
        text = b"nothing;\n" + raw + b"\n"
        for wanted, whole, any_case in (
            ((word,), True, False),
            ((some,), False, False),
            ((b"zzz", some), False, False),
            ((some.lower(),), False, True),
            ((), False, False),
        ):
            find = line_finder(
                WIDER.get(family, family), wanted, whole=whole and len(words) == 1,
                any_case=any_case,
            )  # fmt: skip
            assert find(text, 9, len(text)) == 9, (file, line, wanted)
