"""A file's content, by what it comes to."""

from __future__ import annotations

import hashlib
import os

import pytest

from triseek.files.tree import content


@pytest.mark.parametrize(
    ("data", "lines"),
    [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2), (b"x" * (3 << 20), 1)],
)
def test_it_says_what_all_of_it_comes_to(tmp_path, data, lines):
    path = tmp_path / "file"
    path.write_bytes(data)
    assert content.look(path) == (hashlib.sha256(data).hexdigest(), lines, len(data))


def test_what_is_no_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert content.look(tmp_path / "pipe") is None
    assert content.look("/dev/zero") is None
    with pytest.raises(FileNotFoundError):
        content.look(tmp_path / "none")


def test_one_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"x" * 101)
    monkeypatch.setattr(content, "MOST_BYTES", 100)
    assert content.look(tmp_path / "file") is None
