import json

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from triseek import errors
from triseek.store import layout, manifest

LIVE = manifest.Live("a", "00", "b/dead.a", {"dtype": "<u4", "length": 1, "xxh3": "11"})
MANIFEST = manifest.Manifest(3, "/golden\udcff", (LIVE, manifest.Live("b", "22")), "b")


def sealed(fields):
    body = json.dumps(fields).encode()
    return body + b"\n" + xxhash.xxh3_64_hexdigest(body).encode() + b"\n"


def test_a_commit_is_read_and_replaces_the_one_before(tmp_path):
    assert manifest.read(tmp_path) is None
    manifest.commit(tmp_path, manifest.Manifest(1, "/golden", (), "b"))
    manifest.commit(tmp_path, MANIFEST)
    assert manifest.read(tmp_path) == MANIFEST
    assert [path.name for path in tmp_path.iterdir()] == [layout.CURRENT]


def test_a_later_format_is_said_to_be_one_however_it_is_checked(tmp_path):
    later = layout.FORMAT + 1
    (tmp_path / layout.CURRENT).write_bytes(b'{"format": %d, "seal": "new"}\nand more\n' % later)
    with pytest.raises(errors.FormatTooNew, match=f"format {later}"):
        manifest.read(tmp_path)


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"{", b"[]", b"7", b"null", b"\xff", sealed({}), sealed({"format": "x"}),
     sealed({"format": layout.FORMAT}),
     sealed({"format": layout.FORMAT, "segments": [{}]}), sealed({"format": None})],
    ids=repr,
)  # fmt: skip
def test_what_no_commit_wrote_is_corrupt(tmp_path, data):
    (tmp_path / layout.CURRENT).write_bytes(data)
    with pytest.raises(errors.IndexCorrupt):
        manifest.read(tmp_path)


@given(st.data())
def test_no_flipped_byte_is_believed(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp() / "flipped"
    folder.mkdir(exist_ok=True)
    manifest.commit(folder, MANIFEST)
    whole = bytearray((folder / layout.CURRENT).read_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    (folder / layout.CURRENT).write_bytes(whole)
    try:
        # One newline at the end more or less does not matter.
        assert manifest.read(folder) == MANIFEST
        assert at == len(whole) - 1
    except (errors.IndexCorrupt, errors.FormatTooNew):
        pass


def test_a_sweep_removes_what_no_generation_needs(tmp_path):
    for name in ("a", "b", "old", "left.partial"):
        (tmp_path / layout.SEGMENTS / name).mkdir(parents=True)
        (tmp_path / layout.SEGMENTS / name / "file").write_text("x")
    manifest.sweep(tmp_path, MANIFEST)
    assert sorted(path.name for path in (tmp_path / layout.SEGMENTS).iterdir()) == ["a", "b"]
    manifest.sweep(tmp_path / "nothing", MANIFEST)
