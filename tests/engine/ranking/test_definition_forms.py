"""The tables of forms name the same families, and each family is tried in both directions."""

from __future__ import annotations

from tests.engine.definition_tables import NONE, TABLES
from triseek.engine.ranking.definition_forms import FAMILIES, FORMS, NAMES, NEVER, WIDER
from triseek.engine.ranking.definition_names import family_of


def test_every_family_has_lines_that_define_and_lines_that_do_not():
    tried = {family_of(file.encode()) for file in TABLES}

    assert tried == set(FORMS)
    for file, table in TABLES.items():
        names = [row.rpartition(" -> ")[2] for row in table.strip("\n").split("\n")]
        assert NONE in names, file
        assert set(names) != {NONE}, file


def test_the_tables_speak_of_families_that_exist():
    assert {*FAMILIES.values(), *NAMES.values(), *NEVER, *WIDER.values()} <= set(FORMS)
    assert set(FORMS) == {*FAMILIES.values(), *NAMES.values(), *WIDER}
