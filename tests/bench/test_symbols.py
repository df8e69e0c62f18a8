"""The comparison of definitions with universal-ctags counts what both list."""

from __future__ import annotations

import pytest

from bench.symbols.measure import measured
from triseek.engine.symbols import ctags


@pytest.mark.skipif(not ctags.program(), reason="universal-ctags with its sandbox is not installed")
def test_definitions_are_compared_by_name_and_line(tmp_path):
    (tmp_path / "a.py").write_text("import x as y\n\ndef f():\n    pass\n\nclass C:\n    z = 1\n")
    (tmp_path / "notes.txt").write_text("def f\n")
    figures = measured([tmp_path])
    assert list(figures) == ["python"]
    one = figures["python"]
    assert (one.files, one.ours, one.both) == (1, 3, 3)
    assert one.theirs == 3 + sum(one.only_theirs.values())
    assert set(one.only_theirs) <= {"namespace", "unknown"}
