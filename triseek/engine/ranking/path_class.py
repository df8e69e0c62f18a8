"""Classification of a file by its path alone: source, test, docs, vendored or generated.

The names are those that package managers, code generators and test runners use; GitHub's linguist
was the first to collect them. They are conventions, so the class of a file may be wrong. It only
affects the order of results; no file is left out because of it.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache


class PathClass(IntEnum):
    """The class of a file, in display order; `SOURCE` if no rule applies."""

    SOURCE = 0
    TEST = 1
    DOCS = 2
    """Prose and examples."""
    VENDORED = 3
    """Third-party code, kept in this tree."""
    GENERATED = 4
    """Written by a program: lock files, snapshots, minified and compiled text."""


def path_class(path: bytes) -> PathClass:
    """Return the class of a path that is relative to the root and `/`-separated."""
    folder, _, name = path.rpartition(b"/")
    below, of_name = _of_folder(folder), _of_name(name)
    # A test of vendored code is vendored, a snapshot beside a test is generated.
    return max(below, of_name)


@lru_cache(maxsize=1 << 15)
def _of_folder(folder: bytes) -> PathClass:
    if not folder:
        return PathClass.SOURCE
    return max(map(_of_component, folder.split(b"/")))


def _of_component(component: bytes) -> PathClass:
    kind = _FOLDERS.get(component.lower())
    if kind is None and component.endswith(_TEST_FOLDER_ENDS):
        return PathClass.TEST
    if kind is None and component.endswith((b".egg-info", b".dist-info")):
        return PathClass.GENERATED
    return kind or PathClass.SOURCE


def _of_name(name: bytes) -> PathClass:
    if name in _GENERATED_NAMES or name.endswith(_GENERATED_ENDS) or name.startswith(b"zz_generat"):
        return PathClass.GENERATED
    if name in _VENDORED_NAMES:
        return PathClass.VENDORED
    if name in _TEST_NAMES or name.startswith(_TEST_STARTS) or _is_test(name):
        return PathClass.TEST
    if name.endswith(_DOCS_ENDS) or name.startswith(_DOCS_STARTS):
        return PathClass.DOCS
    return PathClass.SOURCE


def _is_test(name: bytes) -> bool:
    """Return whether the name without its last extension has a suffix of test names."""
    stem = name.rpartition(b".")[0]
    return stem.endswith(_TEST_STEM_ENDS)


# In lower case. Without `testing`, `build`, `lib`, `tools`, `deps`, `packages`, which just as often
# hold a project's own code.
_FOLDERS = {
    name: kind
    for kind, names in (
        (
            PathClass.TEST,
            (
                b"test tests __tests__ __mocks__ spec specs selftest selftests unittest unittests"
                b" testdata test-data test_data testsuite testsuites e2e fixtures kunit"
            ),
        ),
        (
            PathClass.DOCS,
            b"doc docs documentation example examples sample samples demo demos man vignettes",
        ),
        (
            PathClass.VENDORED,
            (
                b"vendor vendors _vendor vendored third_party third-party thirdparty 3rdparty"
                b" 3rd-party 3rd_party extern external externals node_modules bower_components"
                b" jspm_packages site-packages dist-packages .venv venv godeps pods carthage .yarn"
                b" web_modules ace-builds mathjax"
            ),
        ),
        (
            PathClass.GENERATED,
            (
                b"dist __generated__ generated autogen __snapshots__ __pycache__ .next .nuxt .idea"
                b" .terraform coverage htmlcov cassettes"
            ),
        ),
    )
    for name in names.split()
}
_TEST_FOLDER_ENDS = (b"_test", b"_tests", b"-tests", b"-test", b".Tests", b".Test", b"Tests")

_GENERATED_NAMES = frozenset(
    b"package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock"
    b" Cargo.lock poetry.lock pdm.lock uv.lock pixi.lock Pipfile.lock composer.lock Gemfile.lock"
    b" Podfile.lock Cartfile.resolved Package.resolved go.sum go.work.sum Gopkg.lock glide.lock"
    b" mix.lock rebar.lock pubspec.lock flake.lock packages.lock.json .terraform.lock.hcl"
    b" conda-lock.yml MODULE.bazel.lock gradle.lockfile stack.yaml.lock cabal.project.freeze"
    b" .pnp.js .pnp.cjs .pnp.loader.mjs Makefile.in aclocal.m4".split()
)
_GENERATED_ENDS = (
    b".min.js", b"-min.js", b".min.mjs", b".min.css", b"-min.css", b".bundle.js", b".chunk.js",
    b".js.map", b".css.map", b".mjs.map", b".d.ts.map", b".snap", b".ambr",
    b"_pb2.py", b"_pb2.pyi", b"_pb2_grpc.py", b"_pb2_grpc.pyi", b".pb.go", b".pb.gw.go",
    b".pb.h", b".pb.c", b".pb.cc", b".pb.cpp", b".pb.swift", b".pb.dart", b".pbenum.dart",
    b".pbjson.dart",
    b"_pb.js", b"_pb.ts", b"_pb.d.ts", b"_pb.rb", b"_grpc_pb.js", b".pb.rs",
    b".gen.go", b"_gen.go", b"_generated.go", b".generated.go", b".gen.ts", b".gen.tsx",
    b".generated.ts", b".generated.tsx", b".generated.js", b".gen.dart", b".g.dart",
    b".freezed.dart", b".g.cs", b".g.i.cs", b".designer.cs", b".Designer.cs", b".designer.vb",
    b".Designer.vb", b".feature.cs", b".generated.cs", b".generated.h", b"_generated.h",
    b"_generated.rs", b"_generated.py", b".tab.c", b".tab.h", b".yy.c", b".lex.c",
    b".xcworkspacedata", b".pbxproj", b".tfstate",
)  # fmt: skip

_VENDORED_NAMES = frozenset(
    b"configure config.guess config.sub ltmain.sh install-sh libtool.m4 ltoptions.m4 ltsugar.m4"
    b" ltversion.m4 lt~obsolete.m4 gradlew gradlew.bat mvnw mvnw.cmd erlang.mk".split()
)

_TEST_NAMES = frozenset(b"conftest.py tests.py test.py tests.rs test.rs tests.ml".split())
_TEST_STARTS = (b"test_", b"test-")
_TEST_STEM_ENDS = (
    b"_test", b"_tests", b"-test", b"-tests", b".test", b".tests", b"_spec", b"-spec", b".spec",
    b".e2e", b".cy", b".stories", b"Test", b"Tests", b"TestCase", b"Spec", b"Specs", b"_selftest",
    b"_kunit", b"_unittest",
)  # fmt: skip

_DOCS_ENDS = (
    b".md", b".mdx", b".markdown", b".rst", b".adoc", b".asciidoc", b".org", b".textile", b".pod",
    b".man", b".texi", b".tex", b".1", b".2", b".3", b".5", b".7", b".8", b".po", b".pot",
)  # fmt: skip
_DOCS_STARTS = (
    b"README", b"CHANGELOG", b"CHANGES", b"HISTORY", b"NEWS", b"LICENSE", b"COPYING", b"AUTHORS",
    b"CONTRIBUTING", b"MAINTAINERS", b"CREDITS",
)  # fmt: skip
