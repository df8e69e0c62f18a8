"""Read your own writes: what changed since the index was written is in the answer."""

import os
import shutil
import time
from dataclasses import replace

import pytest

from tests.engine import answers
from triseek import errors
from triseek.engine.engine import Engine
from triseek.engine.freshness import checked, racy_files, sweep
from triseek.engine.freshness.sweep import Sweeper
from triseek.engine.search.query import Query
from triseek.files.tree.ignore import IgnoreFiles
from triseek.index.build import build
from triseek.index.reader import IndexReader
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest, Totals
from triseek.query.globs.gitignore import RuleSet, parse_line

BEFORE = {
    "a": "needle\n",
    "b/c": "needle\n",
    "b/d/e": "needle\n",
    "x.log": "needle\n",
    "s/y.log": "needle\n",
    "s/.gitignore": "# none\n",
    ".github/w": "needle\n",
    "build/o": "needle\n",
    ".gitignore": "build/\n/s/deep/no\n",
    "s/deep/no": "needle\n",
}


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A root and its index, with nothing racy left, and racy times short enough to wait for."""
    answers.shorten_racy_times(monkeypatch)
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    os.makedirs(f"{root}/.git")
    answers.write(root, BEFORE)
    rest()
    build(root, index_dir)
    return root, index_dir


def rest():
    time.sleep(2 * answers.TICK_S)


ANY_NS = 10**18
"""A racy time for which whatever was indexed is racy, however long the build took."""


def come_to_rest(monkeypatch, root, index_dir, *names):
    """Have the named paths racy as they were indexed, and at rest since.

    For that the racy time is as long as the build took to come to them, and it is over.
    """
    reader = IndexReader.open(index_dir)
    stats = [os.stat(f"{root}/{name}") for name in names]
    times = [max(stat.st_mtime_ns, stat.st_ctime_ns) for stat in stats]
    racy_ns = max(reader.tree_scanned_ns, *reader.scanned_ns) - min(times) + 1
    monkeypatch.setattr(sweep, "RACY_NS", racy_ns)
    while time.time_ns() <= max(times) + racy_ns:
        time.sleep(0.001)


def rewrite(path, content):
    """The same size, the same inode, and the old times put back: only the ctime tells."""
    stat = os.stat(path)
    assert stat.st_size == len(content)
    with open(path, "r+b") as file:
        file.write(content)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def same_size(root):
    rewrite(f"{root}/a", b"noodle\n")


def folder_to_link(root):
    """To the same files: nothing but the folder's kind tells."""
    os.rename(f"{root}/b", f"{root}/.elsewhere")
    os.symlink(".elsewhere", f"{root}/b")


def folder_below_to_link(root):
    os.rename(f"{root}/b/d", f"{root}/.elsewhere")
    os.symlink("../.elsewhere", f"{root}/b/d")


def renamed_over(root):
    answers.write(root, {"tmp": "nothing\n"})
    os.replace(f"{root}/tmp", f"{root}/a")


def rules_in_place(root):
    rewrite(f"{root}/.gitignore", b"*.log!\n/s/deep/no\n".replace(b"!", b""))


def file_to_folder(root):
    os.unlink(f"{root}/a")
    answers.write(root, {"a/in": "needle\n"})


def folder_to_file(root):
    shutil.rmtree(f"{root}/b")
    answers.write(root, {"b": "needle\n"})


def ignored_folder_to_file(root):
    shutil.rmtree(f"{root}/build")
    answers.write(root, {"build": "needle\n"})


def rules_become_a_link(root):
    answers.write(root, {"rules": "*.log\n"})
    os.unlink(f"{root}/.gitignore")
    os.symlink("rules", f"{root}/.gitignore")


