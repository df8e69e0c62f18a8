"""Hostile packs given to `triseek pack import`: a line that says why, and nothing is written."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.cli.running import triseek
from tests.sessions.hostile_packs import FAMILIES, changed, listed, packed
from tests.sessions.snapshots import Kept
from triseek import paths
from triseek.sessions import signing


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The files of a pack that is taken."""
    kept = Kept(tmp_path_factory.mktemp("made"))
    kept.sessions.record("mine", "read", {"path": "a.py"})
    _, folder = kept.create()
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def tree(folder):
    return {
        path: (path.lstat().st_mode, path.lstat().st_mtime_ns)
        for path in Path(folder).rglob("*")
        if "kernels" not in path.parts
    }


def imported(tmp_path, held, *more):
    (tmp_path / "given.tcp").write_bytes(held)
    return triseek(["pack", "import", "given.tcp", *more], tmp_path)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__.strip("_"))
def test_what_is_hostile_is_refused_in_a_line(good, tmp_path, home, family):
    held = family(dict(good), random.Random(77))
    (tmp_path / "given.tcp").write_bytes(held)
    before = tree(tmp_path), tree(home)

    said = imported(tmp_path, held)
    assert said.status == 2
    assert said.out == b""
    reason, *rest = said.err.splitlines()
    assert reason.startswith("triseek: given.tcp: ")
    assert len(rest) <= 1
    assert all(line.isprintable() and len(line) < 400 for line in (reason, *rest))
    assert (tree(tmp_path).keys(), tree(home)) == (before[0].keys(), before[1])


def test_only_what_is_signed_by_somebody_trusted_is_taken_with_verify(
    good, home, tmp_path, monkeypatch
):
    monkeypatch.setenv("TRISEEK_HOME", str(home))  # others keep snapshots in the shared one
    plain = packed(good)
    sums = listed(good)["checksums.txt"]
    foreign = packed({**good}, (f"snap_1/{'signature.json'}", signing.sign(sums, tmp_path / "k")))
    for held, reason in ((plain, "not signed"), (foreign, "not a key you trust")):
        said = imported(tmp_path, held, "--verify")
        assert said.status == 2
        assert reason in said.err
        assert not Path(paths.snapshots()).exists()

    key = signing.public_key(tmp_path / "k")
    assert triseek(["pack", "trust", key], tmp_path).status == 0
    said = imported(tmp_path, foreign, "--verify")
    assert said.status == 0
    assert key in said.err


def test_what_a_pack_says_reaches_no_terminal_as_it_is(good, tmp_path):
    """A pack of somebody else's, with words for the terminal in it."""
    evil = "\x1b]0;evil\x07\x1b[2J\r\n\u202eEVIL\x9b"
    files = changed(
        good, "manifest.json", goal=evil, repo_root=f"/repo{evil}", source_model=evil,
        source_harness=evil, repo_branch=evil, repo_commit=evil, triseek_version=evil,
        repo_dirty_files=[evil],
    )  # fmt: skip
    said = imported(tmp_path, packed(files))
    assert said.status == 0, said.err
    name = said.out.decode().strip()

    verbs = (
        ["snapshot", "list"], ["snapshot", "list", "--all"], ["snapshot", "show", name],
        ["pack", "export", name], ["brief", name], ["snapshot", "diff", name, name],
    )  # fmt: skip
    shown = [said, *(triseek(words, tmp_path, terminal=True) for words in verbs)]
    assert name in shown[3].out.decode()
    for each in shown:
        text = each.out.decode() + each.err
        assert not {"\x1b", "\x07", "\r", "\u202e", "\x9b"} & set(text), text
