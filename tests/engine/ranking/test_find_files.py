"""find_files: the index and a walk find the same files, in the same order."""

from __future__ import annotations

import os
import random

import pytest

from tests.engine import answers
from triseek.engine.agent_scope import agent_scope
from triseek.engine.engine import Engine
from triseek.engine.ranking.find_files import PathQuery, find_files
from triseek.engine.ranking.path_class import PathClass, path_class
from triseek.errors import InvalidQuery
from triseek.files.tree.walk import walk
from triseek.index.build import build

NAMES = [
    "router.rs", "Router.ts", "router_test.py", "auth.rs", "ÜBER.txt", "über.md", "a b.c", "README",
    "x.min.js", "ﬃ.txt", "\u212aelvin.py", "kelvin.py",
]  # fmt: skip
FOLDERS = ["", "src", "src/auth", "tests", "vendor/router", "Docs", ".github", "sub"]
QUERIES = [
    "router", "ROUTER", "router auth", "auth router", "src/", "/", "über", "ÜBER", "kelvin", "a b",
    "r", "nothing", "*.rs", "src/**", "**/*router*", "*.{ts,py}", "!*.rs", "[rR]outer*", ". r",
    "vendor", "\udcff", "ﬃ", "**", "src/**/*", "src/auth/**", "./src/**", "/Docs/**", "no/**",
]  # fmt: skip


@pytest.fixture(params=range(3))
def tree(request, tmp_path):
    """A tree, and whatever happened to it since it was indexed."""
    chance = random.Random(request.param)
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    every = [os.path.join(folder, name) for folder in FOLDERS for name in NAMES]
    answers.write(root, dict.fromkeys(chance.sample(every, 60), "x\n"))
    with open(os.fsencode(root) + b"/\xff.rs", "wb"):
        pass
    build(root, index_dir)
    later = chance.sample(every, 20)
    answers.write(root, dict.fromkeys(later[:10], "y\n"))
    for name in later[10:]:
        if os.path.exists(f"{root}/{name}"):
            os.unlink(f"{root}/{name}")
    return Engine(root, index_dir=index_dir), Engine(root)


def found(engine, query, scores):
    return find_files(engine, query, agent_scope(engine.root, query.globs), scores)


@pytest.mark.parametrize("text", QUERIES)
def test_the_index_and_a_walk_find_the_same_in_the_same_order(tree, text):
    by_index, by_walk = (found(engine, PathQuery(text), {}) for engine in tree)

    assert (by_index.route.backend, by_walk.route.backend) == ("indexed", "direct_scan")
    assert by_index.paths == by_walk.paths


@pytest.mark.parametrize("text", ["router", "ROUTER au", "über", "kelvin", "src/"])
def test_words_are_all_in_the_path_in_any_order_and_case(tree, text):
    query = PathQuery(text)
    every = walk(tree[1].root, agent_scope(tree[1].root)).paths
    words = [word.lower() for word in text.split()]
    held = {
        path
        for path in every
        if all(
            word.encode() in path.lower() if word.isascii() else word in os.fsdecode(path).lower()
            for word in words
        )
    }

    assert set(found(tree[0], query, {}).paths) == held


@pytest.mark.parametrize(
    ("glob", "folder"),
    [
        ("src/**/*.py", "src"), ("./src/a/*.py", "src/a"), ("/src/a/b", ""), ("/src/*", "src"),
        ("src/**", "src"), ("*.py", ""), ("**/src/*.py", ""), ("{src,lib}/*", ""), ("s?c/*", ""),
        ("src/../*", "src"), ("../*", ""), ("src//*", "src"), ("!src/*", ""), ("src/a*", "src"),
        ("sr\\c/*", ""), ("src/[ab]/c/*", "src"), ("src/*/b/c", "src"), ("src", ""),
    ],
)  # fmt: skip
def test_a_globs_folder_is_where_all_that_matches_is(glob, folder):
    assert PathQuery(glob).folder == folder.encode()


@pytest.mark.parametrize(
    "glob", ["src/**/*.py", "src/**", "/src/*", "src/a/*", "./src/*.py", "src/*/*.py", "lib/**"]
)
def test_only_that_folder_is_listed(tmp_path, monkeypatch, glob):
    names = ["src/x.py", "src/a/y.py", "src/a/b/z.py", "lib/src/x.py", "other/src/a/y.py", "x.py"]
    answers.write(str(tmp_path), dict.fromkeys(names, ""))
    query = PathQuery(glob)
    every = walk(tmp_path, agent_scope(str(tmp_path), query.globs)).paths
    entered, scandir = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: entered.append(path) or scandir(path))

    assert sorted(found(Engine(str(tmp_path)), query, {}).paths) == sorted(query.among(every))
    assert not any(b"other" in os.fsencode(path) for path in entered)


def test_a_tree_that_takes_too_long_is_listed_in_part(tmp_path):
    answers.write(str(tmp_path), {"x.py": "", "a/x.py": ""})
    engine, scope = Engine(str(tmp_path)), agent_scope(str(tmp_path))

    assert find_files(engine, PathQuery("x"), scope, {}).complete
    assert not find_files(engine, PathQuery("x"), scope, {}, seconds=0.0).complete


def distance(text, path):
    [value] = PathQuery(text).distances([path.encode()])
    return value


