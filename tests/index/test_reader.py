"""What a reader says of one generation."""

import os
import threading

import numpy as np
import pytest

from tests.engine import answers
from triseek import errors
from triseek.index import reader as index_reader
from triseek.index.build import build
from triseek.index.reader import IndexReader
from triseek.query.trigrams.formula import All, And, Gram, Never, Or
from triseek.store import layout
from triseek.store.size import size_on_disk


@pytest.fixture
def reader(tmp_path):
    files = {"a": "abc\n" * 5000, "b": "abc xyz\n", "bin": b"abc\0", "c": "xyz\n"}
    answers.write(str(tmp_path / "root"), files)
    build(str(tmp_path / "root"), tmp_path / "index")
    return IndexReader.open(tmp_path / "index")


def gram(text):
    return Gram(int.from_bytes(text.encode(), "big"))


def test_no_index_is_none_and_one_whose_tree_is_of_no_segment_is_corrupt(tmp_path, reader):
    assert IndexReader.open(tmp_path / "nothing") is None
    wrong = type(reader.manifest)(1, reader.manifest.root, reader.manifest.segments, "gone")
    with pytest.raises(errors.IndexCorrupt, match="no live segment"):
        IndexReader(reader.index_dir, wrong)


def test_the_arrays_of_a_view_fit_each_other(reader):
    (view,) = reader.views
    reader.verify()
    assert view.names.all() == [b"a", b"b", b"bin", b"c"]
    assert view.searchable.tolist() == [True, True, False, True]
    assert view.edges.tolist() == [0, 2, 3, 3, 4]
    assert view.block_file.tolist() == [0, 0, 1, 3]
    assert int(view.segment.blocks.numbers("length")[:2].sum()) == 20_000
    assert view.segment.blocks.numbers("first_line").tolist()[::2] == [1, 1]
    (skipped,) = view.skipped(np.ones(4, np.bool_))
    assert (skipped.path, skipped.reason) == (b"bin", "binary")
    assert view.skipped(np.zeros(4, np.bool_)) == []
    assert not (view.flags & layout.FLAG_ALLOWLISTED).any()


def test_the_text_of_dead_files_is_not_counted(reader):
    (view,) = reader.views
    assert reader.text_bytes() == view.text_bytes() == 20_012
    assert view.text_bytes(np.array([0])) == 12
    assert view.text_bytes(np.array([1, 2, 3])) == 20_000


def test_candidates_are_blocks_that_may_match(reader):
    (view,) = reader.views
    abc, xyz = gram("abc"), gram("xyz")
    both, either = And((abc, xyz), 2, 1), Or((xyz, abc), 2, 1)
    assert view.candidates(All()).tolist() == [0, 1, 2, 3]
    assert view.candidates(Never()).tolist() == []
    assert view.candidates(abc).tolist() == [0, 1, 2]
    assert view.candidates(abc, below=1).tolist() == [0]
    # A list that costs more than it can save is left out, so more blocks may be named.
    assert {2} <= set(view.candidates(both).tolist()) <= {2, 3}
    assert view.candidates(either).tolist() == [0, 1, 2, 3]
    assert view.candidate_files(both).tolist() == [False, True, False, False]
    assert view.candidate_files(All()).all()
    assert not view.candidate_files(Never()).any()
    assert view.estimate(both) == (estimate := view.estimate(xyz))
    assert (estimate.blocks, estimate.of) == (2, 4)


def test_the_size_of_what_is_being_renamed_is_no_error(tmp_path):
    kept = tmp_path / "segments" / "kept"
    kept.mkdir(parents=True)
    (kept / "postings").write_bytes(b"x" * 1000)
    stop = threading.Event()

    def write():
        while not stop.is_set():
            partial = tmp_path / "segments" / "new.partial"
            partial.mkdir()
            (partial / "names").write_bytes(b"y" * 10)
            os.replace(partial, tmp_path / "segments" / "new")
            (tmp_path / "segments" / "new" / "names").unlink()
            (tmp_path / "segments" / "new").rmdir()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        sizes = {size_on_disk(tmp_path) for _ in range(2_000)}
    finally:
        stop.set()
        writer.join()

    assert sizes <= {1000, 1010}


def test_the_size_of_no_index_is_nothing(tmp_path):
    assert size_on_disk(tmp_path / "absent") == 0


@pytest.mark.parametrize("share", [0, 1 << 30])
def test_an_alternative_is_the_same_however_it_is_intersected(tmp_path, monkeypatch, share):
    files = {f"{n:03}": f"abc {'ABC' if n % 3 else 'xbc'}\n" for n in range(90)}
    files |= {"rare": "qqq ABC\n", "rare too": "qqq abc\n", "other": "qqq x\n"}
    answers.write(str(tmp_path / "root"), files)
    build(str(tmp_path / "root"), tmp_path / "index")
    monkeypatch.setattr(index_reader, "FEW_SHARE", share)
    (view,) = IndexReader.open(tmp_path / "index").views
    rare = view.candidates(gram("qqq"))
    either = Or((gram("abc"), gram("ABC")), 2, 1)
    both = view._both(rare.copy(), either, view.blocks)
    assert both.dtype == np.uint32
    paths = view.names.take(view.block_file[both])
    assert paths == [b"rare", b"rare too"]