CHANGES = {
    "edited, size and mtime as before": same_size,
    "renamed over": renamed_over,
    "new in a known folder": lambda root: answers.write(root, {"b/new": "needle\n"}),
    "new in a new folder": lambda root: answers.write(root, {"n/e/w": "needle\n"}),
    "new in a known folder, old mtime put back": lambda root: (
        answers.write(root, {"b/new": "needle\n"}), os.utime(f"{root}/b", ns=(1, 1)),
    ),
    "new where the allow-list reaches": lambda root: answers.write(root, {".github/v": "needle\n"}),
    "new beside what an anchored rule hides": lambda root: answers.write(root, {"s/n": "needle\n"}),
    "new and ignored": lambda root: answers.write(root, {"build/new": "needle\n"}),
    "deleted": lambda root: os.unlink(f"{root}/a"),
    "folder deleted": lambda root: shutil.rmtree(f"{root}/b"),
    "folder to link": folder_to_link,
    "folder below to link": folder_below_to_link,
    "folder renamed": lambda root: os.rename(f"{root}/b", f"{root}/z"),
    "emptied": lambda root: os.truncate(f"{root}/a", 0),
    "now binary": lambda root: answers.write(root, {"a": b"needle\0\n"}),
    "file to folder": file_to_folder,
    "folder to file": folder_to_file,
    "ignored folder to file": ignored_folder_to_file,
    "file to pipe": lambda root: (os.unlink(f"{root}/a"), os.mkfifo(f"{root}/a")),
    "new rules hide files": lambda root: answers.write(root, {".ignore": "*.log\n"}),
    "new rules in a folder": lambda root: answers.write(root, {"b/.gitignore": "*\n"}),
    "rules edited": lambda root: answers.write(root, {".gitignore": "s/\n"}),
    "rules edited in a folder": lambda root: answers.write(root, {"s/.gitignore": "*.log\n"}),
    "rules become a link": rules_become_a_link,
    "rules gone": lambda root: os.unlink(f"{root}/.gitignore"),
    "rules above": lambda root: answers.write(os.path.dirname(root), {".ignore": "*.log\n"}),
    "no repository any more": lambda root: shutil.rmtree(f"{root}/.git"),
    "info/exclude": lambda root: answers.write(root, {".git/info/exclude": "*.log\n"}),
    "hidden place shown by a rule": lambda root: answers.write(root, {".gitignore": "!.github\n"}),
    "root gone": shutil.rmtree,
}  # fmt: skip
SCOPES = [ScopeSpec(), ScopeSpec(allowlist=True), ScopeSpec(globs=("*.log",))]


def freshness_of(backend, **fields):
    totals, spec = Totals(), PatternSpec(patterns=("needle",))
    request = SearchRequest(pattern=spec, **fields)
    assert list(backend.search(Query.of(backend.root, request), totals))
    assert totals.generation == 1
    return totals.freshness


@pytest.mark.parametrize("change", CHANGES)
def test_the_next_answer_knows_of_a_file_or_rule_that_is(tree, change):
    root, index_dir = tree
    indexed, scan = answers.both(root, index_dir)
    before = [answers.ask(indexed, "needle", scope=scope) for scope in SCOPES]
    assert before == [answers.ask(scan, "needle", scope=scope) for scope in SCOPES]

    CHANGES[change](root)

    if change == "root gone":
        assert indexed.tree_diff().removed == 7
        return
    for backend in (indexed, answers.both(root, index_dir)[0]):
        for scope in SCOPES:
            assert answers.ask(backend, "needle", scope=scope) == answers.ask(
                scan, "needle", scope=scope
            )
        assert freshness_of(backend) == "swept"


def test_a_new_ignored_file_is_there_for_a_glob_that_asks_for_it(tree):
    """A bug: what the walk had not seen, no glob could bring back."""
    root, index_dir = tree
    answers.write(root, {".gitignore": "*.log\nbuild/\n", "z.log": "needle\n"})
    indexed, scan = answers.both(root, index_dir)
    scope = ScopeSpec(globs=("*.log",))
    said = answers.ask(indexed, "needle", scope=scope)
    assert answers.paths(said) == ["s/y.log", "x.log", "z.log"]
    assert said == answers.ask(scan, "needle", scope=scope)


