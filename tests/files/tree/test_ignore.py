"""Which ignore file wins, and where each of them counts."""

import os
import threading

import pytest

from tests.files.tree.test_git import git
from tests.files.tree.test_walk import grow
from triseek.files.tree.ignore import (
    ALLOWED_DIRS,
    ALLOWED_FILES,
    exclude_file,
    exclude_sources,
    global_excludes_path,
)
from triseek.files.tree.walk import walk
from triseek.model.search import ScopeSpec


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return home


@pytest.fixture
def repo(tmp_path):
    (tmp_path / "repo" / ".git" / "info").mkdir(parents=True)
    return tmp_path / "repo"


def listed(root, **scope):
    return [path.decode() for path in walk(root, ScopeSpec(**scope)).paths]


def test_rgignore_beats_ignore_beats_gitignore_beats_exclude_beats_global(repo, home):
    ladder = [
        (home / ".config" / "git" / "ignore", "x\n", []),
        (repo / ".git" / "info" / "exclude", "!x\n", ["x"]),
        (repo / ".gitignore", "x\n", []),
        (repo / ".ignore", "!x\n", ["x"]),
        (repo / ".rgignore", "x\n", []),
    ]
    grow(repo, {"x": ""})
    assert listed(repo) == ["x"]
    for path, text, expected in ladder:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        assert listed(repo) == expected, path


def test_a_folder_below_overrules_a_folder_above_within_one_kind(repo):
    grow(repo, {".gitignore": "x\n", "sub/.gitignore": "!x\n", "x": "", "sub/x": "", "sub/d/x": ""})
    assert listed(repo) == ["sub/d/x", "sub/x"]


def test_git_rules_count_only_inside_a_repository(tmp_path):
    grow(tmp_path, {".gitignore": "x\n", "x": "", "y": ""})
    assert listed(tmp_path) == ["x", "y"]
    assert listed(tmp_path, no_require_git=True) == ["y"]


def test_git_rules_stop_at_a_repository_inside_but_ignore_does_not(repo):
    grow(repo, {".gitignore": "x\n", ".ignore": "y\n", "in/.git/HEAD": "", "in/x": "", "in/y": ""})
    assert listed(repo) == ["in/x"]
    assert listed(repo, no_require_git=True) == []


def test_rules_above_the_root_count(tmp_path):
    grow(tmp_path, {".ignore": "x\n", "root/x": "", "root/y": ""})
    assert listed(tmp_path / "root") == ["y"]
    assert listed(tmp_path / "root", no_ignore_parent=True) == ["x", "y"]


def test_rules_above_the_root_see_paths_from_their_own_folder(tmp_path):
    grow(tmp_path, {".ignore": "/root/x\n/root/sub/y\n", "root/x": "", "root/sub/x": ""})
    grow(tmp_path, {"root/sub/y": "", "root/sub/z/y": ""})
    assert listed(tmp_path / "root") == ["sub/x", "sub/z/y"]


def test_jujutsu_makes_a_repository(tmp_path):
    grow(tmp_path, {".gitignore": "x\n", "x": "", "sub/x": "", "y": ""})
    assert listed(tmp_path) == ["sub/x", "x", "y"]
    (tmp_path / ".jj").mkdir()
    assert listed(tmp_path) == ["y"]
    (tmp_path / "sub" / ".jj").mkdir()
    assert listed(tmp_path) == ["sub/x", "y"]


def test_a_byte_order_mark_is_no_part_of_the_first_rule(tmp_path):
    grow(tmp_path, {"x": "", "y": ""})
    (tmp_path / ".ignore").write_bytes(b"\xef\xbb\xbfx\n")
    assert listed(tmp_path) == ["y"]


def test_an_unclosed_class_is_a_literal_in_an_ignore_file(tmp_path):
    grow(tmp_path, {".ignore": "[abc\n", "[abc": "", "a": ""})
    assert listed(tmp_path) == ["a"]


def test_a_worktrees_excludes_are_those_of_its_common_folder(repo, tmp_path):
    real = tmp_path / "common" / "worktrees" / "w"
    grow(real, {"commondir": "../..\n"})
    grow(tmp_path / "common", {"info/exclude": "x\n"})
    work = grow(tmp_path / "work", {".git": f"gitdir: {real}\n", "x": "", "y": ""})
    assert listed(work) == ["y"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[core]\n\texcludesfile = ~/mine\n", "{home}/mine"),
        ('[core]\nexcludesFile="/etc/x"\n', "/etc/x"),
        ("[core]\n\teditor = vi\n", "{home}/.config/git/ignore"),
    ],
)
def test_gits_configuration_names_the_global_excludes(text, expected, home):
    (home / ".gitconfig").write_text(text)
    assert global_excludes_path() == expected.format(home=home).encode()


