"""Tests beside sources, as each language names them."""

from __future__ import annotations

import pytest

from triseek.engine import adjacency
from triseek.engine.path_names import PathNames

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

    assert adjacency.tests_of(source, names)[:1] == [test]
    assert adjacency.sources_of(test, names)[:1] == [source]


def test_of_several_the_one_in_folders_most_alike_is_meant():
    names = PathNames([b"tests/a/test_x_y.py", b"tests/b/test_x_y.py"])

    assert adjacency.tests_of(b"src/b/x_y.py", names)[0] == b"tests/b/test_x_y.py"


def test_another_language_is_not_meant():
    names = PathNames([b"tests/router_test.go", b"tests/test_router.py"])

    assert adjacency.tests_of(b"router.py", names) == [b"tests/test_router.py"]


def test_a_file_without_a_test_has_none():
    assert adjacency.tests_of(b"a.py", PathNames([b"a.py", b"b.py", b"tests/test_b.py"])) == []