def test_a_glob_brings_nothing_back_from_a_folder_that_is_ignored_by_now(tree):
    root, index_dir = tree
    answers.write(root, {".ignore": "*.log\n"})
    build(root, index_dir)
    answers.write(os.path.dirname(root), {".rgignore": "s/\n"})
    scope = ScopeSpec(globs=("*.log",))

    indexed, scan = answers.both(root, index_dir)
    found = answers.ask(indexed, "needle", scope=scope)

    assert answers.paths(found) == ["x.log"]
    assert found == answers.ask(scan, "needle", scope=scope)


@pytest.mark.parametrize("rule", ["!.github\n", "!*/\n", "nothing\n"])
@pytest.mark.parametrize(
    "scope", [{"globs": ("*.py",)}, {"types": ("py",)}, {"globs": (".github/**",)}], ids=str
)
def test_a_hidden_file_is_found_where_a_rule_takes_its_folder(tree, rule, scope):
    root, index_dir = tree
    hidden = {".github/.x.py": "needle\n", ".github/.w/y.py": "needle\n"}
    answers.write(root, {".ignore": rule, ".github/z.py": "needle\n", **hidden})
    build(root, index_dir)

    indexed, scan = answers.both(root, index_dir)
    found = answers.ask(indexed, "needle", scope=ScopeSpec(**scope))

    assert found == answers.ask(scan, "needle", scope=ScopeSpec(**scope))
    assert (".github/.x.py" in answers.paths(found)) == (rule != "nothing\n")


def test_a_named_folder_that_is_ignored_by_now_is_for_another_backend(tree):
    root, index_dir = tree
    indexed, _ = answers.both(root, index_dir)
    assert answers.paths(answers.ask(indexed, "needle", paths=("b",))) == ["b/c", "b/d/e"]
    answers.write(root, {".ignore": "b\n"})
    with pytest.raises(errors.BackendFailure):
        answers.ask(indexed, "needle", paths=("b",))


def test_git_appearing_makes_its_ignore_files_count(tmp_path, monkeypatch):
    answers.shorten_racy_times(monkeypatch)
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, {"x.log": "needle\n", ".gitignore": "*.log\n"})
    rest()
    build(root, index_dir)
    indexed, scan = answers.both(root, index_dir)
    assert answers.paths(answers.ask(indexed, "needle")) == ["x.log"]
    os.mkdir(f"{root}/.git")
    assert answers.ask(indexed, "needle") == answers.ask(scan, "needle") == []


def test_gits_configuration_and_the_excludes_it_names_are_watched(tree, home):
    root, index_dir = tree
    answers.write(home, {".gitconfig": "[core]\n\texcludesFile = ~/mine\n", "mine": "x.log\n"})
    rest()
    build(root, index_dir)
    indexed, scan = answers.both(root, index_dir)
    assert "x.log" not in answers.paths(answers.ask(indexed, "needle"))
    answers.write(home, {"mine": "y.log\n"})
    assert answers.ask(indexed, "needle") == answers.ask(scan, "needle")
    assert "x.log" in answers.paths(answers.ask(indexed, "needle"))


@pytest.fixture
def worktree(tmp_path, monkeypatch):
    """A root whose `.git` is a file, and its index; the repository lies beside it."""
    answers.shorten_racy_times(monkeypatch)
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, {"x.log": "needle\n", "a": "needle\n"})
    answers.write(root, {".git": f"gitdir: {tmp_path}/main/worktrees/root\n"})
    for name in ("main", "other"):
        answers.write(f"{tmp_path}/{name}/worktrees/root", {"commondir": "../..\n"})
    answers.write(tmp_path, {"other/info/exclude": "a\n"})
    rest()
    build(root, index_dir)
    return root, index_dir


def moved_repository(folder):
    answers.write(folder, {"root/.git": f"gitdir: {folder}/other/worktrees/root\n"})


def git_file_to_folder(folder):
    os.unlink(f"{folder}/root/.git")
    answers.write(folder, {"root/.git/info/exclude": "*.log\n"})


WORKTREE_CHANGES = {
    "exclude file appears": lambda folder: answers.write(folder, {"main/info/exclude": "*.log\n"}),
    "commondir says another": lambda folder: answers.write(
        folder, {"main/worktrees/root/commondir": "../../../other\n"}
    ),
    ".git says another": moved_repository,
    ".git becomes a folder": git_file_to_folder,
}


