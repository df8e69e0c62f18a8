"""Hostile packs given to `triseek pack import`: a line that says why, and nothing is written."""

from __future__ import annotations

import functools
import gzip
import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.running import triseek
from tests.sessions.hostile_packs import FAMILIES, changed, listed, packed, placed, tar
from tests.sessions.snapshots import Kept
from triseek import paths
from triseek.sessions import hydration, signing
from triseek.sessions.snapshot import Snapshots


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


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path_factory.mktemp("own-state")))


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
        source_harness=evil, repo_branch=evil, triseek_version=evil,
        repo_dirty_files=[evil],
    )  # fmt: skip
    said = imported(tmp_path, packed(files))
    assert said.status == 0, said.err
    name = said.out.decode().strip()

    verbs = (
        ["snapshot", "list"], ["snapshot", "list", "--all"], ["snapshot", "show", name],
        ["pack", "export", name], ["brief", name], ["snapshot", "diff", name, name],
        ["snapshot", "list", "--all", "--json"], ["snapshot", "show", name, "--json"],
        ["replay", name], ["audit", "--snapshot", name], ["audit", "--snapshot", name, "--json"],
        ["brief", name, "--print"], ["snapshot", "show", evil], ["session", "show", evil],
        ["pack", "import", evil], ["find-files", "x", "--repo", evil], ["update", evil],
        ["audit", "--since", evil], ["build", evil], ["index-status", evil],
    )  # fmt: skip
    shown = [said, *(triseek(words, tmp_path, terminal=True) for words in verbs)]
    assert name in shown[3].out.decode()
    assert json.loads(shown[7].out)["snapshots"][0]["goal"] == evil
    assert json.loads(shown[8].out)["snapshot"]["manifest"]["source_model"] == evil
    for each in shown:
        text = each.out.decode() + each.err
        assert not {"\x1b", "\x07", "\r", "\u202e", "\x9b"} & set(text), text


# Any field, any value

TEXTS = st.sampled_from(
    ["", "\ud800", "a\udc80b", "\0", "--output=/tmp/x", "../../etc/passwd", "/", "/../../etc",
     "/a//b", "/a/./b", "//host/share", "a/../b", "a/",
     "\x1b[2J", "\u202e", "\x9b", "\n\n", "x" * 65_537,
     "é" * 5_000, "a" * 40, "A" * 40, "a" * 64, ".partial", "sessions.json", "NaN"]
)  # fmt: skip
NUMBERS = st.sampled_from([0, -1, 1 << 63, (1 << 63) - 1, 1e400, 1.5, True, 10**400])
DEEP = st.integers(2, 60).map(lambda depth: functools.reduce(lambda held, _: [held], range(depth)))
VALUES = st.one_of(
    TEXTS, NUMBERS, st.none(), DEEP, st.lists(TEXTS, max_size=2),
    st.dictionaries(TEXTS, TEXTS, max_size=2), st.just({}), st.just([[]]), st.just([{}]),
)  # fmt: skip
DOCUMENTS = (
    "manifest.json", "working_set.json", "git_state.json", "pinned_snippets.json",
    "action_log.jsonl",
)  # fmt: skip


def places(body, path=()):
    """The way to each value of a document."""
    inner = body.items() if isinstance(body, dict) else enumerate(body)
    for key, value in inner:
        yield (*path, key)
        if isinstance(value, (dict, list)):
            yield from places(value, (*path, key))


@given(st.data())
@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_any_field_of_any_value_is_refused_in_a_line_or_harms_nothing(good, tmp_path_factory, data):
    name = data.draw(st.sampled_from(DOCUMENTS))
    body = json.loads(good[name].splitlines()[0] if name.endswith("l") else good[name])
    path = data.draw(st.sampled_from([*places(body), ("later",)]))
    held = functools.reduce(lambda held, key: held[key], path[:-1], body)
    held[path[-1]] = data.draw(VALUES)
    files = {**good, name: json.dumps(body).encode() + b"\n"}
    here = tmp_path_factory.mktemp("any")

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRISEEK_HOME", str(here / "state"))
        said = imported(here, packed(files))
        if said.status:
            assert said.status == 2, said
            [reason] = said.err.splitlines()
            assert reason.startswith("triseek: given.tcp: ")
            assert reason.isprintable()
            assert len(reason) < 400
            return
        taken = said.out.decode().strip()
        for words in (
            ["snapshot", "list", "--all"], ["snapshot", "list", "--all", "--json"],
            ["snapshot", "show", taken], ["snapshot", "show", taken, "--json"],
            ["snapshot", "diff", taken, taken], ["replay", taken], ["replay", taken, "--json"],
            ["audit", "--snapshot", taken, "--json"], ["pack", "export", taken],
        ):  # fmt: skip
            shown = triseek(words, here, terminal=True)
            assert shown.status in (0, 1), (words, shown)
            assert "bug" not in shown.err
        store = Snapshots(paths.snapshots())
        snapshot = store.get(taken)
        hydration.payload(snapshot, hydration.Drift(None, None, [], None), [], 4_000)
        encodable = json.dumps(snapshot.document(), ensure_ascii=False)
        assert encodable.encode()


