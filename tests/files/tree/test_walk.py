"""The list of files is ripgrep's, byte for byte."""

import os
import sysconfig
from random import Random

import pytest

from tests import rg, sockets
from tests.strategies_trees import make_flags, make_tree, rg_arguments
from triseek.cli.operands import OperandPlace, as_typed
from triseek.errors import Cancelled, InvalidQuery, InvalidRequest, OutOfTime, RepoNotDetected
from triseek.files.tree.ignore import faults_above
from triseek.files.tree.walk import extra_files, path_order, walk, walk_below, walk_nearest
from triseek.model import budget
from triseek.model.search import ScopeSpec
from triseek.query.globs.scope import Excluded
from triseek.terminal.command_context import CommandContext

DEFAULT = ScopeSpec()
TREES_A_TEST = 20


@pytest.fixture(autouse=True)
def _scratch_home(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("XDG_CONFIG_HOME", "")


@pytest.fixture
def environment():
    return {name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME", "PATH")}


def grow(base, tree):
    """Make files from a mapping of path to text."""
    for name, text in tree.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return base


def listed(root, **scope):
    return walk(root, ScopeSpec(**scope)).paths


@pytest.mark.rg
@pytest.mark.parametrize("batch", range(11))
def test_generated_trees_are_listed_as_rg_lists_them(batch, tmp_path, monkeypatch):
    for seed in range(batch * TREES_A_TEST, (batch + 1) * TREES_A_TEST):
        random = Random(seed)
        tree = make_tree(random, tmp_path / str(seed))
        monkeypatch.setenv("HOME", tree.home)
        monkeypatch.setenv("XDG_CONFIG_HOME", tree.config)
        for scope in (DEFAULT, make_flags(random)):
            arguments = rg_arguments(scope)
            expected = rg.files(tree.root, *arguments, environment=tree.environment())
            assert walk(tree.root, scope).paths == expected, (seed, arguments)


@pytest.mark.rg
@pytest.mark.slow
@pytest.mark.parametrize("batch", range(10))
def test_many_more_generated_trees_are_listed_as_rg_lists_them(batch, tmp_path, monkeypatch):
    for seed in range(10_000 + batch * 50, 10_000 + (batch + 1) * 50):
        random = Random(seed)
        tree = make_tree(random, tmp_path / str(seed))
        monkeypatch.setenv("HOME", tree.home)
        monkeypatch.setenv("XDG_CONFIG_HOME", tree.config)
        for scope in (DEFAULT, *(make_flags(random) for _ in range(4))):
            arguments = rg_arguments(scope)
            expected = rg.files(tree.root, *arguments, environment=tree.environment())
            assert walk(tree.root, scope).paths == expected, (seed, arguments)


def typed_operand(random, tree, folders):
    """A working folder, a folder to walk relative to the root, and one way to type it from there.

    The root may be typed from a folder below it or above it, absolute or with `..`.
    """
    root = os.path.realpath(os.fsencode(tree.root))
    inside = random.choice([b"", *folders])
    below = [os.path.join(root, folder) for folder in folders]
    here = random.choice([root, os.path.dirname(root), *below])
    target = os.path.join(root, inside) if inside else root
    relative = os.path.relpath(target, here)
    # To ripgrep `././x` lies not in the folder of the rules of `././.ignore`.
    dotted = relative if relative == b"." else b"./" + relative
    typed = random.choice([relative, dotted, relative + b"/", target])
    return os.fsdecode(here), inside, os.fsdecode(typed)


def check_operands(seed, tmp_path, monkeypatch):
    random = Random(seed)
    tree = make_tree(random, tmp_path / str(seed))
    monkeypatch.setenv("HOME", tree.home)
    monkeypatch.setenv("XDG_CONFIG_HOME", tree.config)
    folders = [folder for folder in walk(tree.root, DEFAULT).directories if folder]
    for scope in (DEFAULT, make_flags(random), make_flags(random)):
        here, inside, typed = typed_operand(random, tree, folders)
        if typed.startswith("-"):
            typed = "./" + typed
        arguments = [*rg_arguments(scope), typed]
        expected = rg.files(here, *arguments, environment=tree.environment())
        world = CommandContext(terminal=False, width=80, plain=True, stdin_readable=False, cwd=here)
        place = OperandPlace(None, inside, typed)
        asked = as_typed(scope, place, world)
        paths = walk(tree.root, asked, within=(os.fsdecode(inside),)).paths
        shown = place.all_shown(paths)
        assert shown == expected, (seed, here, arguments)


MORE = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(30_000, 31_000, 20)]


@pytest.mark.rg
@pytest.mark.parametrize("first", [*range(20_000, 20_100, 20), *MORE])
def test_operands_are_listed_as_rg_lists_them_from_any_folder(first, tmp_path, monkeypatch):
    for seed in range(first, first + 20):
        check_operands(seed, tmp_path, monkeypatch)


@pytest.mark.rg
@pytest.mark.parametrize(
    "scope",
    [DEFAULT, ScopeSpec(hidden=True, no_ignore=True), ScopeSpec(globs=("*.py", "!tests/"))],
)
def test_site_packages_are_listed_as_rg_lists_them(scope, environment):
    root = sysconfig.get_path("purelib")
    expected = rg.files(root, *rg_arguments(scope), environment=environment)
    assert expected
    assert walk(root, scope).paths == expected


@pytest.mark.rg
def test_a_folder_that_cannot_be_read_is_noted_and_the_walk_goes_on(tmp_path, environment):
    grow(tmp_path, {"a/x": "", "shut/y": "", "z": ""})
    os.chmod(tmp_path / "shut", 0)
    open_up(tmp_path)
    effective = os.geteuid()
    try:
        if effective == 0:
            os.seteuid(65534)  # root may read everything; nobody may not
        if os.access(tmp_path / "shut", os.R_OK, effective_ids=True):
            pytest.skip("this user may read everything")
        found = walk(tmp_path, DEFAULT)
        expected = rg.files(tmp_path, environment=environment)
    finally:
        os.seteuid(effective)
        os.chmod(tmp_path / "shut", 0o755)
    assert found.paths == expected == [b"a/x", b"z"]
    assert [(skip.path, skip.reason) for skip in found.skipped] == [(b"shut", "unreadable")]


def open_up(path):
    """Let everybody reach a folder of pytest's, which are private."""
    while os.stat(path).st_uid == os.geteuid() and path != path.parent:
        os.chmod(path, os.stat(path).st_mode | 0o055)
        path = path.parent


@pytest.mark.rg
def test_three_hundred_folders_deep_is_no_trouble(tmp_path, environment):
    folder = os.fsencode(tmp_path)
    for _ in range(300):
        folder += b"/d"
        os.mkdir(folder)
    with open(folder + b"/leaf", "wb"):
        pass
    paths = walk(tmp_path, DEFAULT).paths
    assert paths == rg.files(tmp_path, environment=environment)
    assert paths == [b"d/" * 300 + b"leaf"]


def test_names_that_are_not_utf8_are_raw_bytes(tmp_path):
    for name in (b"caf\xe9", b"\xff\xfe.c"):
        with open(os.fsencode(tmp_path) + b"/" + name, "wb"):
            pass
    assert listed(tmp_path) == [b"caf\xe9", b"\xff\xfe.c"]


def test_paths_come_component_by_component(tmp_path):
    grow(tmp_path, {"a/z": "", "a.c": "", "a b": "", "a-": "", "a/b/c": "", "B": ""})
    paths = [b"B", b"a/b/c", b"a/z", b"a b", b"a-", b"a.c"]
    assert listed(tmp_path) == paths
    assert sorted({*paths}, key=path_order) == paths


def test_links_pipes_and_sockets_are_not_files(tmp_path):
    grow(tmp_path, {"file": ""})
    os.symlink("file", tmp_path / "link")
    os.mkfifo(tmp_path / "pipe")
    sockets.bound(tmp_path / "socket").close()
    assert listed(tmp_path) == [b"file"]
    assert listed(tmp_path, follow=True) == [b"file", b"link"]


def test_a_link_to_a_folder_above_is_noted_as_a_loop(tmp_path):
    grow(tmp_path, {"a/b/file": ""})
    os.symlink("..", tmp_path / "a" / "b" / "up")
    os.symlink("nowhere", tmp_path / "a" / "broken")
    found = walk(tmp_path, ScopeSpec(follow=True))
    assert found.paths == [b"a/b/file"]
    assert {(skip.path, skip.reason) for skip in found.skipped} == {
        (b"a/b/up", "loop"),
        (b"a/broken", "unreadable"),
    }


def test_git_itself_is_listed_only_when_hidden_files_are(tmp_path):
    grow(tmp_path, {".git/HEAD": "", "a": ""})
    assert listed(tmp_path) == [b"a"]
    assert listed(tmp_path, no_ignore=True) == [b"a"]
    assert listed(tmp_path, hidden=True) == [b".git/HEAD", b"a"]


def test_the_allow_list_shows_well_known_places_at_the_top_only(tmp_path):
    grow(
        tmp_path,
        {".github/w.yml": "", ".github/.secret": "", ".editorconfig": "", ".other": "",
         "sub/.editorconfig": "", "sub/.github/w.yml": "", "a": "", ".prettierrc.json": ""},
    )  # fmt: skip
    found = walk(tmp_path, ScopeSpec(allowlist=True))
    shown = {b".editorconfig", b".github/w.yml", b".prettierrc.json"}
    assert found.paths == [*sorted(shown), b"a"]
    assert found.allowlisted == shown


def test_ignore_rules_hold_in_the_allow_list_too(tmp_path):
    rules = ".claude/\n.npmrc\n.github/local*\n"
    grow(
        tmp_path,
        {".ignore": rules, ".claude/state": "", ".npmrc": "", ".github/local.yml": "",
         ".github/ci.yml": ""},
    )  # fmt: skip
    found = walk(tmp_path, ScopeSpec(allowlist=True))
    assert found.paths == [b".github/ci.yml"]


def test_a_hidden_file_an_ignore_file_brings_back_is_not_the_allow_lists(tmp_path):
    grow(tmp_path, {".ignore": "!.npmrc\n", ".npmrc": ""})
    found = walk(tmp_path, ScopeSpec(allowlist=True))
    assert found.paths == [b".npmrc"]
    assert found.allowlisted == set()


def test_what_is_left_out_is_told_with_its_reason(tmp_path):
    grow(
        tmp_path,
        {".ignore": "build/\n*.o\n", "build/deep/x": "", "a.o": "", "a.c": "", ".env": "",
         "sub/.cache/y": "", "sub/b.c": ""},
    )  # fmt: skip
    found = walk(tmp_path, DEFAULT)
    assert found.excluded == [
        Excluded(b".env", is_dir=False, hidden=True),
        Excluded(b".ignore", is_dir=False, hidden=True),
        Excluded(b"a.o", is_dir=False, hidden=False),
        Excluded(b"build", is_dir=True, hidden=False),
        Excluded(b"sub/.cache", is_dir=True, hidden=True),
    ]
    assert found.directories == [b"", b"sub"]


@pytest.mark.rg
def test_named_places_are_walked_even_where_they_are_ignored(tmp_path, environment):
    grow(
        tmp_path,
        {".ignore": "build/\n*.o\n", "build/x": "", "build/y.o": "", "a.o": "", ".h/.z": "",
         ".h/z": "", "other": ""},
    )  # fmt: skip
    found = walk(tmp_path, DEFAULT, within=("build", "a.o", ".h/", "gone"))
    assert found.paths == [b".h/z", b"a.o", b"build/x"]
    assert [(skip.path, skip.reason) for skip in found.skipped] == [(b"gone", "not_found")]
    theirs = rg.files(tmp_path, "build", "a.o", ".h", environment=environment)
    assert sorted(theirs) == sorted(found.paths)


def random_trees(folder, monkeypatch):
    """Forty trees with rules, each with its own settings and its source of chance."""
    for seed in range(40):
        random = Random(seed)
        tree = make_tree(random, folder / str(seed))
        monkeypatch.setenv("HOME", tree.home)
        monkeypatch.setenv("XDG_CONFIG_HOME", tree.config)
        yield random, tree


def test_below_folders_a_walk_finds_what_the_whole_walk_finds_there(tmp_path, monkeypatch):
    for random, tree in random_trees(tmp_path, monkeypatch):
        scope = ScopeSpec(allowlist=True)
        whole = walk(tree.root, scope)
        some = random.sample(whole.directories, min(2, len(whole.directories)))
        folders = [*some, b"a/nowhere", *(entry.path for entry in whole.excluded[:1])]
        below = tuple(folder + b"/" if folder else b"" for folder in some)
        found = walk_below(tree.root, scope, folders)
        assert found.paths == [path for path in whole.paths if path.startswith(below)]
        assert found.allowlisted == {path for path in whole.allowlisted if path.startswith(below)}
        assert found.excluded == [out for out in whole.excluded if out.path.startswith(below)]
        assert set(some) <= set(found.directories) <= set(whole.directories)


def test_extra_files_are_those_of_a_walk(tmp_path, monkeypatch):
    for seed, (random, tree) in enumerate(random_trees(tmp_path, monkeypatch)):
        hidden = walk(tree.root, ScopeSpec(hidden=True, no_ignore=True)).paths
        also = frozenset(random.sample(hidden, min(3, len(hidden))))
        folders = [os.fsdecode(path) for path in walk(tree.root, DEFAULT).directories]
        within = tuple(random.sample(folders, min(seed % 3, len(folders))))
        for scope in (
            ScopeSpec(allowlist=True),
            ScopeSpec(also=also),
            ScopeSpec(allowlist=True, also=also, globs=(random.choice(["!a", "*", ".*/**"]),)),
        ):
            whole = walk(tree.root, scope, within=within)
            assert extra_files(tree.root, scope, within=within) == whole.allowlisted, (seed, scope)


def test_extra_files_are_looked_for_where_they_may_be(tmp_path, monkeypatch):
    grow(tmp_path, {"src/a/b/c": "", ".github/x/y": "", "lib/.cfg/z": "", "lib/deep/er": ""})
    entered, scandir = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: entered.append(path) or scandir(path))
    scope = ScopeSpec(allowlist=True, also=frozenset([b"lib/.cfg/z"]))

    assert extra_files(tmp_path, scope) == {b".github/x/y", b"lib/.cfg/z"}
    root = os.fsencode(tmp_path)
    assert set(entered) <= {
        root, root + b"/.github/", root + b"/.github/x/", root + b"/lib/", root + b"/lib/.cfg/"
    }  # fmt: skip


