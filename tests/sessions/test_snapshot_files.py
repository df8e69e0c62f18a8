"""Documents of every kind, changed at random: each is refused in one way, or makes sense.

`TRISEEK_FUZZED_DOCUMENTS` says how many the slow test takes.
"""

from __future__ import annotations

import json
import os
import random

import pytest

from tests.sessions.mutations import mutated
from tests.sessions.snapshots import Kept
from triseek.errors import PackRejected
from triseek.model.session import NUMBER_MAX, LogEntry, Session, is_id, is_tellable
from triseek.model.snapshot import (
    PATH_MAX,
    SCORE_MAX,
    TEXT_MAX,
    GitState,
    Pin,
    SnapshotManifest,
    WorkingSet,
    inner_path,
)
from triseek.sessions import brief, hydration, signing, snapshot_files
from triseek.sessions.action_log import ActionLog
from triseek.sessions.lifecycle import Sessions
from triseek.sessions.snapshot import diff

DOCUMENTS, DOCUMENTS_SLOW = 4_000, int(os.environ.get("TRISEEK_FUZZED_DOCUMENTS", "100000"))
NAMES = snapshot_files.REQUIRED


@pytest.fixture
def good(tmp_path):
    """The files of a snapshot, with something in every list."""
    kept = Kept(tmp_path / "made")
    kept.sessions.record("mine", "read", {"path": "src/a.py", "sha": "a" * 64, "line_start": 1})
    arguments = {"query": "needle", "limit": 3, "nested": {"a": [1.5, None]}}
    kept.sessions.record("mine", "search", {"tool": "search_content", "arguments": arguments})
    _, folder = kept.create()
    return snapshot_files.read_files(folder)[1]


def read(good, name, held):
    """The snapshot with this document in it; None if it is refused in the one way there is."""
    try:
        return snapshot_files.read({**good, name: held}.get)
    except ValueError as error:
        [line] = str(error).splitlines()
        assert 0 < len(line) < 300, line
        return None


def again(kind, value):
    """What is read of what is written of a value."""
    return kind.read(json.loads(json.dumps(value.document(), allow_nan=False)))


def makes_sense(snapshot):
    """Every part within bounds, and the same when it was written and read once more."""
    manifest = snapshot.manifest
    assert again(SnapshotManifest, manifest) == manifest
    assert is_id(manifest.snapshot_id)
    assert is_id(manifest.session_id)
    assert manifest.repo_root.startswith("/")
    for number in (manifest.created_at, manifest.generation, manifest.action_log_omitted):
        assert type(number) is int
        assert 0 <= number <= NUMBER_MAX
    assert len(manifest.goal) <= TEXT_MAX

    work = snapshot.working_set
    assert again(WorkingSet, work) == work
    for path in (*(f.path for f in work.files_read), *(p for p, _ in work.frecency_top_n)):
        assert inner_path(path) == path
        assert len(path) <= PATH_MAX
    assert all(is_tellable(run.arguments) for run in work.searches_run)
    assert all(0 <= score <= SCORE_MAX for _, score in work.frecency_top_n)

    assert again(GitState, snapshot.git) == snapshot.git
    assert all(again(Pin, pin) == pin for pin in snapshot.pins)
    for entry in snapshot.entries:
        assert again(LogEntry, entry) == entry
        assert 0 <= entry.entry_id <= NUMBER_MAX
        assert 0 <= entry.ts <= NUMBER_MAX


def is_usable(snapshot):
    """What is read in can be told, briefed, compared and resumed."""
    json.dumps(snapshot.document(), allow_nan=False).encode("ascii")
    brief.template(snapshot).encode("utf-8")
    since = hydration.Drift(commit="c", branch="b", dirty=["a.py"], commits=3)
    hydration.payload(snapshot, since, []).text.encode("utf-8")
    diff(snapshot, snapshot)


