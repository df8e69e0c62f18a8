"""pathclass: names of the field, and names that only look like them."""

from __future__ import annotations

import pytest

from triseek.engine.ranking.path_class import PathClass, path_class

KNOWN = {
    PathClass.SOURCE: """
        main.c  src/lib.rs  kernel/sched/core.c  Makefile  a/build/index.py  pkg/testing/suite.go
        src/latest.py  contest/entry.c  src/attest.c  app/models.py  numpy/testing/__init__.py
        src/protest.go  tools/perf/builtin-top.c  src/distance/dist.py  package.json  .github/ci.yml
        pyproject.toml  src/External.java  lib/inspect.js  src/greatest.rs  test  docs  vendor
    """,
    PathClass.TEST: """
        tests/a.py  src/test/java/A.java  pkg/server_test.go  web/button.test.tsx  a/b.spec.ts
        spec/models/user_spec.rb  conftest.py  app/tests.py  src/FooTest.java  Foo.Tests/Bar.cs
        tools/testing/selftests/vm/map.c  lib/test_sort.c  __tests__/a.js  web/button.cy.ts
        crates/x/src/tests.rs  UI/LoginTests.swift  lib/list-test.c  test/test-lib.sh  Tests/x.lua
        a/fixtures/one.json
    """,
    PathClass.DOCS: """
        README.md  README  docs/guide.txt  Documentation/vm/slub.rst  examples/one.py  a/b.adoc
        CHANGELOG  locale/de/django.po  man/ls.1  testdata/readme.md
    """,
    PathClass.VENDORED: """
        vendor/github.com/a/b.go  third_party/re2/re2.cc  node_modules/x/index.js  configure
        src/_vendor/six.py  3rdparty/zlib/zlib.h  vendor/x/a_test.go  .venv/lib/x.py  gradlew
        Pods/A/A.swift  node_modules/x/README.md  lib/extern/fmt.h
    """,
    PathClass.GENERATED: """
        package-lock.json  Cargo.lock  web/app.min.js  api/v1/a.pb.go  a_pb2.py  a_pb2_grpc.py
        pkg/zz_generated.deepcopy.go  src/__snapshots__/a.test.js.snap  dist/index.js  go.sum
        a.designer.cs  vendor/x/y.pb.go  tests/__snapshots__/one.json  x/model.g.dart  parse.tab.c
        pkg/__generated__/schema.ts  Django.egg-info/SOURCES.txt
    """,
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [(path, kind) for kind, paths in KNOWN.items() for path in paths.split()],
)
def test_the_class_of_a_path(path, expected):
    assert path_class(path.encode()) is expected


def test_a_path_need_not_be_text():
    assert path_class(b"\xff\xfe/\xff_test.go") is PathClass.TEST
    assert path_class(b"") is PathClass.SOURCE


def test_source_is_shown_first_and_what_nobody_wrote_here_last():
    assert list(PathClass) == sorted(PathClass)
    assert [kind.name for kind in PathClass] == [
        "SOURCE", "TEST", "DOCS", "VENDORED", "GENERATED",
    ]  # fmt: skip
