"""A pack carries a snapshot whole; what is anything else leaves nothing behind."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sessions.snapshots import Kept, packed
from triseek.errors import PackRejected
from triseek.sessions import pack
from triseek.sessions.snapshot import Snapshots

ROOT = Path(__file__).parents[2]


@pytest.fixture
def kept(tmp_path):
    return Kept(tmp_path)


@pytest.fixture
def good(kept, tmp_path):
    """A pack, and its files."""
    kept.sessions.record("mine", "read", {"path": "src/a.py"})
    _, folder = kept.create()
    target = tmp_path / "handoff.tcp"
    pack.export(folder, target)
    return target, read_tar(target)


def read_tar(target):
    with tarfile.open(target) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar if m.isreg()}


def listing(files):
    lines = [f"{hashlib.sha256(held).hexdigest()}  {name}\n" for name, held in files.items()]
    return "".join(lines).encode()


def repacked(files, **changes):
    """A pack of these files with sums that are right."""
    inner = {name.partition("/")[2]: held for name, held in files.items()}
    inner.pop("checksums.txt")
    for name, held in changes.items():
        inner[name.replace("__", "/").replace("_json", ".json")] = held
    inner["checksums.txt"] = listing(inner)
    return packed([(f"root/{name}", held) for name, held in inner.items()])


def rejected(kept, tmp_path, held):
    """The reason why a pack is refused; nothing may have been written."""
    source = tmp_path / "hostile.tcp"
    source.write_bytes(held)
    before = sorted(path for path in tmp_path.rglob("*"))
    with pytest.raises(PackRejected) as caught:
        kept.snapshots.take_in(pack.unpack(source))
    assert sorted(path for path in tmp_path.rglob("*")) == before
    return str(caught.value)


def test_a_pack_is_laid_out_as_the_reference_has_it(good):
    _, files = good
    folder = "snap_1777803396_mine"
    names = sorted(name.removeprefix(f"{folder}/") for name in files)
    assert [name for name in names if "/" not in name] == [
        "action_log.jsonl", "checksums.txt", "git_state.json", "manifest.json",
        "pinned_snippets.json", "working_set.json",
    ]  # fmt: skip
    inner = {name.partition("/")[2]: held for name, held in files.items()}
    sums = inner.pop("checksums.txt").decode().splitlines()
    assert sums == [
        f"{hashlib.sha256(inner[name]).hexdigest()}  {name}" for name in sorted(inner)
    ]  # fmt: skip


def test_what_is_taken_in_is_what_was_given_out(kept, good, tmp_path):
    other = Kept(tmp_path / "other")
    manifest = other.snapshots.take_in(pack.unpack(good[0]))

    assert manifest == kept.snapshots.all()[0]
    assert other.snapshots.get(manifest.snapshot_id) == kept.snapshots.get(manifest.snapshot_id)
    again = tmp_path / "again.tcp"
    pack.export(other.snapshots.folder(manifest.snapshot_id), again)
    assert again.read_bytes() == good[0].read_bytes()


def test_where_the_id_is_taken_it_gets_a_number(kept, good):
    manifest = kept.snapshots.take_in(pack.unpack(good[0]))
    assert manifest.snapshot_id == "snap_1777803396_mine-1"
    assert kept.snapshots.get(manifest.snapshot_id).manifest == manifest


def test_files_without_a_folder_are_taken_too(kept, good, tmp_path):
    source = tmp_path / "old.tcp"
    source.write_bytes(packed([(n.partition("/")[2], h) for n, h in good[1].items()]))
    assert kept.snapshots.take_in(pack.unpack(source)).session_id == "mine"


def member(name, kind, linkname=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, linkname
    return info


@pytest.mark.parametrize(
    "spare",
    [
        "../evil.json", "/etc/evil", "root/../manifest.json", "root/evil.sh",
        "root/x/manifest.json",
        "root/pinned_snippets/../../evil", "root/pinned_snippets/evil.txt", "other/git_state.json",
        "./manifest.json", "root//manifest.json", "root/manifest.json\0x",
    ],
)  # fmt: skip
def test_a_file_that_does_not_belong_there_is_refused(kept, good, tmp_path, spare):
    rejected(kept, tmp_path, packed([*good[1].items(), (spare, b"x")]))


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
)
def test_only_regular_files_are_taken(kept, good, tmp_path, kind):
    link = member("root/briefing.md", kind, "/etc/passwd")
    assert "no regular file" in rejected(kept, tmp_path, packed([*good[1].items(), (link, b"")]))


def test_a_name_twice_is_refused(kept, good, tmp_path):
    first = next(iter(good[1].items()))
    assert "twice" in rejected(kept, tmp_path, packed([*good[1].items(), first]))


def test_sums_must_be_right_and_complete(kept, good, tmp_path):
    _, files = good
    sums = next(name for name in files if name.endswith("checksums.txt"))
    for name, held in files.items():
        changed = {**files, name: held + b" "}
        rejected(kept, tmp_path, packed(changed.items()))
        rejected(kept, tmp_path, packed((n, h) for n, h in files.items() if n != name))
    lines = files[sums].splitlines(keepends=True)
    for number in range(len(lines)):
        fewer = b"".join(lines[:number] + lines[number + 1 :])
        assert "not listed" in rejected(kept, tmp_path, packed({**files, sums: fewer}.items()))
    for more in (lines[0], b"0" * 64 + b"  ../x\n", b"\xff\n", b"0" * 64 + b"  briefing.md\n"):
        rejected(kept, tmp_path, packed({**files, sums: files[sums] + more}.items()))


@pytest.mark.parametrize(
    "changed",
    [
        {"schema_version": 2}, {"schema_version": "1"}, {"schema_version": True},
        {"snapshot_id": "../../x"}, {"snapshot_id": ""}, {"session_id": "a/b"}, {"repo_root": "x"},
        {"session_id": "another"}, {"created_at": -1}, {"repo_dirty_files": None},
        {"generation": 1e9}, {"created_at": float("inf")},
    ],
)  # fmt: skip
def test_a_manifest_that_makes_no_sense_is_refused(kept, good, tmp_path, changed):
    body = next(json.loads(held) for name, held in good[1].items() if "manifest" in name)
    held = json.dumps({**body, **changed}).encode()
    rejected(kept, tmp_path, repacked(good[1], manifest_json=held))


@pytest.mark.parametrize("name", ["working_set_json", "git_state_json", "pinned_snippets_json"])
@pytest.mark.parametrize(
    "held", [b"", b"{}", b"[]", b"\xff", b"[" * 100_000, b'{"schema_version":2}']
)
def test_other_documents_are_read_as_strictly(kept, good, tmp_path, name, held):
    rejected(kept, tmp_path, repacked(good[1], **{name: held}))


def test_a_snippet_nobody_quotes_is_refused(kept, good, tmp_path):
    held = b"spare"
    name = f"pinned_snippets__{hashlib.sha256(held).hexdigest()}.txt"
    assert "no pinned snippet" in rejected(kept, tmp_path, repacked(good[1], **{name: held}))


def test_bombs_are_not_unpacked(kept, good, tmp_path, monkeypatch):
    monkeypatch.setattr(pack, "TOTAL_MAX", 1 << 20)
    monkeypatch.setattr(pack, "MEMBERS_MAX", 50)
    bomb = packed([("root/briefing.md", bytes(4 << 20))])
    assert len(bomb) < 20_000
    assert "too large" in rejected(kept, tmp_path, bomb)
    tail = gzip.compress(gzip.decompress(packed(good[1].items())) + bytes(4 << 20))
    assert "unpacks to more than" in rejected(kept, tmp_path, tail)
    many = packed([(f"root/pinned_snippets/{n:064x}.txt", b"") for n in range(60)])
    assert "more than 50 files" in rejected(kept, tmp_path, many)
    folders = packed([(member(f"root{'/' * (n % 2)}", tarfile.DIRTYPE), b"") for n in range(60)])
    assert "more than 50 files" in rejected(kept, tmp_path, folders)


def test_what_is_no_archive_is_refused(kept, tmp_path, good):
    whole = good[0].read_bytes()
    for held in (
        b"",
        b"x" * 100,
        whole[: len(whole) // 2],
        gzip.compress(b"x" * 2000),
        b"\x1f\x8b",
    ):
        rejected(kept, tmp_path, held)
    with pytest.raises(PackRejected):
        pack.unpack(tmp_path)
    with pytest.raises(PackRejected):
        pack.unpack(tmp_path / "none.tcp")


@given(st.data())
def test_a_pack_with_any_byte_changed_is_refused_or_the_same(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("pack")
    kept = Kept(folder)
    target = folder / "a.tcp"
    pack.export(kept.create()[1], target)
    tar = bytearray(gzip.decompress(target.read_bytes()))
    for _ in range(data.draw(st.integers(1, 3))):
        tar[data.draw(st.integers(0, len(tar) - 1))] = data.draw(st.integers(0, 255))
    source = folder / "b.tcp"
    source.write_bytes(gzip.compress(bytes(tar), 1))
    try:
        unpacked = pack.unpack(source)
    except PackRejected:
        return
    assert unpacked.snapshot == pack.unpack(target).snapshot


def test_sparse_and_long_names_are_no_way_round(kept, good, tmp_path):
    info = tarfile.TarInfo("root/briefing.md")
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.PAX_FORMAT) as tar:
        info.pax_headers = {"path": "../../" + "x" * 300, "size": "4"}
        tar.addfile(info)
    rejected(kept, tmp_path, gzip.compress(held.getvalue()))


def test_of_many_that_take_it_in_at_once_each_gets_a_name(good, tmp_path):
    """By processes, that see each other's folders only once they are there."""
    code = (
        "import sys\n"
        "from triseek.sessions import pack\n"
        "from triseek.sessions.snapshot import Snapshots\n"
        "unpacked = pack.unpack(sys.argv[2])\n"
        "sys.stdin.readline()\n"
        "for _ in range(6):\n"
        "    print(Snapshots(sys.argv[1]).take_in(unpacked).snapshot_id)\n"
    )
    state = tmp_path / "elsewhere"
    working = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(state), str(good[0])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
        )
        for _ in range(4)
    ]  # fmt: skip
    told = []
    for each in working:
        each.stdin.write("\n")
        each.stdin.flush()
    for each in working:
        out, _ = each.communicate(timeout=120)
        assert each.returncode == 0
        told += out.split()

    found = {one.snapshot_id for one in Snapshots(state).all()}
    assert len(told) == len(found) == 24
    assert set(told) == found == {path.name for path in state.iterdir()}
