"""500 packs that nobody should take, each a file given to the real import, and some that are good.

`TRISEEK_HOSTILE_PACKS` says how many the slow test takes.
"""

from __future__ import annotations

import gzip
import os
import random
import resource
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from tests.sessions import hostile_packs
from tests.sessions.hostile_packs import FAMILIES, ROOT, hostile, info, listed, placed, tar
from tests.sessions.snapshots import Kept
from triseek.errors import PackRejected
from triseek.sessions import pack, signing

PACKS, PACKS_SLOW = 76, int(os.environ.get("TRISEEK_HOSTILE_PACKS", "500"))
SEED = 6
SECONDS_MAX = 20.0
"""Of one import, on a machine that is shared; the largest take a tenth."""
MEMORY_MAX = 256 << 20
"""Of one import, as Python counts it."""


class Scene:
    """A state folder with a good snapshot in it, and things beside that must not be touched."""

    def __init__(self, folder):
        self.folder = folder
        self.kept = Kept(folder)
        for number in range(3):
            self.kept.sessions.record("mine", "read", {"path": f"f{number}", "n": 1.5})
        manifest, made = self.kept.create()
        self.good = {
            path.relative_to(made).as_posix(): path.read_bytes()
            for path in made.rglob("*")
            if path.is_file()
        }
        self.good["manifest.json"] = self.good["manifest.json"].replace(
            manifest.snapshot_id.encode(), ROOT.encode()
        )
        (folder / "evil").write_text("not to be touched")
        self.source = folder / "hostile.tcp"
        self.source.touch()

    def tree(self):
        """Everything there is, with what tells a change: kind, size, times, content."""
        found = {}
        for path in [self.folder, *self.folder.rglob("*")]:
            at = path.lstat()
            content = path.read_bytes() if path.is_file() and path != self.source else b""
            found[path] = (at.st_mode, at.st_size * path.is_file(), at.st_mtime_ns, content)
        found.pop(self.source)
        return found

    def write(self, held):
        self.source.write_bytes(held)

    def take_in(self):
        return self.kept.snapshots.take_in(pack.unpack(self.source))


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path / "scene")


def refused(scene, one):
    """Give a pack to the import; why it was refused, and how long that took."""
    scene.write(one.held)
    before = scene.tree()
    began = time.perf_counter()
    with pytest.raises(PackRejected) as caught:
        scene.take_in()
    seconds = time.perf_counter() - began
    assert scene.tree() == before, one.family
    [line] = str(caught.value).splitlines()
    assert line.isprintable(), line
    assert len(line) < 300 + len(str(scene.source))
    assert seconds < SECONDS_MAX, (one.family, seconds)
    return line.removeprefix(f"{scene.source}: "), seconds


def all_refused(scene, count):
    chance = random.Random(SEED)
    told = {}
    slowest = 0.0
    for number in range(count):
        one = hostile(scene.good, number, chance)
        reason, seconds = refused(scene, one)
        told.setdefault(one.family, set()).add(reason)
        slowest = max(slowest, seconds)
    assert len(told) == len(FAMILIES)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"\n{count} packs of {len(told)} families refused, for {len(set().union(*told.values()))} "
        f"reasons; slowest {slowest:.2f} s, peak memory of the process {grown} MiB"
    )


def test_what_is_hostile_is_refused_and_leaves_nothing_behind(scene):
    all_refused(scene, PACKS)


@pytest.mark.slow
def test_five_hundred_hostile_packs_are_refused(scene):
    all_refused(scene, PACKS_SLOW)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__.strip("_"))
def test_no_import_takes_much_memory(scene, family):
    chance = random.Random(SEED)
    scene.write(family(dict(scene.good), chance))
    tracemalloc.start()
    try:
        with pytest.raises(PackRejected):
            scene.take_in()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MEMORY_MAX, peak >> 20


def good_packs(files):
    """Packs of ours and of other tars' making, all of the same files."""
    whole = listed(files)
    folders = [(info(ROOT, type=b"5"), b""), (info(f"{ROOT}/pinned_snippets", type=b"5"), b"")]
    times = {"mtime": "1700000000.5", "SCHILY.dev": "7"}
    yield "ustar", gzip.compress(tar(placed(whole), 0))
    yield "gnu", gzip.compress(tar(placed(whole), 1))
    yield "pax", gzip.compress(tar(placed(whole), 2))
    yield "folders", gzip.compress(tar([*folders, *placed(whole)]))
    yield "no folder", gzip.compress(tar(list(whole.items())))
    yield "long folder, gnu", gzip.compress(tar(placed(whole, "x" * 100), 1))
    yield "long folder, pax", gzip.compress(tar(placed(whole, "x" * 100), 2))
    yield (
        "pax times",
        gzip.compress(
            tar(
                [(info(f"{ROOT}/{name}", pax_headers=times), held) for name, held in whole.items()],
                2,
            )
        ),
    )
    yield "other order", gzip.compress(tar(list(reversed(placed(whole)))))
    yield "a briefing", hostile_packs.packed({**files, "briefing.md": b"## Goal\n"})
    yield (
        "more fields",
        hostile_packs.packed(
            hostile_packs.changed(files, "manifest.json", new_field=[1, {"a": None}])
        ),
    )
    yield (
        "named gzip",
        subprocess.run(
            ["gzip", "-c"], input=tar(placed(whole)), capture_output=True, check=True
        ).stdout,
    )


