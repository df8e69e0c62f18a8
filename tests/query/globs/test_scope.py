"""A scope chooses among known files what ripgrep would list among them."""

from random import Random

import numpy as np
import pytest

from tests import rg
from tests.strategies_trees import make_scope, make_tree, rg_arguments
from triseek.errors import InvalidQuery
from triseek.model.search import ScopeSpec
from triseek.query.globs.path_table import PathTable
from triseek.query.globs.scope import Excluded, Scope, within

PATHS = [b"Makefile", b"a.c", b"src/a.c", b"src/a.h", b"src/x/b.c", b"vendor/src/a.c", b"y.py"]


def chosen(**scope):
    keep = Scope.compile(ScopeSpec(**scope)).select(PATHS)
    return [path for path, kept in zip(PATHS, keep.tolist(), strict=True) if kept]


@pytest.mark.rg
@pytest.mark.parametrize("batch", range(5))
def test_globs_and_types_choose_what_rg_chooses(batch, tmp_path, monkeypatch):
    """And whatever rg lists beyond the default walk was announced by `may_whitelist`."""
    # Only this test needs a walk, and query knows nothing of disks.
    from triseek.files.tree.walk import walk

    for seed in range(5_000 + batch * 8, 5_000 + (batch + 1) * 8):
        random = Random(seed)
        tree = make_tree(random, tmp_path / str(seed))
        monkeypatch.setenv("HOME", tree.home)
        monkeypatch.setenv("XDG_CONFIG_HOME", tree.config)
        found = walk(tree.root, ScopeSpec())
        table, known = PathTable.of(found.paths), set(found.paths)
        for _ in range(4):
            spec = make_scope(random)
            scope, arguments = Scope.compile(spec), rg_arguments(spec)
            theirs = rg.files(tree.root, *arguments, environment=tree.environment())
            ours = [found.paths[at] for at in np.flatnonzero(scope.select(table)).tolist()]
            assert ours == [path for path in theirs if path in known], (seed, arguments)
            beyond = [path for path in theirs if path not in known]
            back = scope.may_whitelist(found.excluded)
            below = tuple(entry.path + b"/" for entry in back if entry.is_dir)
            files = {entry.path for entry in back if not entry.is_dir}
            assert {path for path in beyond if not path.startswith(below)} == files, arguments


@pytest.mark.rg
def test_places_only_the_allow_list_shows_are_chosen_as_rg_chooses_them(tmp_path, monkeypatch):
    from triseek.files.tree.walk import walk

    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    environment = {"HOME": str(tmp_path / "nobody"), "PATH": ""}
    for name in (
        ".github/a.yml", ".github/x/b.py", ".github/.b.yml", ".github/.y/c.py", ".gitlab-ci.yml",
        "c.yml", ".npmrc", "d/e.py", "d/.f.yml",
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = walk(tmp_path, ScopeSpec(allowlist=True))
    shown = np.array([path in found.allowlisted for path in found.paths])
    for spec in (
        ScopeSpec(), ScopeSpec(types=("yaml",)), ScopeSpec(globs=("*.yml",)),
        ScopeSpec(globs=(".github",)), ScopeSpec(globs=(".github", "*.py")),
        ScopeSpec(globs=(".github/", "!x")), ScopeSpec(globs=("!*.py",)), ScopeSpec(globs=(".*",)),
        ScopeSpec(globs=("**",)), ScopeSpec(globs=("**", "!.github")), ScopeSpec(max_depth=1),
    ):  # fmt: skip
        scope = Scope.compile(spec)
        keep = scope.select(found.paths, shown)
        left_out = scope.may_whitelist(found.excluded)
        back = [entry for entry in left_out if not scope.below_hidden(entry)]
        ours = {found.paths[at] for at in np.flatnonzero(keep).tolist()}
        ours |= {entry.path for entry in back if not entry.is_dir}
        below = tuple(entry.path + b"/" for entry in back if entry.is_dir)
        theirs = rg.files(tmp_path, *rg_arguments(spec), environment=environment)
        assert ours == {path for path in theirs if not path.startswith(below)}, spec


def test_globs_take_leave_out_and_prune():
    assert chosen(globs=("*.c",)) == [b"a.c", b"src/a.c", b"src/x/b.c", b"vendor/src/a.c"]
    assert chosen(globs=("src/**/*.c",)) == [b"src/a.c", b"src/x/b.c"]
    assert chosen(globs=("*.c", "!vendor/")) == [b"a.c", b"src/a.c", b"src/x/b.c"]
    assert chosen(globs=("!vendor", "vendor/src/a.c")) == []
    assert chosen(globs=("!src",)) == [b"Makefile", b"a.c", b"y.py"]
    assert chosen(globs=("!*.c", "a.c")) == [b"a.c", b"src/a.c", b"vendor/src/a.c"]
    assert chosen(iglobs=("MAKE*",)) == [b"Makefile"]
    assert chosen(globs=("MAKE*",)) == []
    assert chosen(globs=("MAKE*",), glob_case_insensitive=True) == [b"Makefile"]


def test_types_matter_only_where_no_glob_matches():
    assert chosen(types=("py",)) == [b"y.py"]
    assert chosen(types=("py",), globs=("*.h",)) == [b"src/a.h"]
    assert chosen(types=("c",), globs=("!/src",)) == [b"a.c", b"vendor/src/a.c"]
    assert chosen(types_not=("c",)) == [b"Makefile", b"y.py"]


def test_depth_counts_components():
    assert chosen(max_depth=1) == [b"Makefile", b"a.c", b"y.py"]
    assert chosen(max_depth=0) == []


def test_a_scope_says_whether_it_restricts_or_widens():
    assert Scope.compile(ScopeSpec()).selects_all
    assert not Scope.compile(ScopeSpec(globs=("x",))).selects_all
    assert not Scope.compile(ScopeSpec(max_depth=3)).selects_all
    assert Scope.compile(ScopeSpec(hidden=True)).widens_walk
    assert not Scope.compile(ScopeSpec(globs=("x",))).widens_walk


def test_only_positive_globs_and_types_bring_back_what_was_left_out():
    left_out = [
        Excluded(b"build", is_dir=True),
        Excluded(b"a.o", is_dir=False),
        Excluded(b".x.py", is_dir=False, hidden=True),
        Excluded(b"ignored.py", is_dir=False),
    ]

    def back(**scope):
        return [entry.path for entry in Scope.compile(ScopeSpec(**scope)).may_whitelist(left_out)]

    assert back() == back(globs=("!*.o",)) == back(types_not=("c",)) == []
    assert back(globs=("*.o",)) == [b"a.o"]
    assert back(globs=("build/",)) == [b"build"]
    assert back(types=("py",)) == [b".x.py"]


def test_within_is_a_folder_or_a_file_and_not_a_prefix_of_a_name():
    assert within(PATHS, "src").tolist() == [path.startswith(b"src/") for path in PATHS]
    assert within(PATHS, "./src/x/").tolist() == [path == b"src/x/b.c" for path in PATHS]
    assert within(PATHS, "sr").sum() == 0
    assert within(PATHS, b"a.c").tolist() == [path == b"a.c" for path in PATHS]
    assert within(PATHS, ".").all()


@pytest.mark.parametrize("spec", [ScopeSpec(globs=("[",)), ScopeSpec(iglobs=("{a",))])
def test_an_invalid_glob_is_refused_with_its_text(spec):
    (glob,) = spec.globs + spec.iglobs
    with pytest.raises(InvalidQuery) as caught:
        Scope.compile(spec)
    assert repr(glob) in caught.value.message