@pytest.mark.parametrize("change", WORKTREE_CHANGES)
def test_the_rules_of_a_worktree_are_noticed_where_they_are(worktree, tmp_path, change):
    root, index_dir = worktree
    indexed, scan = answers.both(root, index_dir)
    assert answers.paths(answers.ask(indexed, "needle")) == ["a", "x.log"]
    assert sweeper(worktree).sweep().directories == []

    WORKTREE_CHANGES[change](tmp_path)

    for backend in (indexed, answers.both(root, index_dir)[0]):
        said = answers.ask(backend, "needle")
        assert said == answers.ask(scan, "needle")
        assert len(said) == 1


def sweeper(tree):
    root, index_dir = tree
    return Sweeper(root, IndexReader.open(index_dir))


def test_what_was_written_just_before_the_build_is_dirty_until_it_has_rested(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep, "RACY_NS", ANY_NS)
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, {"a": "needle\n", "b/c": "needle\n"})
    build(root, index_dir)
    diff = sweeper((root, index_dir)).sweep()
    assert diff.scan == [b"a", b"b/c"]
    assert not os.path.exists(f"{index_dir}/checked.json")

    come_to_rest(monkeypatch, root, index_dir, ".", "a", "b", "b/c")
    assert sweeper((root, index_dir)).sweep().scan == []
    assert os.path.exists(f"{index_dir}/checked.json")

    def never(*_):
        raise AssertionError("what was compared once need not be again")

    monkeypatch.setattr(racy_files, "digest_of", never)
    assert sweeper((root, index_dir)).sweep().scan == []


def test_a_racy_file_that_did_change_is_found_by_its_content(tmp_path, monkeypatch):
    """As if an edit had come within the same tick of the clock as the read: the stat is equal."""
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, {"a": "needle\n", "b": "needle\n"})
    build(root, index_dir)
    come_to_rest(monkeypatch, root, index_dir, "a", "b")
    asked = []
    digest_of = changed_if(b"b", racy_files.digest_of)
    monkeypatch.setattr(
        racy_files,
        "digest_of",
        lambda folder, path, **_: asked.append(path) or digest_of(folder, path),
    )
    first = sweeper((root, index_dir))
    assert first.sweep().scan == [b"b"]
    assert sorted(asked) == [b"a", b"b"]
    for again in (first, sweeper((root, index_dir))):
        diff = again.sweep()
        assert (diff.scan, diff.removed, len(asked)) == ([b"b"], 0, 2)
    os.unlink(f"{root}/b")
    diff = sweeper((root, index_dir)).sweep()
    assert (diff.scan, diff.removed) == ([], 1)


def test_too_many_racy_files_that_did_change_are_found_anew_by_each_process(tmp_path, monkeypatch):
    monkeypatch.setattr(checked, "DIFFER_MAX", 1)
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, {"a": "needle\n", "b": "needle\n"})
    build(root, index_dir)
    come_to_rest(monkeypatch, root, index_dir, "a", "b")
    monkeypatch.setattr(racy_files, "digest_of", lambda *_, **__: 1)
    for _ in range(2):
        again = sweeper((root, index_dir))
        assert again.sweep().scan == again.sweep().scan == [b"a", b"b"]


def test_a_racy_file_does_not_keep_others_from_coming_to_rest(tmp_path, monkeypatch):
    """A bug: one that is touched again and again had all others read by every sweep."""
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, {"a": "needle\n", "b": "needle\n"})
    build(root, index_dir)
    come_to_rest(monkeypatch, root, index_dir, "a", "b")
    asked = []
    digest_of = racy_files.digest_of
    monkeypatch.setattr(
        racy_files,
        "digest_of",
        lambda folder, path, **_: asked.append(path) or digest_of(folder, path),
    )
    for _ in range(2):
        os.chmod(f"{root}/b", 0o600)
        touched = os.stat(f"{root}/b").st_ctime_ns
        monkeypatch.setattr(time, "time_ns", lambda touched=touched: touched + 1)
        assert sweeper((root, index_dir)).sweep().scan == [b"b"]
    assert asked == [b"a"]