def test_what_is_well_made_is_taken(scene):
    """Without it, the others could not fail."""
    taken = set()
    for name, held in good_packs(scene.good):
        scene.write(held)
        manifest = scene.take_in()
        taken.add(manifest.snapshot_id)
        found = scene.kept.snapshots.get(manifest.snapshot_id)
        assert found.manifest.session_id == "mine", name
        assert len(found.entries) == 4
        folder = scene.kept.snapshots.folder(manifest.snapshot_id)
        assert {path.stat().st_mode & 0o777 for path in folder.rglob("*.json")} == {0o600}
    assert len(taken) == 12
    assert f"{ROOT}-11" in taken


@pytest.mark.parametrize("options", [["--format=gnu"], ["--format=posix"], ["--format=ustar"]])
def test_what_tar_itself_packs_is_taken(scene, options, tmp_path):
    """Somebody looks into a pack, and packs it again."""
    folder = tmp_path / ROOT
    for name, held in listed(scene.good).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(held)
    subprocess.run(
        ["tar", "-C", tmp_path, *options, "-czf", scene.source, ROOT], check=True
    )  # fmt: skip
    assert scene.take_in().session_id == "mine"


def test_what_was_renamed_keeps_what_is_not_ours(scene):
    files = hostile_packs.changed(scene.good, "manifest.json", new_field={"a": 1})
    scene.write(hostile_packs.packed(files))
    scene.take_in()
    second = scene.take_in()

    assert second.snapshot_id == f"{ROOT}-1"
    held = (scene.kept.snapshots.folder(second.snapshot_id) / "manifest.json").read_text()
    assert '"new_field"' in held


def test_a_disk_that_is_full_leaves_nothing_behind(scene, monkeypatch):
    scene.write(hostile_packs.packed(scene.good))
    unpacked = pack.unpack(scene.source)
    before = set(scene.folder.rglob("*"))
    code = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))\n"
        "from triseek.errors import StateUnwritable\n"
        "from triseek.sessions import pack\n"
        "from triseek.sessions.snapshot import Snapshots\n"
        "try:\n"
        "    Snapshots(sys.argv[1]).take_in(pack.unpack(sys.argv[2]))\n"
        "except StateUnwritable as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(scene.folder / "state" / "snapshots"), str(scene.source)],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert "cannot write" in done.stdout
    assert set(scene.folder.rglob("*")) == before
    assert scene.kept.snapshots.take_in(unpacked).snapshot_id == ROOT


def signed(scene, keys):
    """A pack that is signed: its files, and its signature."""
    sums = hostile_packs.sums(scene.good)
    return {**listed(scene.good), "signature.json": signing.sign(sums, keys)}


def verified(scene, files, keys):
    scene.write(gzip.compress(tar(placed(files)), 1))
    unpacked = pack.unpack(scene.source)
    signing.verify(unpacked.checksums, unpacked.signature, signing.trusted(keys))
    return scene.kept.snapshots.take_in(unpacked)


def test_what_is_signed_is_taken_and_what_was_changed_is_not(scene, tmp_path):
    keys, foreign = tmp_path / "keys", tmp_path / "foreign"
    files = signed(scene, keys)
    assert verified(scene, files, keys).snapshot_id == ROOT

    other = hostile_packs.changed(scene.good, "manifest.json", goal="do something else")
    hostile_ones = [
        {**listed(other), "signature.json": files["signature.json"]},
        {**listed(scene.good)},
        signed(scene, foreign),
        {**files, "signature.json": b"{}"},
        {**files, "signature.json": files["signature.json"].replace(b"ed25519", b"none")},
        {**files, "signature.json": b"x" * 5_000},
        {**files, "checksums.txt": files["checksums.txt"].replace(b"\n", b"\r\n")},
        {**files, "checksums.txt": b"".join(reversed(files["checksums.txt"].splitlines(True)))},
    ]
    before = set((scene.folder / "state").rglob("*"))
    for each in hostile_ones:
        with pytest.raises(PackRejected):
            verified(scene, each, keys)
        assert set((scene.folder / "state").rglob("*")) == before
