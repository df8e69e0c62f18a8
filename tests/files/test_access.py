"""Examining and opening files: what is absent, what is forbidden, what is no regular file."""

import errno
import hashlib
import os

import pytest

from tests import descriptors
from triseek.files import access


@pytest.mark.parametrize(
    ("number", "absent", "unseen"),
    [
        (errno.ENOENT, True, True),
        (errno.ENOTDIR, True, True),
        (errno.EACCES, False, True),
        (errno.ENXIO, False, True),
        (errno.EMFILE, False, False),
        (errno.EIO, False, False),
    ],
)
def test_only_some_errors_mean_that_nothing_is_there(number, absent, unseen):
    error = OSError(number, os.strerror(number))
    assert (access.is_absent(error), access.is_unseen(error)) == (absent, unseen)


def test_the_stat_of_a_missing_path_is_none_and_of_a_link_is_of_its_target(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "broken").symlink_to("gone")
    root = os.fsencode(tmp_path)
    assert access.status(root + b"/gone") is None
    assert access.status(root + b"/file/below") is None
    assert access.status(root + b"/link").st_size == 5
    assert access.status(root + b"/link", follow=False).st_ino == os.lstat(root + b"/link").st_ino
    assert access.exists(root + b"/link")
    assert not access.exists(root + b"/broken")


def test_a_stat_that_fails_for_another_reason_is_an_error(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "stat", fail)
    with pytest.raises(OSError, match="Too many"):
        access.exists(os.fsencode(tmp_path))


def test_only_regular_files_are_opened_and_no_descriptor_is_left(tmp_path):
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    root = os.fsencode(tmp_path)
    with open(access.open_regular(root + b"/link"), "rb") as file:
        assert file.read() == b"text"
    before = descriptors.opened()
    with pytest.raises(OSError, match="is a FIFO, not a regular file"):
        access.open_regular(root + b"/pipe")
    with pytest.raises(OSError, match="is a folder"):
        access.open_regular(root)
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        access.open_regular(root + b"/link", follow=False)
    assert not descriptors.opened() - before
    directory = os.open(root, os.O_RDONLY)
    try:
        os.close(access.open_regular(b"file", directory=directory, follow=False))
    finally:
        os.close(directory)


def _fingerprint(path):
    return access.fingerprint(os.open(path, access.READ))


@pytest.mark.parametrize(
    ("data", "lines"),
    [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2), (b"x" * (3 << 20), 1)],
)
def test_it_says_what_all_of_it_comes_to(tmp_path, data, lines):
    path = tmp_path / "file"
    path.write_bytes(data)
    assert _fingerprint(path) == (hashlib.sha256(data).hexdigest(), lines, len(data))


def test_what_is_no_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert _fingerprint(tmp_path / "pipe") is None
    assert _fingerprint("/dev/zero") is None
    with pytest.raises(FileNotFoundError):
        _fingerprint(tmp_path / "none")


def test_one_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"x" * 101)
    monkeypatch.setattr(access, "MOST_BYTES", 100)
    assert _fingerprint(tmp_path / "file") is None


def test_any_path_can_be_opened_below_a_folder(tmp_path):
    folder = os.open(tmp_path, os.O_RDONLY)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"text")
    for path in (b"a/b", b"a/" * 1 + b"./" * 2500 + b"b"):
        with open(access.open_below(folder, path), "rb") as file:
            assert file.read() == b"text"
    with pytest.raises(FileNotFoundError):
        access.open_below(folder, b"./" * 3000 + b"gone")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        access.open_below(folder, b"gone/" * 1000 + b"x")
    assert len(os.listdir("/proc/self/fd")) == before
    os.close(folder)