def test_each_flag_turns_its_kind_off(repo, home):
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "ignore").write_text("global\n")
    (repo / ".git" / "info" / "exclude").write_text("exclude\n")
    names = ["dot", "exclude", "explicit", "global", "rg", "vcs"]
    rules = {".gitignore": "vcs\n", ".ignore": "dot\n", ".rgignore": "rg\n", ".more": "explicit\n"}
    grow(repo, dict.fromkeys(names, "") | rules)
    more = {"ignore_files": (".more",)}
    assert listed(repo, **more) == []
    assert listed(repo, no_ignore=True, **more) == ["dot", "exclude", "global", "rg", "vcs"]
    assert listed(repo, no_ignore_vcs=True, **more) == ["exclude", "global", "vcs"]
    assert listed(repo, no_ignore_dot=True, **more) == ["dot", "rg"]
    assert listed(repo, no_ignore_exclude=True, **more) == ["exclude"]
    assert listed(repo, no_ignore_global=True, **more) == ["global"]
    assert listed(repo, no_ignore_files=True, **more) == ["explicit"]


def test_nothing_is_read_after_a_line_that_is_not_utf8(repo):
    (repo / ".gitignore").write_bytes(b"a\nb\xff\nc\n")
    grow(repo, {"a": "", "c": ""})
    assert listed(repo) == ["c"]


def test_a_pipe_that_is_called_like_an_ignore_file_does_not_hang_the_walk(repo):
    os.mkfifo(repo / ".gitignore")
    grow(repo, {"a": ""})
    assert listed(repo) == ["a"]


def test_the_allow_list_names_only_hidden_places():
    assert all(name.startswith(b".") for name in ALLOWED_DIRS | ALLOWED_FILES)
    assert {b".github", b".dvc"} <= ALLOWED_DIRS
    assert {b".gitignore", b".prettierrc", b".eslintrc.cjs", b".env.example"} <= ALLOWED_FILES


@pytest.mark.parametrize("name", [".gitignore", ".ignore", ".rgignore", ".git", "commondir"])
def test_a_fifo_in_the_place_of_an_ignore_file_is_not_waited_for(tmp_path, name):
    (tmp_path / "a.txt").write_text("")
    if name == "commondir":
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / ".git").write_text(f"gitdir: {tmp_path}/elsewhere\n")
        fifo = tmp_path / "elsewhere" / name
    else:
        (tmp_path / ".git").mkdir()
        if name == ".git":
            (tmp_path / ".git").rmdir()
        fifo = tmp_path / name
    os.mkfifo(fifo)
    found = []
    walking = threading.Thread(
        target=lambda: found.append(walk(tmp_path, ScopeSpec()).paths), daemon=True
    )
    walking.start()
    walking.join(60)
    if walking.is_alive():  # somebody has to let it go
        os.close(os.open(fifo, os.O_RDWR))
    assert found == [[b"a.txt"]]


def test_the_exclude_file_of_a_worktree_is_that_of_its_repository(tmp_path):
    repo = grow(tmp_path / "repo", {"a": "1"})
    git(repo, "init", "-q")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "one")
    git(repo, "worktree", "add", "-q", tmp_path / "tree")
    root = os.fsencode(tmp_path / "tree")
    as_folder, pointer, exclude = exclude_sources(root, root + b"/.git")
    assert as_folder == root + b"/.git/."
    assert not os.path.exists(as_folder)
    assert os.path.realpath(pointer) == os.fsencode(repo / ".git/worktrees/tree/commondir")
    assert os.path.realpath(exclude) == os.fsencode(repo / ".git/info/exclude")
    assert os.path.exists(pointer)
    assert os.path.exists(exclude)
    assert exclude_file(root, root + b"/.git") == exclude
    assert exclude_sources(os.fsencode(repo), os.fsencode(repo / ".git")) == [
        os.fsencode(repo / ".git/info/exclude")
    ]


def test_a_git_file_that_says_nothing_has_no_exclude_file(tmp_path):
    root = os.fsencode(tmp_path)
    assert exclude_sources(root, root + b"/.git") == [root + b"/.git/info/exclude"]
    assert exclude_file(root, root + b"/.git") is None
    (tmp_path / ".git").write_text("nothing\n")
    assert exclude_sources(root, root + b"/.git") == [root + b"/.git/."]
    (tmp_path / ".git").write_text("gitdir: there\n")
    assert exclude_sources(root, root + b"/.git") == [root + b"/.git/.", root + b"/there/commondir"]