@pytest.mark.parametrize(
    ("name", "held", "field"),
    [
        ("action_log.jsonl", bytes(11 << 20), "line 1"),
        ("action_log.jsonl", b'{"a":' * 200_000, "line 1"),
        ("action_log.jsonl", b'{"a":' * 20_000, "line 1"),
        ("briefing.md", b"\xff\xfe", "not UTF-8"),
        ("checksums.txt", None, "checksums.txt"),
    ],
)
def test_a_file_of_rubbish_is_refused_by_name(good, tmp_path, name, held, field):
    files = dict(good) if held is None else {**good, name: held}
    parts = dict(listed(files))
    if held is None:
        parts[name] = parts[name].replace(b"\n", b"\r\n")
    said = imported(tmp_path, gzip.compress(tar(placed(parts)), 1))

    assert said.status == 2
    assert name in said.err
    assert field in said.err


@pytest.mark.parametrize(
    ("document", "fields"),
    [
        ("manifest.json", {"goal": "\ud800"}),
        ("manifest.json", {"repo_branch": "\udc80"}),
        ("manifest.json", {"repo_dirty_files": ["../../etc/passwd"]}),
        ("manifest.json", {"repo_root": "/../../etc"}),
        ("manifest.json", {"repo_commit": "--output=/tmp/x"}),
        ("manifest.json", {"repo_root": "/a\0"}),
        ("git_state.json", {"dirty_files": ["/etc/passwd"]}),
        ("git_state.json", {"hunk_summary": {"../x": 1}}),
        ("git_state.json", {"commit": "HEAD"}),
    ],
)
def test_the_field_at_fault_is_named(good, tmp_path, document, fields):
    said = imported(tmp_path, packed(changed(good, document, **fields)))

    assert said.status == 2
    assert f"{document}: {next(iter(fields))}" in said.err
    assert not Path(paths.snapshots()).exists()


# What is here already


def test_a_damaged_snapshot_is_shown_and_hides_no_other(good, tmp_path):
    """Taken in by an earlier version, or damaged since."""
    taken = imported(tmp_path, packed(good)).out.decode().strip()
    there = Path(paths.snapshots())
    manifest = json.loads((there / taken / "manifest.json").read_bytes())
    strange = {**manifest, "snapshot_id": "strange", "goal": "\ud800\x9b", "repo_branch": "\udcff"}
    bad = {
        "cut-short": b'{"schema_ver', "no-manifest": None, "of-another-name": json.dumps(manifest),
        "no-object": b"[]", "strange": json.dumps(strange),
        "of-the-future": b'{"schema_version": 9}',
    }  # fmt: skip
    for name, held in bad.items():
        (there / name).mkdir()
        if held is not None:
            held = held if isinstance(held, bytes) else held.encode()
            (there / name / "manifest.json").write_bytes(held)

    said = triseek(["snapshot", "list", "--all"], tmp_path)
    told = triseek(["snapshot", "list", "--all", "--json"], tmp_path)

    assert (said.status, told.status) == (0, 0)
    lines = {line.split()[0]: line for line in said.out.decode().splitlines()}
    assert set(lines) == {taken, *bad}
    assert {name for name, line in lines.items() if " damaged: " in line} == set(bad) - {"strange"}
    document = json.loads(told.out)
    assert {one["snapshot_id"] for one in document["snapshots"]} == {taken, "strange"}
    assert {one["snapshot_id"] for one in document["damaged"]} == set(bad) - {"strange"}
    assert all(one["reason"] for one in document["damaged"])