def fuzz(good, tmp_path, count):
    chance = random.Random(61)
    before = sorted(tmp_path.rglob("*"))
    taken = 0
    for number in range(count):
        name = NAMES[number % len(NAMES)]
        held = good[name]
        if name == snapshot_files.LOG:
            lines = held.splitlines()
            at = chance.randrange(len(lines))
            lines[at] = mutated(lines[at], chance)
            held = b"\n".join(lines) + b"\n"
        else:
            held = mutated(held, chance)
        snapshot = read(good, name, held)
        if snapshot is not None:
            makes_sense(snapshot)
            taken += 1
            if taken % 7 == 0:
                is_usable(snapshot)
    assert sorted(tmp_path.rglob("*")) == before
    # A share stays valid: fields that are not ours, other numbers, other texts.
    print(f"\n{count} documents, {taken} of them make sense")
    assert count // 20 < taken < count // 2


def test_a_fuzzed_document_is_refused_or_makes_sense(good, tmp_path):
    fuzz(good, tmp_path, DOCUMENTS)


@pytest.mark.slow
def test_a_hundred_thousand_fuzzed_documents_are_refused_or_make_sense(good, tmp_path):
    fuzz(good, tmp_path, DOCUMENTS_SLOW)


def test_what_was_not_changed_makes_sense(good):
    snapshot = snapshot_files.read(good.get)
    makes_sense(snapshot)
    is_usable(snapshot)


def test_a_fuzzed_signature_is_refused(tmp_path):
    keys = tmp_path / "keys"
    sums = b"00  manifest.json\n"
    good, chance = signing.sign(sums, keys), random.Random(62)
    trusted = signing.trusted(keys)
    body = json.loads(good)
    for _ in range(2_000):
        held = mutated(good, chance)
        try:
            signing.verify(sums, held, trusted)
        except PackRejected:
            continue
        told = json.loads(held)
        assert told["signature"].lower().split() == body["signature"].split()
        assert told["public_key"].lower().split() == body["public_key"].split()


def test_a_fuzzed_index_loses_no_session(tmp_path):
    """What it would have said is in the logs."""
    sessions = Sessions(tmp_path / "sessions")
    for name in ("one", "two"):
        sessions.open("/repo", "goal", name)
    last = sessions.record("two", "read", {})
    index, chance = tmp_path / "sessions" / "sessions.json", random.Random(63)
    good = index.read_bytes()
    for _ in range(500):
        index.write_bytes(mutated(good, chance))
        again_ = Sessions(tmp_path / "sessions")
        assert {again_.get(name).session_id for name in ("one", "two")} == {"one", "two"}
        number = again_.record("one", "read", {})
        assert last < number <= NUMBER_MAX
        last = number
        for kept in again_.all("/repo"):
            assert Session.read(json.loads(json.dumps(kept.document()))) == kept


def test_fuzzed_lines_of_a_log_are_passed_over_or_make_sense(good, tmp_path):
    lines, chance = good[snapshot_files.LOG].splitlines(), random.Random(64)
    log = ActionLog(tmp_path / "log")
    log.path.parent.mkdir()
    hostile = [mutated(chance.choice(lines), chance) for _ in range(3_000)]
    log.path.write_bytes(b"\n".join([*hostile, lines[0], b""]))
    found = list(log)
    assert all(again(LogEntry, entry) == entry for entry in found)
    assert found[-1] == LogEntry.read(json.loads(lines[0]))
    assert log.last_id() == found[-1].entry_id


def test_files_without_secrets_are_redacted_to_themselves(good):
    assert snapshot_files.redacted(good) == good


def test_a_snippet_without_its_secret_has_another_name(good):
    key = "AKIA" + "Q7" * 8
    [pin, *_] = json.loads(good[snapshot_files.PINS])["entries"]
    text = f"use {key}".encode()
    sha = snapshot_files.sha(text)
    files = {name: content for name, content in good.items() if pin["sha"] not in name}
    files[f"{snapshot_files.SNIPPETS}/{sha}.txt"] = text
    files[snapshot_files.PINS] = good[snapshot_files.PINS].replace(
        pin["sha"].encode(), sha.encode()
    )
    files[snapshot_files.LOG] = good[snapshot_files.LOG].replace(b"needle", key.encode()) + b'{"to'

    redacted = snapshot_files.redacted(files)
    snapshot = snapshot_files.read(redacted.get)

    assert [snapshot.snippets[pin.sha] for pin in snapshot.pins] == ["use [redacted: aws-key]"]
    assert snapshot.entries[-1].payload["arguments"]["query"] == "[redacted: aws-key]"
    assert not any(key.encode() in content for content in redacted.values())
