"""Every format that was released still opens, and finds what is in it."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.engine import answers
from tests.golden.format import make
from triseek.index.reader import IndexReader
from triseek.index.update import update
from triseek.query.pattern import compile as compile_pattern
from triseek.query.trigrams import formula
from triseek.store import layout, manifest
from triseek.store.check import check

GOLDEN = sorted(path for path in Path(make.__file__).parent.glob("v*") if path.is_dir())
FORMATS = [path for path in GOLDEN if int(path.name[1:]) >= layout.FORMAT_OLDEST]


def test_every_format_up_to_ours_has_a_golden_index():
    assert [path.name for path in GOLDEN] == [f"v{n}" for n in range(1, layout.FORMAT + 1)]


def test_an_index_that_left_out_what_is_searched_now_counts_as_none(tmp_path):
    (old,) = [path for path in GOLDEN if path not in FORMATS]
    shutil.copytree(old, tmp_path / "index")
    answers.write(tmp_path / "root", make.FILES)
    assert manifest.read(tmp_path / "index") is None
    update(str(tmp_path / "root"), tmp_path / "index")
    assert IndexReader.open(tmp_path / "index") is not None


@pytest.mark.parametrize("golden", FORMATS, ids=lambda path: path.name)
class TestGolden:
    def test_it_opens_and_every_byte_is_sound(self, golden):
        reader = IndexReader.open(golden)
        assert (reader.manifest.root, reader.generation) == (make.ROOT, 2)
        assert check(golden, lambda *_: None) > 10_000

    def test_it_says_where_a_word_may_be(self, golden):
        tree = compile_pattern(answers.PatternSpec(patterns=("needle",))).tree
        found = []
        for view in IndexReader.open(golden).views:
            alive = view.alive[view.block_file[view.candidates(formula.formula(tree))]]
            numbers = view.block_file[view.candidates(formula.formula(tree))][alive]
            found += view.names.take(np.unique(numbers))
        assert sorted(found) == [
            b".github/w.yml", b"a.c", b"b/long.txt", b"b/utf16", "café".encode(), b"new"
        ]  # fmt: skip

    def test_a_search_answers_from_it(self, golden, tmp_path):
        answers.write(tmp_path, {**make.FILES, **make.LATER, ".git/HEAD": ""})
        indexed, scan = answers.both(tmp_path, golden)
        for fields in ({}, {"scope": answers.ScopeSpec(allowlist=True)}):
            said = answers.ask(indexed, "need.e", sweep=False, **fields)
            assert said == answers.ask(scan, "need.e", **fields)
            assert len(said) == 5 + bool(fields)