def test_what_is_meant_is_nearer_than_what_holds_the_words():
    ranked = [
        "src/router.rs", "src/router_table.rs", "src/my_router.rs", "router/mod.rs",
    ]  # fmt: skip
    told = [distance("router", path) for path in ranked]

    assert told == sorted(told)
    assert len(set(told)) == len(told)


def test_a_name_with_all_the_words_is_nearer_than_one_with_some_and_that_than_none():
    assert (
        distance("auth router", "x/auth_router.rs")
        < distance("auth router", "auth/my_router.rs")
        < distance("auth router", "auth/router/mod.rs")
    )


@pytest.mark.parametrize(
    ("text", "ordered"),
    [
        ("auth router", ["x/auth_router.rs", "auth/router.rs", "auth/router_pool.rs"]),
        ("redis backend", ["backends/redis.py", "redis_backend_b.py", "backends/redisb.py"]),
        ("transforms v for", ["transforms/vFor.ts", "transforms/vForm.ts", "transforms/v/form.ts"]),
        ("utils/time", ["x/utils/time.py", "utils/timer.py", "utils/times/x.py"]),
        ("time.py", ["utils/time.py", "utils/runtime.py"]),
        ("fs fs", ["lib/fs/fs.go", "fs.go"]),
    ],
)  # fmt: skip
def test_the_words_as_a_name_and_its_folders_are_nearest(text, ordered):
    distances = [distance(text, path) for path in ordered]

    assert distances == sorted(distances)
    assert len(set(distances)) == len(distances)


def test_among_equals_the_file_in_fewer_folders_comes_first(tmp_path):
    root = str(tmp_path)
    answers.write(root, dict.fromkeys(["celery/apps/beat.py", "celery/beat.py"], ""))

    paths = found(Engine(root), PathQuery("celery beat"), {}).paths

    assert paths == [b"celery/beat.py", b"celery/apps/beat.py"]


@pytest.mark.parametrize(
    "text", ["fromJsonSchema", "from_json_schema", "from-json-schema", "FromJSONSchema"]
)
def test_parts_of_a_name_may_be_joined_in_any_way(tmp_path, text):
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    names = ["a/from-json-schema.ts", "a/fromJsonSchema.ts", "b/from_json_schema.py"]
    others = ["a/from.ts", "json/schema.ts", "from/json-schema.ts", "a/toJsonSchema.ts"]
    answers.write(root, dict.fromkeys([*names, *others], ""))
    build(root, index_dir)

    for engine in (Engine(root, index_dir=index_dir), Engine(root)):
        assert sorted(found(engine, PathQuery(text), {}).paths) == sorted(
            name.encode() for name in names
        )


def test_source_comes_before_tests_and_docs_unless_the_query_names_them(tmp_path):
    root = str(tmp_path)
    source, test, docs = (
        "celery/backends/redis.py",
        "t/test_redis_backend.py",
        "docs/redis_backend.rst",
    )
    answers.write(root, dict.fromkeys([source, test, docs], ""))

    def first(text):
        return found(Engine(root), PathQuery(text), {}).paths[0].decode()

    assert first("redis backend") == source
    assert first("test_redis") == test
    assert first("docs redis") == docs


def test_an_absolute_path_inside_the_root_is_one_below_it(tmp_path):
    root = str(tmp_path)
    answers.write(root, {"src/a.py": "", "src/b.py": ""})

    for text in (f"{root}/src/a.py", f"{root}/src/a*"):
        query = PathQuery(text, root)
        assert found(Engine(root), query, {}).paths == [b"src/a.py"]


def test_among_equals_used_files_come_first_then_path_order(tree):
    plain = found(tree[1], PathQuery("*.rs"), {}).paths
    last = [path for path in plain if path_class(path) is PathClass.SOURCE][-1]
    moved = found(tree[1], PathQuery("*.rs"), {last: 1.0}).paths

    assert sorted(moved) == sorted(plain)
    assert (moved[0], plain.index(last) > 0) == (last, True)


@pytest.mark.parametrize("text", ["**", "**/*", "src/**", "./src/**/*"])
def test_a_glob_for_all_of_a_folder_takes_what_is_listed_there(tmp_path, text):
    """And not what is ignored, as it would if it were ripgrep's."""
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, {"src/a.py": "", "src/out/b.py": "", "src/.c.py": "", ".git/HEAD": "",
                       ".gitignore": "out/\n"})  # fmt: skip
    build(root, index_dir)
    expected = {b"src/a.py"} | ({b".gitignore"} if text.startswith("**") else set())

    for engine in (Engine(root, index_dir=index_dir), Engine(root)):
        assert set(found(engine, PathQuery(text), {}).paths) == expected


@pytest.mark.parametrize("text", ["nowhere", "nowhere else", "\u00fcberall"])
def test_no_file_has_words_that_no_path_has(tmp_path, text):
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, {"a.py": ""})
    build(root, index_dir)

    for engine in (Engine(root, index_dir=index_dir), Engine(root)):
        assert found(engine, PathQuery(text), {}).paths == []


@pytest.mark.parametrize("text", ["", " \t\n", "a\0b"])
def test_a_query_that_is_none_is_refused(text):
    with pytest.raises(InvalidQuery):
        PathQuery(text)


def test_while_kernels_are_cold_nobody_waits_for_them(tree):
    cold = Engine(tree[0].root, index_dir=tree[0].index_dir, is_cold=lambda: True)

    assert found(cold, PathQuery("router"), {}).route.reason == "kernels_cold"
