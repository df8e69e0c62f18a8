"""Whoever resumes is told what is still so and what is not, here or where the repository is now."""

from __future__ import annotations

import hashlib
import json
import os
import shutil

import pytest

from tests.app.worked import Worked, git
from tests.sessions.hostile_packs import packed
from triseek import paths
from triseek.engine.roots import index_dir
from triseek.errors import InvalidRequest
from triseek.index.build import build
from triseek.sessions import pack


@pytest.fixture
def worked(tmp_path):
    worked = Worked(tmp_path)
    worked.ask("session_open", goal="mend a", session_id="mine")
    for name in ("src/a.py", "src/b.py", "gone.py"):
        worked.act("read", path=name)
    yield worked
    worked.keeping.close()


def taken(worked, **more):
    return worked.ask("session_snapshot", **more)["snapshot_id"]


def test_only_files_that_are_as_they_were_are_primed(worked):
    name = taken(worked)
    (worked.path / "src/b.py").write_text("changed\n")
    (worked.path / "gone.py").unlink()
    told = worked.ask("session_resume", snapshot_id=name)

    report = told["hydration_report"]
    assert report["files_primed"] == 1
    assert sorted((one["path"], one["reason"]) for one in report["stale_files"]) == [
        ("gone.py", "missing"), ("src/b.py", "changed"),
    ]  # fmt: skip
    assert "`src/b.py`: changed" in told["payload_markdown"]
    assert told["session_id"] == "mine"
    assert told["payload_token_estimate"] == -(-len(told["payload_markdown"].encode()) // 4)


def test_a_file_that_was_never_hashed_is_not_believed(worked):
    (worked.path / "late.py").unlink(missing_ok=True)
    worked.act("edit", path="late.py")
    (worked.path / "late.py").write_text("x\n")
    told = worked.ask("session_resume", snapshot_id=taken(worked))
    assert {"path": "late.py", "reason": "unverified"} in told["hydration_report"]["stale_files"]


def test_a_link_that_leads_out_since_is_no_file_of_the_repository(worked, tmp_path):
    name = taken(worked)
    (tmp_path / "outside").write_text((worked.path / "src/b.py").read_text())
    (worked.path / "src/b.py").unlink()
    (worked.path / "src/b.py").symlink_to(tmp_path / "outside")
    told = worked.ask("session_resume", snapshot_id=name)
    assert {"path": "src/b.py", "reason": "missing"} in told["hydration_report"]["stale_files"]


def test_the_session_goes_on_and_its_log_says_so(worked):
    name = taken(worked)
    worked.ask("session_close", session_id="mine", status="resolved")
    assert worked.ask("session_resume", snapshot_id=name)["session_id"] == "mine"
    assert worked.ask("session_status")["session"]["status"] == "open"
    kind, payload = worked.entries("mine")[-1]
    assert (kind, payload["snapshot_id"], payload["harness"]) == ("session_resume", name, None)
    kinds = [entry.kind for entry in worked.keeping.sessions.log("mine")]
    assert kinds.count("session_open") == 1


def test_scores_are_taken_over_where_there_is_an_index(worked):
    build(worked.root, index_dir(worked.root))
    engine = worked.service.engine(worked.root, exact=True)
    assert engine.frecency.claim()
    engine.touch("select", [b"src/a.py"])
    name = taken(worked)
    engine.frecency._accounts.clear()
    told = worked.ask("session_resume", snapshot_id=name)
    assert told["hydration_report"]["frecency_entries_restored"] == 1
    assert engine.scores()[b"src/a.py"] > 2.9


def test_where_there_is_no_index_there_are_no_scores(worked):
    told = worked.ask("session_resume", snapshot_id=taken(worked))
    assert told["hydration_report"]["frecency_entries_restored"] == 0


def test_what_was_resumed_last_is_known_also_to_the_next_daemon(worked):
    worked.act("search", tool="search_content", arguments={"query": "x"}, search_id="search-0001")
    first, second = taken(worked), taken(worked)
    assert worked.ask("session_hydrated")["serial"] == 0
    worked.ask("session_resume", snapshot_id=first)
    one = worked.ask("session_hydrated")
    worked.ask("session_resume", snapshot_id=second)
    other = worked.ask("session_hydrated")

    assert (one["snapshot_id"], other["snapshot_id"]) == (first, second)
    assert 0 < one["serial"] < other["serial"]
    assert [run["query"] for run in other["searches"]] == ["x"]
    worked.keeping.close()
    worked.begin()
    assert worked.ask("session_hydrated") == other


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"roots": {"/x": 3}}', b"\xff"])
def test_a_damaged_list_of_resumes_is_as_good_as_none(worked, damage):
    worked.ask("session_resume", snapshot_id=taken(worked))
    worked.keeping.close()
    with open(os.path.join(paths.daemon(), "hydrated.json"), "wb") as file:
        file.write(damage)
    worked.begin()
    assert worked.ask("session_hydrated")["serial"] == 0
    worked.ask("session_resume", snapshot_id=taken(worked))
    assert worked.ask("session_hydrated")["serial"] > 0


