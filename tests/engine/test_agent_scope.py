"""What agents' tools search: what ripgrep lists, tracked hidden files, no other working trees."""

from __future__ import annotations

import subprocess

import pytest

from tests.files.tree.test_tracked import git
from triseek.engine.agent_scope import agent_scope, is_shown
from triseek.engine.engine import Engine
from triseek.engine.left_out import left_out
from triseek.index.build import build
from triseek.model.search import LeftOut, PatternSpec, SearchRequest

TRACKED = (
    "a.py", ".golangci.yml", ".github/ci.yml", "sub/.hidden/b.py", ".gitignore", "[x]*/d.py",
)  # fmt: skip
OTHERS = (".env", ".claude/settings.local.json", "out/o.py", "sub/.other/c.py")


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "repo"
    for name in (*TRACKED, *OTHERS):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("needle\n")
    (root / ".gitignore").write_text("# needle\nout/\n")
    git(root.parent, "init", "-q", str(root))
    git(root, "add", "--", *TRACKED)
    git(root, "commit", "-qm", "one")
    for place in (".claude/worktrees/feat", "[x]*/tree"):
        git(root, "worktree", "add", "-q", place, "-b", place.rpartition("/")[2])
    return root


@pytest.fixture(params=["indexed", "direct_scan", "ripgrep"])
def engine(request, tree, tmp_path):
    """An engine that answers by one backend."""
    index_dir = str(tmp_path / "index")
    if request.param == "indexed":
        build(str(tree), index_dir)
    choice = {"indexed": "index", "direct_scan": "scan", "ripgrep": "rg"}[request.param]
    return Engine(str(tree), index_dir=index_dir), choice


def searched(engine, *paths, **options):
    used, choice = engine
    if options or paths:
        choice = "auto"
    scope = agent_scope(used.root, **options)
    pattern = PatternSpec(patterns=("needle",))
    search = used.search(
        SearchRequest(pattern=pattern, scope=scope, mode="files", engine=choice, paths=paths)
    )
    names = [path.decode() for batch in search for path in batch.paths]
    assert len(names) == len(set(names)) == search.totals.files_matched
    return set(names)


def test_tracked_hidden_files_are_searched_and_other_trees_are_not(engine):
    assert searched(engine) == set(TRACKED)
    assert set(map(bytes.decode, engine[0].list_files(agent_scope(engine[0].root)))) == set(TRACKED)


def test_an_edit_of_a_hidden_file_is_seen(engine, tree):
    (tree / ".golangci.yml").write_text("other\n")
    assert searched(engine) == {*TRACKED} - {".golangci.yml"}
    (tree / ".golangci.yml").unlink()
    assert searched(engine) == {*TRACKED} - {".golangci.yml"}


def test_globs_and_types_apply_to_hidden_files(engine):
    assert searched(engine, globs=("*.yml",)) == {".golangci.yml", ".github/ci.yml"}
    assert searched(engine, types=("py",)) == {"a.py", "[x]*/d.py", "sub/.hidden/b.py"}


def test_a_named_folder_is_searched_whatever_it_is(engine):
    assert searched(engine, ".github") == {".github/ci.yml"}
    assert searched(engine, "sub") == {"sub/.hidden/b.py"}
    assert searched(engine, "a.py") == {"a.py"}
    inside = {f".claude/worktrees/feat/{name}" for name in ("a.py", "[x]*/d.py")}
    assert searched(engine, ".claude/worktrees/feat") >= inside


def test_hidden_and_ignored_files_on_request(engine):
    assert searched(engine, hidden=True) == {*TRACKED, *OTHERS} - {"out/o.py"}
    assert searched(engine, ignored=True) == {*TRACKED, "out/o.py"}
    assert searched(engine, hidden=True, ignored=True) == {*TRACKED, *OTHERS}


def test_what_is_left_out_is_counted(engine):
    used, _ = engine
    out = left_out(used, agent_scope(used.root))

    assert out.ignored == 1
    assert out.hidden >= 2
    assert left_out(used, agent_scope(used.root, hidden=True)).hidden == 0
    assert left_out(used, agent_scope(used.root, ignored=True)).ignored == 0


def test_what_was_left_out_is_described():
    assert LeftOut(0, 0).described() == ""
    assert LeftOut(2, 1_000).described() == (
        "not searched: 2 hidden and 1,000 ignored files or folders "
        "(pass hidden: true, ignored: true)"
    )


def test_a_new_file_in_another_tree_is_no_news(engine, tree):
    (tree / ".claude/worktrees/feat/new.py").write_text("needle\n")
    assert searched(engine) == set(TRACKED)


def test_a_worktree_that_was_removed_leaves_nothing_out(engine, tree):
    subprocess.run(["git", "worktree", "remove", "--force", "[x]*/tree"], cwd=tree, check=True)
    (tree / "[x]*/tree").mkdir()
    (tree / "[x]*/tree/own.py").write_text("needle\n")
    assert searched(engine) == {*TRACKED, "[x]*/tree/own.py"}


def test_a_named_file_is_shown_if_it_is_searched_or_tracked(tree):
    (tree / "out" / "kept.py").write_text("needle\n")
    git(tree, "add", "-f", "out/kept.py")
    (tree / "new.py").write_text("needle\n")
    shown = {*TRACKED, "out/kept.py", "new.py"}

    for name in (*shown, *OTHERS, ".git/config", ".GIT/config", "sub/.git/config"):
        assert is_shown(str(tree), name) == (name in shown), name


def test_outside_of_git_well_known_hidden_files_are_shown(tmp_path):
    for name in (".github/ci.yml", ".editorconfig", "a/b.py", ".ignored", "odd \udcff"):
        assert is_shown(str(tmp_path), name) == (name != ".ignored")
    for name in (".env", ".ssh/id_rsa", "a/.env", ".git/config"):
        assert not is_shown(str(tmp_path), name)
    (tmp_path / ".ignore").write_text("*.log\n")
    assert not is_shown(str(tmp_path), "a/b.log")
