"""A sealed file is read back as it was written, or not at all."""

from __future__ import annotations

import json
import os

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from triseek import errors
from triseek.store import sealed

LIMIT = 1 << 16
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)  # fmt: skip


def by_hand(text: bytes) -> bytes:
    return b'{"xxh3":"%s","body":%s}\n' % (xxhash.xxh3_64_hexdigest(text).encode(), text)


@given(VALUES)
def test_what_was_written_is_read(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("sealed") / "below" / "a.json"
    sealed.write(path, value)

    assert sealed.read(path, most_bytes=LIMIT) == value
    assert json.loads(path.read_text())["body"] == value


def test_no_changed_byte_and_no_cut_goes_unseen(tmp_path):
    path = tmp_path / "a.json"
    sealed.write(path, {"generation": 12})
    whole = path.read_bytes()

    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert sealed.read(path, most_bytes=LIMIT) is None
        path.write_bytes(whole[:place])
        assert sealed.read(path, most_bytes=LIMIT) is None


@pytest.mark.parametrize(
    "text", [b"[" * 60_000, b"", b"{", b"\xff\xfe", b"9" * 20_000, b'{"a":1}{"a":2}']
)
def test_what_is_sealed_but_is_no_json_is_not_read(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_bytes(by_hand(text))

    assert sealed.read(path, most_bytes=LIMIT) is None


def test_a_file_that_is_missing_too_large_or_a_folder_is_not_read(tmp_path):
    path = tmp_path / "a.json"
    assert sealed.read(path, most_bytes=LIMIT) is None
    sealed.write(path, "x" * 100)
    assert sealed.read(path, most_bytes=50) is None
    assert sealed.read(tmp_path, most_bytes=LIMIT) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_a_state_error(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(errors.StateUnwritable, match=r"a\.json"):
            sealed.write(tmp_path / "a.json", 1)
    finally:
        tmp_path.chmod(0o700)


def test_a_folder_that_cannot_be_made_is_a_state_error(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(errors.StateUnwritable, match="cannot write"):
        sealed.write(tmp_path / "file" / "a.json", 1)
