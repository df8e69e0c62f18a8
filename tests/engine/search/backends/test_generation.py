"""What is listed from a generation is what a walk lists, in its order."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine import answers
from triseek.engine.search.backends import generation
from triseek.files.tree.walk import path_order, walk
from triseek.index.build import build
from triseek.index.update import update
from triseek.model.search import ScopeSpec

NAMES = st.lists(st.sampled_from([b"a", b"a-", b"b", b"\xff", b"a\nb"]), min_size=1, max_size=3)
PATHS = st.lists(NAMES.map(b"/".join), max_size=12)


@settings(deadline=None)
@given(PATHS, PATHS, st.booleans())
def test_loose_paths_find_their_place_once(names, loose, few):
    ordered = sorted(set(names), key=path_order)
    if few:  # else a place for each is not looked for
        ordered = sorted({*ordered, *(b"a/%05d" % i for i in range(400))}, key=path_order)
    expected = sorted({*ordered, *loose}, key=path_order)
    assert generation._merged(ordered, loose) == expected


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """300 files, some of them left out, and an update's worth of later ones."""
    root = tmp_path_factory.mktemp("listed") / "root"
    plain = {f"{folder}/x{i:02}.{end}": "x" for folder in "abc" for i in range(50) for end in "ch"}
    odd = {
        "b/deep/deep/x.c": "x",
        "a-/x.c": "x",
        "a.c": "x",
        "a/deep/er/x.c": "x",
        "b/usb core/\n.c": "x",
        ".ignore": "*.o\n/left/\n",
    }
    left = {".x.c": "x", "a/x.o": "x", "left/usb.c": "x", "left/.usb/x.c": "x", ".github/x.c": "x"}
    answers.write(root, plain | odd | left)
    index_dir = str(root) + ".index"
    build(str(root), index_dir)
    later = {"a/later.c": "x", "a-/y.h": "x", "zz/usb/later.c": "x", ".later.c": "x"}
    answers.write(root, later)
    (root / "b/x00.c").unlink()
    update(str(root), index_dir)
    answers.write(root, {"b/new.c": "x", "c/x00.c": "changed"})
    return root, answers.both(root, index_dir)[0]


@pytest.mark.parametrize(
    "spec",
    [
        ScopeSpec(), ScopeSpec(allowlist=True), ScopeSpec(globs=("*.c",)),
        ScopeSpec(globs=("*usb*",)), ScopeSpec(globs=("*usb*", "**/*usb*/**")),
        ScopeSpec(globs=("**/usb/*.c",)), ScopeSpec(globs=("left/", "*x*")),
        ScopeSpec(globs=("**/left/**",)), ScopeSpec(iglobs=("*LATER*",)), ScopeSpec(globs=("*.o",)),
        ScopeSpec(globs=(".*",)), ScopeSpec(globs=("!*x1*", "!**/usb/**")),
        ScopeSpec(globs=("!a",)), ScopeSpec(globs=("!deep", "!b")), ScopeSpec(globs=("*.o", "!a")),
        ScopeSpec(types=("c",)), ScopeSpec(globs=(".github", "*.c"), allowlist=True),
        ScopeSpec(globs=(".github", "*.c")), ScopeSpec(globs=("*.c",), allowlist=True),
    ],
    ids=repr,
)  # fmt: skip
def test_a_listing_is_that_of_a_walk(tree, spec):
    root, indexed = tree
    first, second = indexed.list_files(spec)[0], indexed.list_files(spec)[0]
    assert first == second == walk(str(root), spec).paths
    for named in (("a", "b"), ("a/deep",), ("b/deep/deep", "b"), (".", "a/deep/er")):
        assert indexed.list_files(spec, named)[0] == walk(str(root), spec, within=named).paths, (
            named
        )
