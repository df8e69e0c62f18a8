"""find_files: words of a path, or a glob. index_status and reindex."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from tests.app.contexts import (
    bare_context,
    context_by,
    context_on,
    find,
    indexed,
    is_hit,
    lines,
    paths,
    search,
)
from tests.engine import answers
from triseek.engine import reindex_process
from triseek.engine.roots import index_dir
from triseek.errors import BackendFailure, Busy, InvalidQuery, InvalidRequest, RepoNotDetected
from triseek.model.call import Call
from triseek.search.handlers import index_status, reindex
from triseek.search.requests import IndexStatusRequest, ReindexRequest
from triseek.store import layout
from triseek.store.lock import writer

PATHS = {
    "src/auth/router.rs": "", "src/router.rs": "", "src/router/mod.rs": "",
    "tests/router_test.rs": "", "vendor/x/router.rs": "", "docs/Router.md": "",
    "src/auth/other.rs": "", ".github/router.yml": "",
}  # fmt: skip


@pytest.fixture(params=["index", "tree"])
def context(request, repo):
    return context_by(request.param, repo, PATHS)


def test_the_contracts_example(context):
    told = find(context, "router auth")

    assert told["results"] == [{"path": "src/auth/router.rs", "reason": "path_match"}]
    assert (told["files_with_matches"], told["total_line_matches"]) == (1, 0)
    assert told["truncated"] is False


@pytest.mark.parametrize("way", ["index", "tree"])
@pytest.mark.parametrize(
    ("query", "hidden", "listed"),
    [
        ("*", False, {"a.py", "sub/HEAD", ".hidden"}),  # a glob names hidden files, too, as in rg
        ("*", True, {"a.py", "sub/HEAD", ".hidden"}),
        ("**/*", True, {"a.py", "sub/HEAD", ".hidden"}),
        ("HEAD", True, {"sub/HEAD"}),
        (".git/**", True, set()),
        (".git/**", False, set()),
    ],
)
def test_gits_own_files_are_no_files_of_the_repository(repo, way, query, hidden, listed):
    root = repo({"a.py": "", ".hidden": "", "sub/HEAD": ""})
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)

    told = find(context_by(way, repo, {}), query, hidden=hidden)

    assert set(paths(told)) == listed
    assert told["files_with_matches"] == len(listed)


def test_source_comes_first_and_in_it_the_nearest_name(context):
    assert paths(find(context, "router")) == [
        "src/router.rs", "src/auth/router.rs", ".github/router.yml", "src/router/mod.rs",
        "tests/router_test.rs", "docs/Router.md", "vendor/x/router.rs",
    ]  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 5])
def test_pages_give_every_file_once_in_one_order(context, size):
    told, offset = [], 0
    while offset is not None:
        page = find(context, "r", limit=size, offset=offset)
        told += paths(page)
        offset = page.get("next_offset")
        assert page["truncated"] == (offset is not None)

    assert told == paths(find(context, "r", limit=100))


def test_a_glob_is_one_by_its_signs(context):
    assert sorted(paths(find(context, "src/**/*.rs"))) == [
        "src/auth/other.rs", "src/auth/router.rs", "src/router.rs", "src/router/mod.rs"
    ]  # fmt: skip
    assert paths(find(context, "*.{md,yml}"))


def test_no_file_is_an_answer_with_a_next_step(context):
    told = find(context, "router nowhere")

    assert (told["results"], told["files_with_matches"]) == ([], 0)
    assert "fewer" in told["next_step"]


@pytest.mark.parametrize("query", ["", "  ", "a\0b", "src/[z-"])
def test_a_query_that_means_nothing_is_refused(context, query):
    with pytest.raises(InvalidQuery):
        find(context, query)


def test_any_offset_and_limit_are_taken_as_the_nearest_that_make_sense(context):
    assert find(context, "router", offset=-5, limit=-1)["next_offset"] == 1
    assert find(context, "router", offset=10**30)["results"] == []


def test_a_long_list_is_cut_to_the_budget_and_nothing_is_left_out(repo):
    files = {f"{'deep/' * 45}{'n' * 180}{number:03}.txt": "" for number in range(120)}
    context = bare_context(os.path.realpath(repo(files)))
    told, offset = [], 0
    while offset is not None:
        page = find(context, "txt", limit=100, offset=offset)
        told += paths(page)
        offset = page.get("next_offset")

    assert len(set(told)) == len(told) == 120


TREE = {"a.txt": "needle\n", "b.txt": "x\n"}


def status(context):
    return index_status(context.contexts["search"], IndexStatusRequest(), Call())


def run(context, mode="incremental", **call):
    return reindex(context.contexts["search"], ReindexRequest(mode=mode), Call(**call))


def test_without_an_index(repo):
    context = context_on(os.path.realpath(repo(TREE)))

    assert status(context) == {
        "version": "1", "repo_root": context.root, "index_present": False, "index_fresh": False,
        "indexed_files": 0, "index_bytes": 0, "last_updated": None, "repo_category": None,
        "routing_hint": "ripgrep_fallback",
    }  # fmt: skip
    building = context_on(context.root, is_building=lambda _: True)
    assert status(building)["routing_hint"] == "index_syncing"


def test_with_one(repo, monkeypatch):
    answers.shorten_racy_times(monkeypatch)
    context = context_on(indexed(repo, TREE))
    told = status(context)

    assert (told["index_present"], told["index_fresh"], told["indexed_files"]) == (True, True, 2)
    assert told["index_bytes"] > 0
    assert told["repo_category"] in ("small", "medium", "large", "very_large")
    assert told["routing_hint"] == "indexed_default"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", told["last_updated"])


def test_an_edit_makes_it_stale_unless_somebody_watches(repo, daemon):
    root = indexed(repo, TREE)
    context = daemon.context(root)
    daemon.stop()  # who is asked about a root begins to watch it
    answers.write(root, {"a.txt": "edited\n"})
    assert (status(context)["index_fresh"], status(context)["dirty_files"]) == (False, 1)

    daemon.start()
    daemon.watch(root)
    assert status(context)["index_fresh"] is True


def test_a_broken_index_is_none_and_says_why(repo):
    root = indexed(repo, TREE)
    with open(os.path.join(index_dir(root), layout.CURRENT), "r+b") as file:
        file.write(b"broken")
    told = status(context_on(root))

    assert told["index_present"] is False
    assert told["problem"]


@pytest.mark.parametrize(("mode", "full"), [("incremental", False), ("full", True)])
def test_reindexing(repo, monkeypatch, mode, full):
    root = indexed(repo, TREE)
    context = context_on(root)
    answers.write(root, {"c.txt": "needle\n"})
    steps = []
    told = run(context, mode, progress=lambda *step: steps.append(step))

    assert {name: told[name] for name in told if name != "elapsed_ms"} == {
        "version": "1", "repo_root": root, "completed": True, "mode": mode, "rebuilt_full": full,
        "indexed_files": 3,
    }  # fmt: skip
    assert told["elapsed_ms"] > 0
    assert steps
    assert status(context)["indexed_files"] == 3
    assert lines(search(context, "needle")) == [("a.txt", 1), ("c.txt", 1)]


def test_without_an_index_an_increment_is_everything(repo):
    context = context_on(os.path.realpath(repo(TREE)))

    assert run(context)["rebuilt_full"] is True


def test_a_new_index_answers_at_once_and_answers_hold_on(repo, daemon):
    root = indexed(repo, TREE)
    daemon.watch(root)
    context = daemon.context(root)
    search(context, "needle", "me")
    run(context, "full")

    assert search(context, "needle")["freshness"] == "synced"
    assert is_hit(search(context, "needle", "me"))


def test_another_writer_is_told_of(repo):
    root = indexed(repo, TREE)
    with writer(index_dir(root)), pytest.raises(Busy) as error:
        run(context_on(root))

    assert error.value.retryable


def test_a_root_that_is_gone(tmp_path):
    with pytest.raises(RepoNotDetected):
        run(context_on(str(tmp_path / "gone")))


def test_a_home_folder_is_not_indexed_for_an_agent(repo, monkeypatch):
    context = context_on(os.path.realpath(repo(TREE)))
    monkeypatch.setenv("HOME", context.root)

    with pytest.raises(InvalidRequest, match="is the home folder") as error:
        run(context)

    assert "triseek build" in error.value.next_step
    assert not os.path.exists(index_dir(context.root))
    assert "is the home folder" in status(context)["not_indexed"]


def test_one_that_a_person_has_indexed_is_brought_up_to_date(repo, monkeypatch):
    context = context_on(indexed(repo, TREE))
    monkeypatch.setenv("HOME", context.root)

    assert run(context)["completed"]
    assert "not_indexed" not in status(context)


def test_a_call_nobody_waits_for_ends_its_process(repo, monkeypatch):
    monkeypatch.setattr(reindex_process, "_POLL_S", 0.001)
    root = indexed(repo, {f"{n}.txt": "needle\n" for n in range(50)})

    with pytest.raises(BackendFailure):
        run(context_on(root), "full", cancelled=lambda: True)
