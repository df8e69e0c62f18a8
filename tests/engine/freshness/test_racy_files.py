"""How the content of a racy file is compared with the index."""

from __future__ import annotations

import os

import pytest

from tests.engine import answers
from triseek.engine.freshness import racy_files
from triseek.index.build import build
from triseek.index.reader import IndexReader
from triseek.store import layout

LARGE = b"needle\n" * 300_000


@pytest.mark.parametrize(
    ("content", "nothing"),
    [(b"\0" + LARGE, True), (LARGE + b"\0", False), (LARGE, False), (b"\xff\xfe\0", False),
     (b"", False)],
)  # fmt: skip
def test_binary_is_what_the_build_takes_for_it(tmp_path, content, nothing):
    (tmp_path / "file").write_bytes(content)
    folder = os.open(tmp_path, os.O_RDONLY)
    assert racy_files.shows_nothing(folder, b"file") == nothing
    assert not racy_files.shows_nothing(folder, b"gone")
    os.close(folder)


@pytest.fixture
def tree(tmp_path):
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, {"a": "needle\n", "b/c": "needle\n", "nul": "needle\n\0needle\n"})
    build(root, index_dir)
    return root, index_dir


def test_digests_are_those_the_build_wrote(tree):
    root, index_dir = tree
    (view,) = IndexReader.open(index_dir).views
    folder = os.open(root, os.O_RDONLY)
    digests = dict(zip(view.names.all(), view.segment.files.numbers("xxh3").tolist(), strict=True))
    flags = dict(zip(view.names.all(), view.flags.tolist(), strict=True))
    for path, digest in digests.items():
        until_nul = bool(flags[path] & layout.FLAG_BINARY)
        assert racy_files.digest_of(folder, path, until_nul=until_nul) == digest
    assert racy_files.digest_of(folder, b"gone") is None
    os.close(folder)


def test_a_file_is_as_indexed_until_its_content_changes(tree):
    root, index_dir = tree
    (view,) = IndexReader.open(index_dir).views
    folder = os.open(root, os.O_RDONLY)
    (number,) = [n for n, path in enumerate(view.names.all()) if path == b"a"]
    digest = int(view.segment.files.numbers("xxh3")[number])
    remembered = (digest, int(view.skip[number]), int(view.flags[number]))

    assert racy_files.is_as_indexed(folder, b"a", *remembered)
    answers.write(root, {"a": "noodle\n"})
    assert not racy_files.is_as_indexed(folder, b"a", *remembered)
    os.unlink(f"{root}/a")
    assert not racy_files.is_as_indexed(folder, b"a", *remembered)
    os.close(folder)
