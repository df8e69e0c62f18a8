"""All paths as one text, against looking at each; tests beside sources, by their names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.engine.context_pack.path_names import PathNames

PATHS = st.lists(
    st.text("aAb/._\n", min_size=1, max_size=8).map(str.encode), max_size=12, unique=True
)


@given(PATHS, st.text("ab._/", min_size=1, max_size=3).map(str.encode))
def test_what_holds_a_word_is_what_a_look_at_each_finds(paths, word):
    assert list(PathNames(paths).holding(word)) == [path for path in paths if word in path.lower()]


@given(PATHS, st.text("ab._", min_size=1, max_size=3).map(str.encode))
def test_what_is_named_is_what_holds_the_word_in_its_last_component(paths, word):
    plain = [path for path in paths if b"\n" not in path]
    expected = [path for path in plain if word in path.lower().rpartition(b"/")[2]]

    assert list(PathNames(plain).named(word)) == expected


def test_an_ending_is_of_whole_components_and_of_the_exact_case_if_there_is_one():
    names = PathNames([b"a/Makefile", b"b/makefile", b"c/xmakefile"])

    assert names.ending(b"makefile") == [b"b/makefile"]
    assert names.ending(b"MAKEFILE") == [b"a/Makefile", b"b/makefile"]
    assert names.ending(b"b/makefile") == [b"b/makefile"]


def test_it_knows_its_paths():
    assert b"a" in PathNames([b"a"])
    assert b"b" not in PathNames([b"a"])


PAIRS = [
    (b"src/auth/router.py", b"tests/auth/test_router.py"),
    (b"tsdb/head.go", b"tsdb/head_test.go"),
    (b"src/Button.tsx", b"src/Button.test.tsx"),
    (b"lib/cli.js", b"tests/lib/cli.js"),
    (b"lib/rules/semi.js", b"lib/rules/__tests__/semi.spec.js"),
    (b"app/models/user.rb", b"spec/models/user_spec.rb"),
    (b"src/main/java/a/Retry.java", b"src/test/java/a/RetryTest.java"),
    (b"src/parser.rs", b"tests/parser.rs"),
    (b"src/store/index.ts", b"src/store/index.test.ts"),
]


@pytest.mark.parametrize(("source", "test"), PAIRS)
def test_each_finds_the_other(source, test):
    names = PathNames(sorted(path for pair in PAIRS for path in pair))

    assert names.neighbours(source)[:1] == [test]
    assert names.neighbours(test)[:1] == [source]


def test_of_several_the_one_in_folders_most_alike_is_meant():
    names = PathNames([b"tests/a/test_x_y.py", b"tests/b/test_x_y.py"])

    assert names.neighbours(b"src/b/x_y.py")[0] == b"tests/b/test_x_y.py"


def test_another_language_is_not_meant():
    names = PathNames([b"tests/router_test.go", b"tests/test_router.py"])

    assert names.neighbours(b"router.py") == [b"tests/test_router.py"]


def test_a_file_without_a_test_has_none():
    assert PathNames([b"a.py", b"b.py", b"tests/test_b.py"]).neighbours(b"a.py") == []