def test_a_walk_of_the_nearest_files_that_comes_to_its_end_is_whole(tmp_path, monkeypatch):
    for random, tree in random_trees(tmp_path, monkeypatch):
        scope = make_flags(random)
        folder = random.choice(walk(tree.root, scope).directories or [b""])

        nearest, whole = walk_nearest(tree.root, scope), walk(tree.root, scope)
        for each in (nearest, whole):  # these two are in the order of the walk
            each.special.sort()
            each.skipped.sort(key=repr)
        assert nearest == whole
        below = walk_nearest(tree.root, scope, below=folder)
        assert below.paths == walk_below(tree.root, scope, [folder]).paths


def test_it_ends_at_a_number_of_entries_with_those_nearest_to_the_root(tmp_path):
    grow(tmp_path, {"a/b/c/d": "", "a/b/x": "", "a/y": "", "z": ""})
    walked = walk_nearest(tmp_path, DEFAULT, entries_max=3)

    assert walked.paths == [b"a/y", b"z"]
    assert walked.is_partial


class Asked:
    """A request that is over when it was asked about a number of times."""

    def __init__(self, times, error):
        self.times, self.error = times, error

    def __call__(self):
        self.times -= 1
        if self.times < 0:
            raise self.error


@pytest.mark.parametrize("times", [0, 1, 2, 3])
def test_it_ends_when_the_time_is_over_with_what_it_has_listed(tmp_path, monkeypatch, times):
    monkeypatch.setattr(budget, "ASK_S", 0.0)
    grow(tmp_path, {"a/b/c/d": "", "a/b/x": "", "a/y": "", "z": ""})
    with budget.limited(ask=Asked(times, OutOfTime("over"))):
        walked = walk_nearest(tmp_path, DEFAULT)
    with budget.limited(ask=Asked(times, OutOfTime("over"))), pytest.raises(OutOfTime):
        walk(tmp_path, DEFAULT)

    assert walked.paths == [[], [b"z"], [b"a/y", b"z"], [b"a/b/x", b"a/y", b"z"]][times]
    assert walked.is_partial