def test_a_new_file_does_not_have_racy_folders_and_rules_read_by_every_sweep(tree, monkeypatch):
    """A bug: it did until the next update, and for the rules that meant a walk each time."""
    root, _ = tree
    answers.write(root, {"s/.gitignore": "#\n", "b/new": "needle\n"})
    build(*tree)
    answers.write(root, {"s/deep/new": "needle\n"})
    come_to_rest(monkeypatch, *tree, "s/.gitignore", "b/new", "b")
    first = sweeper(tree)
    assert first.sweep().scan == [b"s/deep/new"]
    entered = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: entered.append(path) or scandir(path))
    for again in (first, sweeper(tree)):
        diff = again.sweep()
        assert (diff.scan, diff.directories) == ([b"s/deep/new"], [])
    assert {os.path.relpath(os.fsdecode(path), root) for path in entered} == {".", "s", "s/deep"}


def test_a_racy_folder_that_did_gain_a_name_is_known_for_it(tree, monkeypatch):
    """As if a file had come within the same tick of the clock as the walk: the stat is equal."""
    root, index_dir = tree
    listed = os.scandir
    os.utime(f"{root}/b")
    folder = os.fsencode(f"{root}/b/")
    monkeypatch.setattr(
        os, "scandir", lambda path: hiding(b"c", listed(path)) if path == folder else listed(path)
    )
    build(root, index_dir)
    monkeypatch.setattr(os, "scandir", listed)
    come_to_rest(monkeypatch, *tree, "b")
    for _ in range(3):
        assert sweeper(tree).sweep().scan == [b"b/c"]
    assert len(sweeper(tree)._checked.folders) == 1


class hiding:  # noqa: N801 - reads as a word
    """A folder's entries without one."""

    def __init__(self, name, entries):
        self._entries = [entry for entry in entries if entry.name != name]

    def __enter__(self):
        return iter(self._entries)

    def __exit__(self, *_):
        return


def test_racy_rules_that_are_not_those_of_the_walk_are_walked_for_by_every_sweep(tree, monkeypatch):
    """As if they had been edited within the same tick of the clock as the walk."""
    root, index_dir = tree
    read = IgnoreFiles.read
    other = RuleSet([parse_line("x.log")])
    monkeypatch.setattr(
        IgnoreFiles,
        "read",
        lambda self, path, **more: other if b"s/.git" in path else read(self, path, **more),
    )
    answers.write(root, {"s/.gitignore": "y.log\n"})
    build(root, index_dir)
    monkeypatch.setattr(IgnoreFiles, "read", read)
    come_to_rest(monkeypatch, *tree, "s/.gitignore")
    for _ in range(3):
        diff = sweeper(tree).sweep()
        assert diff.removed == 1
        assert diff.directories


LARGE = b"needle\n" * 300_000


@pytest.mark.parametrize("before", [b"", LARGE])
def test_a_large_racy_binary_is_as_indexed_while_it_is_binary(tmp_path, monkeypatch, before):
    """It was not read to its end, so there is no digest of all of it to compare."""
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    content = before + b"\0" + LARGE
    answers.write(root, {"a": content, "b": content})
    build(root, index_dir)
    come_to_rest(monkeypatch, root, index_dir, "a", "b")
    rewrite(f"{root}/b", content.replace(b"\0", b"\n"))
    time.sleep((sweep.RACY_NS + 1) / 1e9)
    for _ in range(2):
        assert sweeper((root, index_dir)).sweep().scan == [b"b"]
    indexed, scan = answers.both(root, index_dir)
    assert answers.ask(indexed, "needle") == answers.ask(scan, "needle") != []


def changed_if(name, digest_of):
    return lambda folder, path, **_: 1 if path == name else digest_of(folder, path)