def test_a_clone_elsewhere_is_recognised_and_what_differs_is_said(worked, tmp_path):
    name = taken(worked)
    git(tmp_path, "clone", "-q", str(worked.path), "clone")
    (tmp_path / "clone" / "src/a.py").write_text("later\n")
    git(tmp_path / "clone", "commit", "-qam", "later")
    told = worked.ask(
        "session_resume", snapshot_id=name, target_root=os.path.realpath(tmp_path / "clone")
    )
    report = told["hydration_report"]

    assert report["repo_root"] == os.path.realpath(tmp_path / "clone")
    assert report["files_primed"] == 2
    assert report["stale_files"] == [{"path": "src/a.py", "reason": "changed"}]
    assert any("was at" in sentence for sentence in report["differs"])
    assert not any("another repository" in sentence for sentence in report["differs"])
    assert "1 commits later" in told["payload_markdown"]
    assert told["session_id"] != "mine"  # which is the other place's
    listed = worked.ask("session_list", target_root=report["repo_root"])["sessions"]
    assert [one["session_id"] for one in listed] == [told["session_id"]]


def test_another_repository_is_told_from_a_clone(worked, tmp_path):
    name = taken(worked)
    shutil.copytree(worked.path, tmp_path / "other", ignore=shutil.ignore_patterns(".git"))
    git(tmp_path / "other", "init", "-qb", "work")
    git(tmp_path / "other", "add", "-A")
    git(tmp_path / "other", "commit", "-qm", "of its own", "--date", "2001-01-01T00:00:00")
    told = worked.ask(
        "session_resume", snapshot_id=name, target_root=os.path.realpath(tmp_path / "other")
    )
    assert "another repository" in told["hydration_report"]["differs"][0]
    assert "another repository" in told["payload_markdown"]


def test_one_that_is_not_there_is_named(worked):
    with pytest.raises(InvalidRequest, match="unknown snapshot_id `never`"):
        worked.ask("session_resume", snapshot_id="never")
    with pytest.raises(InvalidRequest, match="no id"):
        worked.ask("session_resume", snapshot_id="../mine")


def test_a_commit_from_outside_is_no_argument_of_gits(worked, tmp_path):
    name = taken(worked)
    manifest = os.path.join(paths.snapshots(), name, "manifest.json")
    with open(manifest, encoding="utf-8") as file:
        body = json.load(file)
    body["repo_commit"] = f"--output={tmp_path / 'written'}"
    with open(manifest, "w", encoding="utf-8") as file:
        json.dump(body, file)
    told = worked.ask("session_resume", snapshot_id=name)
    assert "commits later" not in told["payload_markdown"]
    assert not (tmp_path / "written").exists()


def primed_lines(worked, monkeypatch, name):
    """Lines that whoever resumes is said to have been shown, by file."""
    given = []
    prime = worked.memo.prime
    monkeypatch.setattr(
        worked.memo, "prime", lambda root, one: (given.append(one), prime(root, one))
    )
    worked.ask("session_resume", snapshot_id=name)
    [one] = given
    return {os.path.relpath(each.path, worked.root): each.in_payload for each in one.files}


PINNED = [{"path": "src/b.py", "line_start": 1, "line_end": 3}]


def test_lines_that_are_quoted_as_they_are_need_not_be_read(worked, monkeypatch):
    name = taken(worked, pinned_snippet_paths=PINNED)
    assert primed_lines(worked, monkeypatch, name)["src/b.py"] == ((1, 3),)


def test_a_quote_that_is_not_what_the_file_holds_spares_no_reading(worked, monkeypatch):
    """It was pinned while the file was another for a while."""
    held = (worked.path / "src/b.py").read_text()
    (worked.path / "src/b.py").write_text("one\nanother\nthree\n")
    name = taken(worked, pinned_snippet_paths=PINNED)
    (worked.path / "src/b.py").write_text(held)

    assert primed_lines(worked, monkeypatch, name)["src/b.py"] == ()


def test_a_pack_cannot_pass_off_its_words_as_a_file_s(worked, monkeypatch, tmp_path):
    """The hash of a public file is no secret; what a pack quotes of it may be a lie."""
    name = taken(worked, pinned_snippet_paths=PINNED)
    folder = worked.keeping.snapshots.folder(name)
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    [snippet] = [each for each in files if each.startswith("pinned_snippets/")]
    del files[snippet]
    lie = b"one\nTWO\nthree"
    digest = hashlib.sha256(lie).hexdigest()
    files[f"pinned_snippets/{digest}.txt"] = lie
    pins = json.loads(files["pinned_snippets.json"])
    pins["entries"][0]["sha"] = digest
    files["pinned_snippets.json"] = json.dumps(pins).encode()
    (tmp_path / "lie.tcp").write_bytes(packed(files))
    imported = worked.keeping.snapshots.take_in(pack.unpack(tmp_path / "lie.tcp"))

    assert primed_lines(worked, monkeypatch, imported.snapshot_id)["src/b.py"] == ()