def test_it_fails_when_nobody_waits_for_it(tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "ASK_S", 0.0)
    grow(tmp_path, {"a/b/c/d": ""})
    with budget.limited(ask=Asked(1, Cancelled("gone"))), pytest.raises(Cancelled):
        walk_nearest(tmp_path, DEFAULT)


def test_a_place_named_twice_is_listed_once(tmp_path):
    grow(tmp_path, {"a/b/c": "", "a/d": ""})
    assert walk(tmp_path, DEFAULT, within=("a", "a/b", "./a/")).paths == [b"a/b/c", b"a/d"]


@pytest.mark.parametrize("place", ["..", "../x", "a/../../b", "/etc"])
def test_places_outside_of_the_root_are_refused(place, tmp_path):
    with pytest.raises(InvalidRequest, match="outside"):
        walk(tmp_path, DEFAULT, within=(place,))


def test_lines_that_are_no_globs_are_reported_and_the_others_count(tmp_path):
    grow(tmp_path, {".ignore": "{a\n*.o\n", "x.o": "", "y": ""})
    found = walk(tmp_path, DEFAULT)
    assert found.paths == [b"y"]
    ((path, why),) = faults_above(os.fsencode(tmp_path / "below"), DEFAULT)
    assert path.endswith(b"/.ignore")
    assert "line 1" in why


def test_an_ignore_file_that_was_asked_for_and_is_missing_leaves_nothing_out(tmp_path):
    grow(tmp_path, {"a": ""})
    found = walk(tmp_path, ScopeSpec(ignore_files=("gone",)))
    assert found.paths == [b"a"]


def test_a_missing_root_and_bad_globs_and_types_are_named(tmp_path):
    with pytest.raises(RepoNotDetected, match="gone"):
        walk(tmp_path / "gone", DEFAULT)
    with pytest.raises(InvalidQuery, match=r"\{a"):
        walk(tmp_path, ScopeSpec(globs=("{a",)))
    with pytest.raises(InvalidQuery, match="nosuch"):
        walk(tmp_path, ScopeSpec(types=("nosuch",)))


@pytest.mark.rg
def test_a_hidden_name_that_ends_with_a_dot_is_not_hidden_to_rg(tmp_path, environment):
    grow(tmp_path, {".x.": "", ".d./y": "", ".z": ""})
    paths = walk(tmp_path, DEFAULT).paths
    assert paths == rg.files(tmp_path, environment=environment) == [b".d./y", b".x."]