def test_a_racy_ignore_file_is_walked_for_until_it_has_rested(tree, monkeypatch):
    """It may have been edited between the walk and the moment its times were noted."""
    root, index_dir = tree
    monkeypatch.setattr(sweep, "RACY_NS", ANY_NS)
    answers.write(root, {"s/.gitignore": "#\n"})
    build(root, index_dir)
    assert sweeper(tree).sweep().directories
    come_to_rest(monkeypatch, *tree, "s/.gitignore")
    assert sweeper(tree).sweep().count == 0
    diff = sweeper(tree).sweep()
    assert (diff.directories, diff.count) == ([], 0)


def test_a_sweep_out_of_time_says_that_it_is_unverified(tree):
    root, index_dir = tree
    diff = sweeper(tree).sweep(budget_s=-1)
    assert (diff.freshness, diff.count) == ("unverified", 0)
    answers.write(root, {"new": "needle\n"})
    indexed, _ = answers.both(root, index_dir)
    assert "new" not in answers.paths(answers.ask(indexed, "needle", sweep=False))
    assert freshness_of(indexed, sweep=False) == "unverified"


def test_another_backend_answers_where_there_is_no_time_for_a_sweep(tree, monkeypatch):
    root, index_dir = tree
    answers.write(root, {"new": "needle\n"})
    whole = sweep.Sweeper.sweep
    monkeypatch.setattr(sweep.Sweeper, "sweep", lambda self: whole(self, budget_s=-1))
    engine = Engine(root, index_dir=index_dir)
    request = SearchRequest(pattern=PatternSpec(patterns=("needle",)))

    search = engine.search(request)

    assert b"new" in [path for batch in search for path in batch.paths]
    assert search.totals.freshness == "swept"
    assert "could not be compared" in search.route.fell_back
    assert b"new" in list(engine.list_files(ScopeSpec()))
    with pytest.raises(errors.BackendFailure, match="could not be compared"):
        list(engine.search(replace(request, engine="index")))


def test_a_folder_that_only_lost_and_regained_a_name_costs_no_walk(tree, monkeypatch):
    root, _ = tree
    answers.write(root, {"b/t": ""})
    os.unlink(f"{root}/b/t")
    os.symlink("nowhere", f"{root}/b/link")

    def never(*_):
        raise AssertionError("nothing new is there")

    monkeypatch.setattr(sweep.walk, "walk_below", never)
    assert sweeper(tree).sweep().count == 0


def test_a_new_file_at_the_top_does_not_walk_the_folders_that_are_known(tree, monkeypatch):
    root, _ = tree
    answers.write(root, {"top": "needle\n"})
    entered = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: entered.append(path) or scandir(path))
    assert sweeper(tree).sweep().scan == [b"top"]
    assert {os.fsdecode(path).rstrip("/") for path in entered} == {root}


def test_change_times_that_moved_without_a_change_are_compared_once(tree, monkeypatch, tmp_path):
    """A hard link moves every change time of a tree and no byte of it."""
    root, index_dir = tree
    os.link(f"{root}/a", tmp_path / "link")
    rest()
    assert sweeper(tree).sweep().count == 0
    asked = []
    digest_of = racy_files.digest_of
    monkeypatch.setattr(
        racy_files,
        "digest_of",
        lambda folder, path, **_: asked.append(path) or digest_of(folder, path),
    )
    assert (sweeper(tree).sweep().count, asked) == (0, [])
    for damage in (b"", b"junk"):
        (remembered,) = (name for name in os.listdir(index_dir) if name.endswith(".npy"))
        with open(f"{index_dir}/{remembered}", "r+b") as file:
            file.truncate(10)
            file.write(damage)
        assert sweeper(tree).sweep().count == 0
        assert asked.pop() == b"a"


def test_an_edit_that_hides_among_moved_change_times_is_found(tree, tmp_path):
    root, _ = tree
    for name in ("a", "b/c"):
        os.link(f"{root}/{name}", tmp_path / name.replace("/", "-"))
    rewrite(f"{root}/b/c", b"noodle\n")
    rest()
    for _ in range(2):
        assert sweeper(tree).sweep().scan == [b"b/c"]
