"""Which mounts make events for every change, by what the kernel writes of them."""

from __future__ import annotations

import os
import sys

import pytest

from triseek.files import mounts
from triseek.files.mounts import Mount, below, mount_number, objection, obstacle, parse, read

LOCAL = rb"""22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
30 27 0:30 / /home rw shared:2 master:7 - btrfs /dev/sda1 rw,subvol=/home
31 27 0:31 / /mnt/my\040disk\134x rw - xfs /dev/sdb rw
32 27 0:32 / /home/u/repo/cache rw - tmpfs none rw
33 27 8:17 / /media/usb rw - fuseblk /dev/sdb1 rw
34 27 0:34 / / rw - overlay overlay rw,lowerdir=a
"""


def with_mount(kind: str, point: str = "/home/u/repo/far") -> list[Mount]:
    line = f"90 30 0:90 / {point} rw,nosuid shared:9 - {kind} server:/x rw\n"
    return parse(LOCAL + line.encode())


def test_a_line_is_read_with_its_escapes_and_optional_fields():
    mounts = parse(LOCAL)
    assert [mount.number for mount in mounts] == [22, 27, 30, 31, 32, 33, 34]
    assert mounts[2] == Mount(30, b"0:30", b"/", b"/home", "btrfs")
    assert mounts[3].point == b"/mnt/my disk\\x"


@pytest.mark.parametrize(
    "line", [b"", b"\n\n", b"27 1 254:0 / / rw", b"x 1 254:0 / / rw - ext4 a b", b"1 2 3 4 5 6 -"]
)
def test_a_line_that_makes_no_sense_is_left_out(line):
    assert parse(line) == []


def test_below_a_folder_is_neither_on_it_nor_beside_it():
    mounts = parse(LOCAL)
    assert [mount.number for mount in below(mounts, b"/home")] == [32]
    assert below(mounts, b"/home/u/repo/cache") == []
    assert below(mounts, b"/home/u/rep") == []
    assert {mount.number for mount in below(mounts, b"/")} == {22, 30, 31, 32, 33}


REMOTE = """nfs nfs4 cifs smb3 smbfs 9p drvfs virtiofs afs ceph fuse fuse.sshfs fuse.rclone vboxsf
lustre glusterfs ncpfs gfs2"""


@pytest.mark.parametrize("kind", [*REMOTE.split(), "autofs", "proc", "sysfs", "cgroup2"])
def test_what_others_change_is_an_obstacle_at_and_below_the_root(kind):
    mounts = with_mount(kind)
    for root, number in ((b"/home/u/repo", 30), (b"/home/u/repo/far/in", 90), (b"/home", 30)):
        reason = objection(mounts, root, number)
        assert kind in reason
        assert "\n" not in reason
    assert objection(mounts, b"/home/u/other", 30) == ""


@pytest.mark.parametrize(
    "kind", ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs", "fuseblk", "vfat", "nfsx", "f2fs"]
)
def test_a_local_disk_is_none(kind):
    assert objection(with_mount(kind), b"/home/u/repo", 30) == ""
    assert objection(with_mount(kind), b"/home/u/repo/far", 90) == ""


def test_a_mount_that_is_not_listed_is_an_obstacle():
    assert "not listed" in objection(parse(LOCAL), b"/home", 7)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_the_real_table_says_that_proc_is_virtual(tmp_path):
    assert mount_number(b"/proc") in [mount.number for mount in read()]
    assert "'/proc' is mounted from proc" in obstacle(b"/proc/self/")
    assert "'/proc' is mounted from proc" in obstacle(b"/")
    assert "No such file" in obstacle(os.fsencode(tmp_path / "nothing"))
    kinds = {mount.number: mount.kind for mount in read()}
    if kinds[mount_number(os.fsencode(tmp_path))] in ("ext4", "xfs", "btrfs", "tmpfs", "overlay"):
        assert obstacle(os.fsencode(tmp_path)) == ""


@pytest.mark.parametrize(
    ("path", "remote"),
    [
        (b"/", False), (b"/home", False), (b"/net/a", True), (b"/net", True), (b"/network", False),
        (b"/net/local/x", False), (b"/auto/x", True), (b"/net/local", False),
    ],
)  # fmt: skip
def test_the_nearest_mount_says_whether_a_path_is_on_a_server(monkeypatch, path, remote):
    table = [
        (b"/", "ext4"),
        (b"/net", "ext4"),
        (b"/net", "nfs"),
        (b"/net/local", "xfs"),
        (b"/auto", "autofs"),
    ]
    listed = [Mount(n, b"0:1", b"/", point, kind) for n, (point, kind) in enumerate(table)]
    monkeypatch.setattr(mounts, "read", lambda: listed)

    assert mounts.is_remote(path) is remote


def test_without_a_table_of_mounts_nothing_is_remote(monkeypatch):
    monkeypatch.setattr(mounts, "MOUNTINFO", "/nowhere")

    assert not mounts.is_remote(b"/net")
