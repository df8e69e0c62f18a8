"""Classification of a file by its path alone: source, test, docs, vendored or generated.

The names are those that package managers, code generators and test runners use; GitHub's linguist
was the first to collect them. They are conventions, so the class of a file may be wrong. It only
affects the order of results; no file is left out because of it.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from triseek.engine.ranking.path_memo import PathMemo


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


PATH_CLASSES = PathMemo(path_class)
"""The class of each path, as its number."""


@lru_cache(maxsize=1 << 15)
def _of_folder(folder: bytes) -> PathClass:
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
    stem = name.rpartition(b".")[0]
    if name in _TEST_NAMES or name.startswith(_TEST_STARTS) or stem.endswith(_TEST_STEM_ENDS):
        return PathClass.TEST
    if name.endswith(_DOCS_ENDS) or name.startswith(_DOCS_STARTS):
        return PathClass.DOCS
    return PathClass.SOURCE


# In lower case. Without `testing`, `build`, `lib`, `tools`, `deps`, `packages`, which just as often
# hold a project's own code.
_FOLDER_NAMES = {
    PathClass.TEST: (
        b"test tests __tests__ __mocks__ spec specs selftest selftests unittest unittests"
        b" testdata test-data test_data testsuite testsuites e2e fixtures kunit"
    ),
    PathClass.DOCS: (
        b"doc docs documentation example examples sample samples demo demos man vignettes"
    ),
    PathClass.VENDORED: (
        b"vendor vendors _vendor vendored third_party third-party thirdparty 3rdparty 3rd-party"
        b" 3rd_party extern external externals node_modules bower_components jspm_packages"
        b" site-packages dist-packages .venv venv godeps pods carthage .yarn web_modules"
        b" ace-builds mathjax"
    ),
    PathClass.GENERATED: (
        b"dist __generated__ generated autogen __snapshots__ __pycache__ .next .nuxt .idea"
        b" .terraform coverage htmlcov cassettes"
    ),
}
_FOLDERS = {name: kind for kind, names in _FOLDER_NAMES.items() for name in names.split()}
_TEST_FOLDER_ENDS = (b"_test", b"_tests", b"-tests", b"-test", b".Tests", b".Test", b"Tests")

_GENERATED_NAMES = frozenset(
    b"package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock"
    b" Cargo.lock poetry.lock pdm.lock uv.lock pixi.lock Pipfile.lock composer.lock Gemfile.lock"
    b" Podfile.lock Cartfile.resolved Package.resolved go.sum go.work.sum Gopkg.lock glide.lock"
    b" mix.lock rebar.lock pubspec.lock flake.lock packages.lock.json .terraform.lock.hcl"
    b" conda-lock.yml MODULE.bazel.lock gradle.lockfile stack.yaml.lock cabal.project.freeze"
    b" .pnp.js .pnp.cjs .pnp.loader.mjs Makefile.in aclocal.m4".split()
)
_GENERATED_ENDS = tuple(
    b".min.js -min.js .min.mjs .min.css -min.css .bundle.js .chunk.js .js.map .css.map .mjs.map"
    b" .d.ts.map .snap .ambr _pb2.py _pb2.pyi _pb2_grpc.py _pb2_grpc.pyi .pb.go .pb.gw.go .pb.h"
    b" .pb.c .pb.cc .pb.cpp .pb.swift .pb.dart .pbenum.dart .pbjson.dart _pb.js _pb.ts _pb.d.ts"
    b" _pb.rb _grpc_pb.js .pb.rs .gen.go _gen.go _generated.go .generated.go .gen.ts .gen.tsx"
    b" .generated.ts .generated.tsx .generated.js .gen.dart .g.dart .freezed.dart .g.cs .g.i.cs"
    b" .designer.cs .Designer.cs .designer.vb .Designer.vb .feature.cs .generated.cs .generated.h"
    b" _generated.h _generated.rs _generated.py .tab.c .tab.h .yy.c .lex.c .xcworkspacedata"
    b" .pbxproj .tfstate".split()
)

_VENDORED_NAMES = frozenset(
    b"configure config.guess config.sub ltmain.sh install-sh libtool.m4 ltoptions.m4 ltsugar.m4"
    b" ltversion.m4 lt~obsolete.m4 gradlew gradlew.bat mvnw mvnw.cmd erlang.mk".split()
)

_TEST_NAMES = frozenset(b"conftest.py tests.py test.py tests.rs test.rs tests.ml".split())
_TEST_STARTS = (b"test_", b"test-")
_TEST_STEM_ENDS = tuple(
    b"_test _tests -test -tests .test .tests _spec -spec .spec .e2e .cy .stories Test Tests"
    b" TestCase Spec Specs _selftest _kunit _unittest".split()
)

_DOCS_ENDS = tuple(
    b".md .mdx .markdown .rst .adoc .asciidoc .org .textile .pod .man .texi .tex .1 .2 .3 .5 .7 .8"
    b" .po .pot".split()
)
_DOCS_STARTS = tuple(
    b"README CHANGELOG CHANGES HISTORY NEWS LICENSE COPYING AUTHORS CONTRIBUTING MAINTAINERS"
    b" CREDITS".split()
)
