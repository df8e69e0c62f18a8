"""A snapshot holds what its session did, and nothing from outside of the repository."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess

import pytest

from tests.sessions import aftermath
from tests.sessions.snapshots import ABOUT, WORK, Kept
from triseek.errors import InvalidRequest
from triseek.files.containment import PathRefused
from triseek.model.snapshot import WorkingSet
from triseek.sessions import pack
from triseek.sessions.requests import PinnedLines
from triseek.sessions.snapshot import DIRTY_MAX, diff


@pytest.fixture
def kept(tmp_path):
    return Kept(tmp_path)


def test_its_files_are_those_of_the_reference(kept):
    kept.sessions.record("mine", "read", {"path": "src/a.py"})
    manifest, folder = kept.create()

    assert manifest.snapshot_id == "snap_1777803396_mine"
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    [snippet] = [name for name in names if name.startswith("pinned_snippets/")]
    assert names == {
        "manifest.json", "working_set.json", "action_log.jsonl", "pinned_snippets.json",
        "git_state.json", snippet,
    }  # fmt: skip
    assert (folder / snippet).read_text(encoding="utf-8") == "two é\nthree"
    [pin] = json.loads((folder / "pinned_snippets.json").read_text())["entries"]
    assert pin == {
        "path": "src/a.py", "line_start": 2, "line_end": 3, "sha": snippet[16:-4]
    }  # fmt: skip
    told = json.loads((folder / "manifest.json").read_text())
    assert {name: told[name] for name in ("session_id", "repo_commit", "generation", "goal")} == {
        "session_id": "mine", "repo_commit": "ab" * 20, "generation": 42,
        "goal": "Debug retry backoff config",
    }  # fmt: skip
    log = (folder / "action_log.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in log] == ["session_open", "read"]
    assert not list(folder.parent.glob("*.partial"))
    assert folder.stat().st_mode & 0o777 == 0o700


def test_it_is_read_as_it_was_written(kept):
    manifest, _ = kept.create()

    found = kept.snapshots.get(manifest.snapshot_id)
    assert found.manifest == manifest
    assert found.working_set == WORK
    assert found.document()["pinned_snippets"][0]["text"] == "two é\nthree"


def test_two_of_one_second_are_both_kept(kept):
    first, second = kept.create()[0], kept.create()[0]
    assert second.snapshot_id == f"{first.snapshot_id}-1"
    assert len(kept.snapshots.all()) == 2


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", "link", "src/../../outside", "a\0b"])
def test_what_lies_outside_the_repository_is_not_quoted(kept, path):
    (kept.root.parent / "outside").write_text("secret\n")
    os.symlink(kept.root.parent / "outside", kept.root / "link")

    with pytest.raises(PathRefused):
        kept.create(wanted=[PinnedLines(path=path, line_start=1, line_end=1)])
    assert kept.snapshots.all() == []


@pytest.mark.parametrize(("first", "last"), [(0, 1), (3, 2), (-1, 5), (99, 100)])
def test_lines_that_are_not_there_are_not_quoted(kept, first, last):
    with pytest.raises(InvalidRequest, match="cannot pin"):
        kept.create(wanted=[PinnedLines(path="src/a.py", line_start=first, line_end=last)])


def test_a_pipe_is_not_waited_for(kept):
    os.mkfifo(kept.root / "pipe")
    with pytest.raises(PathRefused, match="is a FIFO"):
        kept.create(wanted=[PinnedLines(path="pipe", line_start=1, line_end=1)])


def test_a_damaged_one_does_not_hide_the_others(kept):
    good = kept.create()[0]
    kept.now += 1
    _, damaged = kept.create()
    (damaged / "manifest.json").write_text('{"schema_version": 2}')

    assert kept.snapshots.all() == [good]
    with pytest.raises(InvalidRequest, match="unsupported schema version 2"):
        kept.snapshots.get(damaged.name)


@pytest.mark.parametrize("name", ["../sessions", "", ".", "a/b", "snap_none"])
def test_what_names_no_snapshot_is_said_so(kept, name):
    with pytest.raises(InvalidRequest):
        kept.snapshots.get(name)


def test_two_are_compared_by_what_they_hold(kept):
    a = kept.snapshots.get(kept.create()[0].snapshot_id)
    [file], [search] = WORK.files_read, WORK.searches_run

    work = WorkingSet(
        files_read=[
            dataclasses.replace(file, sha="b" * 64),
            dataclasses.replace(file, path="src/new.py"),
        ],
        searches_run=[dataclasses.replace(search, query="other", search_id="search-0009")],
        frecency_top_n=[],
    )
    b = kept.snapshots.get(kept.create(work)[0].snapshot_id)

    assert diff(a, b) == {
        "added_files": ["src/new.py"],
        "removed_files": [],
        "changed_files": ["src/a.py"],
        "added_searches": ["search-0009"],
        "removed_searches": ["search-0001"],
        "added_queries": ["other"],
        "removed_queries": ["needle"],
    }
    assert not any(diff(a, a).values())


def test_of_a_long_log_it_takes_the_newest(kept, monkeypatch):
    monkeypatch.setattr("triseek.sessions.snapshot.LOG_MAX", 2_000)
    for number in range(100):
        kept.sessions.record("mine", "read", {"path": f"f{number}"})
    manifest, folder = kept.create()

    lines = (folder / "action_log.jsonl").read_bytes().splitlines()
    assert 0 < len(lines) < 30
    assert manifest.action_log_omitted == 101 - len(lines)
    assert json.loads(lines[-1])["payload"]["path"] == "f99"


def test_of_a_tree_in_which_everything_changed_it_keeps_what_fits(kept, tmp_path):
    """A folder that git does not ignore, and a long day: what is written can be read."""
    paths = [f"node_modules/{'é' * 200}/{number}" for number in range(5_000)]
    git = dataclasses.replace(
        ABOUT.git, dirty_files=paths, hunk_summary=dict.fromkeys([*paths, "src/a.py"], 3)
    )
    [file], [search] = WORK.files_read, WORK.searches_run
    work = WorkingSet(
        files_read=[dataclasses.replace(file, path=f"{'ü' * 4_000}{n}") for n in range(500)],
        searches_run=[
            dataclasses.replace(search, arguments={"query": "x" * 60_000}) for _ in range(300)
        ],
        frecency_top_n=[(f"{'ü' * 4_000}{n}", 1.0) for n in range(50)],
    )
    manifest, folder = kept.create(work, about=ABOUT._replace(git=git))

    found = kept.snapshots.get(manifest.snapshot_id)
    assert 100 < len(found.manifest.repo_dirty_files) <= DIRTY_MAX
    assert found.git.hunk_summary.keys() == set(found.git.dirty_files)
    assert 10 < len(found.working_set.files_read) < 500
    assert 10 < len(found.working_set.searches_run) < 300
    assert pack.export(folder, tmp_path / "a.tcp")
    assert pack.unpack(tmp_path / "a.tcp").snapshot == found


def test_a_line_that_is_too_long_to_quote_is_not_read_whole(kept):
    with (kept.root / "long").open("wb") as file:
        file.write(b"first\n")
        file.truncate(1 << 34)
    with pytest.raises(InvalidRequest, match="too long to quote"):
        kept.create(wanted=[PinnedLines(path="long", line_start=2, line_end=2)])
    assert kept.create(wanted=[PinnedLines(path="long", line_start=1, line_end=2)])


def test_what_killed_processes_were_building_is_removed_and_nothing_else(kept):
    kept.create()
    folder = kept.root.parent / "state" / "snapshots"
    ended = subprocess.Popen(["true"])
    ended.wait()
    dead = folder / f"snap_1_mine.{ended.pid}.partial"
    living = folder / f"snap_1_mine.{os.getppid()}.partial"
    new = folder / f"snap_2_mine.{ended.pid}.partial"
    for each in (dead, living, new, folder / "somebodys.partial"):
        each.mkdir()
        (each / "manifest.json").write_text("{}")
    aftermath.aged(folder)
    os.utime(new)
    kept.create()

    assert living.is_dir()
    assert new.is_dir(), "a process of another container may be at it"
    assert not dead.exists()
    assert not (folder / "somebodys.partial").exists()
    assert len(kept.snapshots.all()) == 2


def test_a_folder_of_another_name_than_its_manifest_is_not_listed(kept):
    manifest, folder = kept.create()
    folder.rename(folder.with_name("another"))
    assert kept.snapshots.all() == []
    assert manifest.snapshot_id not in {each.snapshot_id for each in kept.snapshots.all()}
