"""What is left behind in the folder of indexes is removed, and nothing else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.app.contexts import until
from tests.conftest import plant
from triseek import paths
from triseek.config import Settings
from triseek.daemon import open_roots
from triseek.daemon.open_roots import OpenRoots
from triseek.engine import leftovers
from triseek.engine.engine import Engine
from triseek.engine.reindex_process import write_index
from triseek.engine.roots import index_dir
from triseek.files import mounts
from triseek.index.build import build
from triseek.index.reader import IndexReader
from triseek.model.index import no_progress
from triseek.model.search import ScopeSpec
from triseek.store import layout, lock


@pytest.fixture
def indexed(tmp_path):
    """Make an indexed root of a name; return the root and its index folder."""

    def make(name, inside="work"):
        root = Path(os.path.realpath(tmp_path)) / inside / name
        root.mkdir(parents=True)
        plant(root, {f"{number}.txt": f"needle {number}\n" for number in range(20)})
        folder = index_dir(str(root))
        build(str(root), folder)
        return root, Path(folder)

    return make


def size(folder):
    """All bytes below a folder."""
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def test_the_index_of_a_root_that_is_gone_is_removed(indexed):
    (gone, gone_index), (_, kept_index) = indexed("gone"), indexed("kept")
    before = size(kept_index)
    shutil.rmtree(gone)
    leftovers.clean()

    assert not gone_index.exists()
    assert os.listdir(paths.indexes()) == [kept_index.name]
    assert size(kept_index) == before


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_whatever_is_in_the_place_of_a_root_keeps_its_index(indexed, kind):
    root, folder = indexed("root")
    shutil.rmtree(root)
    {"file": root.touch, "link": lambda: root.symlink_to("nowhere"), "folder": root.mkdir}[kind]()
    leftovers.clean()

    assert folder.exists()


def test_a_root_whose_parent_is_gone_too_may_be_on_a_volume_that_is_not_mounted(indexed):
    root, folder = indexed("root", inside="volume/deep")
    shutil.rmtree(root.parent)
    leftovers.clean()

    assert folder.exists()


@pytest.mark.parametrize("named", [True, False])
def test_a_parent_that_is_an_empty_mount_point_may_be_one_too(
    indexed, tmp_path, monkeypatch, named
):
    root, folder = indexed("root", inside="a volume")
    shutil.rmtree(root)
    point = str(root.parent).replace(" ", r"\040")
    (tmp_path / "fstab").write_text(f"# {root.parent}\n\nUUID=1 {point if named else '/'} ext4 x\n")
    monkeypatch.setattr(mounts, "FSTAB", str(tmp_path / "fstab"))
    leftovers.clean()

    assert folder.exists() == named


def test_a_mount_point_that_holds_something_is_mounted(indexed, tmp_path, monkeypatch):
    root, folder = indexed("root")
    shutil.rmtree(root)
    (root.parent / "other").touch()
    (tmp_path / "fstab").write_text(f"UUID=1 {root.parent} ext4 x\n")
    monkeypatch.setattr(mounts, "FSTAB", str(tmp_path / "fstab"))
    leftovers.clean()

    assert not folder.exists()


def test_a_root_on_a_server_is_not_looked_at(indexed, monkeypatch):
    root, folder = indexed("root")
    shutil.rmtree(root)
    remote = mounts.Mount(1, b"0:1", b"/", os.fsencode(root.parent), "nfs4")
    local = mounts.Mount(2, b"0:2", b"/", b"/", "ext4")
    monkeypatch.setattr(mounts, "read", lambda: [remote, local])
    leftovers.clean()
    assert folder.exists()

    monkeypatch.setattr(mounts, "read", lambda: [remote, local, remote._replace(kind="ext4")])
    leftovers.clean()
    assert not folder.exists()


def test_segments_and_files_that_a_killed_writer_left_are_removed(indexed):
    root, folder = indexed("root")
    before = size(folder)
    used = os.listdir(folder / layout.SEGMENTS)
    plant(folder, {
        "segments/0-1.partial/postings.npy": "x" * 1000, "segments/0-2/files.arrow": "x" * 1000,
        "CURRENT.123.partial": "x" * 1000,
    })  # fmt: skip
    leftovers.clean()

    assert size(folder) - before <= len("4194304\n")  # the lock names who held it last
    assert os.listdir(folder / layout.SEGMENTS) == used
    assert len(list(Engine(str(root), index_dir=str(folder)).list_files(ScopeSpec()))) == 20


def test_a_first_build_that_was_killed_leaves_nothing():
    folder = Path(paths.index_of("root-0123456789abcdef"))
    folder.mkdir(parents=True)
    plant(folder, {"lock": "1\n", "segments/0-1.partial/postings.npy": "x" * 1000})
    leftovers.clean()

    assert os.listdir(paths.indexes()) == []


def test_scores_without_an_index_are_kept():
    folder = Path(paths.index_of("root-0123456789abcdef"))
    folder.mkdir(parents=True)
    plant(folder, {"frecency.json": "{}", "segments/0-1.partial/postings.npy": "x"})
    leftovers.clean()

    assert sorted(os.listdir(folder)) == ["frecency.json", "lock"]


@pytest.mark.parametrize("name", leftovers.LOCKS)
def test_what_somebody_holds_is_left_alone(indexed, name):
    root, folder = indexed("gone")
    shutil.rmtree(root)
    with lock.writer(folder, name):
        leftovers.clean()
        assert (folder / layout.CURRENT).exists()
    leftovers.clean()

    assert not folder.exists()


def test_a_build_that_is_under_way_is_left_alone():
    folder = Path(paths.index_of("root-0123456789abcdef"))
    with lock.writer(folder):
        plant(folder, {"segments/0-1.partial/postings.npy": "x"})
        leftovers.clean()
        assert (folder / "segments/0-1.partial/postings.npy").exists()


@pytest.mark.parametrize("content", [b"broken", b'{"format": 1}\n', b'{"format": 99}\n', b""])
def test_an_index_that_cannot_be_read_is_left_alone(indexed, content):
    root, folder = indexed("root")
    shutil.rmtree(root)
    (folder / layout.CURRENT).write_bytes(content)
    plant(folder, {"segments/0-1.partial/postings.npy": "x"})
    leftovers.clean()

    assert (folder / layout.CURRENT).read_bytes() == content
    assert (folder / "segments/0-1.partial/postings.npy").exists()


def test_nothing_is_touched_that_is_not_named_as_triseek_names_it(indexed, tmp_path):
    root, folder = indexed("gone")
    shutil.rmtree(root)
    (tmp_path / "elsewhere").mkdir()
    plant(tmp_path / "elsewhere", {"segments/0-1/x": "x"})
    indexes = Path(paths.indexes())
    others = ["mine", "root-0123456789ABCDEF", "a-0123456789abcdef.bak", ".removed-1"]
    for name in others:
        shutil.copytree(folder, indexes / name)
    (indexes / "file-0123456789abcdef").touch()
    (indexes / "link-0123456789abcdef").symlink_to(tmp_path / "elsewhere")
    (indexes / "copy-0123456789abcdef").mkdir()
    shutil.copytree(folder, indexes / "copy-0123456789abcdef", dirs_exist_ok=True)
    leftovers.clean()

    assert sorted(os.listdir(indexes)) == sorted(
        [*others, "file-0123456789abcdef", "link-0123456789abcdef", "copy-0123456789abcdef"]
    )
    assert (tmp_path / "elsewhere/segments/0-1/x").exists()


def test_links_in_an_index_are_not_followed(indexed, tmp_path):
    root, folder = indexed("gone")
    shutil.rmtree(root)
    plant(tmp_path, {"elsewhere/precious": "x"})
    (folder / "segments/link").symlink_to(tmp_path / "elsewhere")
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    unfinished = Path(paths.index_of("root-0123456789abcdef"))
    unfinished.mkdir()
    (unfinished / "segments").symlink_to(tmp_path / "elsewhere")
    leftovers.clean()

    assert not folder.exists()
    assert (tmp_path / "elsewhere/precious").exists()


def test_a_removal_that_was_killed_is_finished():
    folder = Path(paths.indexes(), ".removed-0123456789abcdef")
    folder.mkdir(parents=True)
    plant(folder, {"segments/0-1/postings.npy": "x"})
    leftovers.clean()

    assert os.listdir(paths.indexes()) == []


def test_who_reads_an_index_that_is_removed_goes_on(indexed):
    root, folder = indexed("gone")
    reader = IndexReader.open(str(folder))
    shutil.rmtree(root)
    leftovers.clean()

    assert not folder.exists()
    reader.verify()
    assert len(reader.views[0].names.take(range(20))) == 20


def test_without_a_state_folder_there_is_nothing_to_do():
    leftovers.clean()
    leftovers.clean_cookies()

    assert not os.path.exists(paths.indexes())


def test_a_build_removes_what_is_left_of_other_roots(indexed):
    gone, gone_index = indexed("gone")
    shutil.rmtree(gone)
    root, folder = indexed("root")
    write_index(str(root), str(folder), "incremental", no_progress)

    assert not gone_index.exists()


def test_the_daemon_lets_go_of_a_root_that_is_gone_and_removes_its_bytes(indexed):
    root, _ = indexed("gone")
    jobs = OpenRoots(Settings())
    jobs.start()
    try:
        engine = jobs.service.engine(str(root))
        until(lambda: engine.watched)
        until(lambda: engine.frecency.owned)
        shutil.rmtree(root)
        jobs.clean()

        assert jobs.service.engines() == []
        assert size(paths.indexes()) == 0
    finally:
        jobs.close()


def test_the_daemon_cleans_by_itself(indexed, monkeypatch):
    monkeypatch.setattr(open_roots, "ROUND_S", 0.01)
    monkeypatch.setattr(open_roots, "CLEAN_FIRST_S", 0.0)
    root, folder = indexed("gone")
    shutil.rmtree(root)
    jobs = OpenRoots(Settings())
    jobs.start()
    try:
        until(lambda: not folder.exists())
    finally:
        jobs.close()


def test_folders_of_cookies_of_earlier_daemons_are_removed():
    cookies = Path(paths.daemon(), "cookies")
    own, earlier = f"root-0123456789abcdef.{os.getpid()}", "root-0123456789abcdef.1"
    for name in (own, earlier, "other"):
        (cookies / name).mkdir(parents=True)
    leftovers.clean_cookies()

    assert sorted(os.listdir(cookies)) == ["other", own]
