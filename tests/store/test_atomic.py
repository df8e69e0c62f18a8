import os

import pytest

from triseek.store import atomic


def test_a_write_replaces_the_whole_file(tmp_path):
    atomic.write(tmp_path / "f", b"one, long")
    atomic.write(tmp_path / "f", b"two")
    assert (tmp_path / "f").read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(
    tmp_path, monkeypatch, broken
):
    atomic.write(tmp_path / "f", b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os if broken == "fsync" else atomic.Path, broken, fail)
    with pytest.raises(OSError, match="No space"):
        atomic.write(tmp_path / "f", b"new")
    assert (tmp_path / "f").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f"]


def test_an_interrupt_leaves_nothing_either(tmp_path, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        atomic.write(tmp_path / "f", b"new")
    assert os.listdir(tmp_path) == []


def test_a_folder_gets_its_name_when_it_is_whole(tmp_path):
    (tmp_path / "aside").mkdir()
    (tmp_path / "aside" / "f").write_text("x")
    atomic.publish(tmp_path / "aside", tmp_path / "final")
    assert os.listdir(tmp_path) == ["final"]
    assert os.listdir(tmp_path / "final") == ["f"]
