import json
import os

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from triseek import errors
from triseek.store import atomic

LIMIT = 1 << 16
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)  # fmt: skip


def by_hand(text: bytes) -> bytes:
    return b'{"xxh3":"%s","body":%s}\n' % (xxhash.xxh3_64_hexdigest(text).encode(), text)


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


@given(VALUES)
def test_what_was_written_is_read(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("sealed") / "below" / "a.json"
    atomic.write_sealed(path, value)

    assert atomic.read_sealed(path, most_bytes=LIMIT) == value
    assert json.loads(path.read_text())["body"] == value


def test_no_changed_byte_and_no_cut_goes_unseen(tmp_path):
    path = tmp_path / "a.json"
    atomic.write_sealed(path, {"generation": 12})
    whole = path.read_bytes()

    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert atomic.read_sealed(path, most_bytes=LIMIT) is None
        path.write_bytes(whole[:place])
        assert atomic.read_sealed(path, most_bytes=LIMIT) is None


@pytest.mark.parametrize(
    "text", [b"[" * 60_000, b"", b"{", b"\xff\xfe", b"9" * 20_000, b'{"a":1}{"a":2}']
)
def test_what_is_sealed_but_is_no_json_is_not_read(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_bytes(by_hand(text))

    assert atomic.read_sealed(path, most_bytes=LIMIT) is None


def test_a_file_that_is_missing_too_large_or_a_folder_is_not_read(tmp_path):
    path = tmp_path / "a.json"
    assert atomic.read_sealed(path, most_bytes=LIMIT) is None
    atomic.write_sealed(path, "x" * 100)
    assert atomic.read_sealed(path, most_bytes=50) is None
    assert atomic.read_sealed(tmp_path, most_bytes=LIMIT) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_a_state_error(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(errors.StateUnwritable, match=r"a\.json"):
            atomic.write_sealed(tmp_path / "a.json", 1)
    finally:
        tmp_path.chmod(0o700)


def test_a_folder_that_cannot_be_made_is_a_state_error(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(errors.StateUnwritable, match="cannot write"):
        atomic.write_sealed(tmp_path / "file" / "a.json", 1)
