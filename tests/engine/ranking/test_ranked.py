"""ranked: the same lines as the search, in one fixed order, on pages of any size."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

from tests.engine import patterns
from triseek.engine.engine import Engine
from triseek.engine.ranking import ranked as module
from triseek.engine.ranking.path_class import PathClass
from triseek.engine.ranking.ranked import REACH_MAX, SHARE, ranked
from triseek.errors import InvalidQuery, InvalidRequest
from triseek.model.search import PatternSpec, SearchRequest

TREE = {
    "a/use.py": "from lib import foo\n\nfoo(1)\nfoo(2)\n",
    "lib/core.py": "x = 1\n\ndef foo(a):\n    return foo_all(a)\n\ndef foo_all(a):\n    pass\n",
    "lib/more.py": "def foo_more(a):\n    foo(a)\n",
    "tests/test_core.py": "def test_foo():\n    foo(1)\n",
    "tests/fake.py": "def foo(a):\n    pass\n",
    "docs/foo.md": "Call foo(1).\n",
    "node_modules/x/foo.js": "function foo_x() {\n  foo();\n}\n",
    "vendor/foo.go": "func foo() {\n}\n",
    "dist/all.min.js": "function foo_x(){foo()}\n",
    "z.py": "foo()\n",
}


def request(pattern="foo", **fields):
    spec = fields.pop("spec", {})
    return SearchRequest(
        pattern=PatternSpec(patterns=(pattern,), **spec), **{"engine": "scan", **fields}
    )


def page(engine, asked, limit=20, offset=0, scores=None):
    return ranked(
        engine, asked, limit=limit, offset=offset, scores=scores or {}, stop=lambda: False
    )


def paths(found):
    return [file.path.decode() for file in found.files]


def matches(found):
    """Every matching line of a page, file by file."""
    return [
        (file.path, line.number, line.text)
        for file in found.files
        for line in file.lines
        if not line.context
    ]


def unranked(engine, asked):
    return [
        (file.path, number, file.text[begin:end].removesuffix(b"\n"))
        for batch in engine.search(asked)
        for file in batch.files()
        for _, number, _, begin, end, context in file.rows.tolist()
        if not context
    ]


def random_tree(rng):
    folders = ["", "src/", "src/deep/", "tests/", "vendor/x/", "docs/", "dist/"]
    suffixes = ["py", "c", "h", "js", "go", "txt", "Makefile"]
    words = ["foo", "foo_bar", "get_foo", "bar"]
    made = {}
    for number in range(rng.randrange(1, 12)):
        lines = []
        for _ in range(rng.choice((1, 2, 5, 16))):
            word = rng.choice(words)
            kind = rng.choice(
                (
                    "def {}(x):",
                    "{}(x)",
                    "  x = {}",
                    "#define {}",
                    "int {}(void)",
                    "func {}() {{",
                    "",
                )
            )
            lines.append(kind.format(word))
        name = f"{rng.choice(folders)}f{number}.{rng.choice(suffixes)}"
        made[name] = "\n".join(lines) + rng.choice(("\n", ""))
    return made


def test_definitions_then_source_then_tests_then_what_others_wrote(repo):
    found = page(Engine(repo(TREE)), request())

    assert paths(found) == [
        "lib/core.py", "tests/fake.py", "vendor/foo.go",  # define it
        "lib/more.py",  # defines a longer name, in source
        "a/use.py", "z.py", "tests/test_core.py", "docs/foo.md",
        "node_modules/x/foo.js", "dist/all.min.js",
    ]  # fmt: skip
    assert [file.kind.name for file in found.files][-4:] == [
        "TEST", "DOCS", "VENDORED", "GENERATED",
    ]  # fmt: skip
    assert [file.defines for file in found.files][:5] == [True, True, True, True, False]
    assert not found.more
    assert found.matched == {path.encode() for path in TREE}


def test_a_line_says_where_it_matches_and_whether_it_defines(repo):
    [file] = page(Engine(repo({"lib/core.py": TREE["lib/core.py"]})), request()).files

    assert (file.count, file.kind) == (3, PathClass.SOURCE)
    assert [tuple(line) for line in file.lines] == [
        (3, 5, b"def foo(a):", False, True),
        (4, 12, b"    return foo_all(a)", False, False),
        (6, 5, b"def foo_all(a):", False, True),
    ]


def test_used_files_come_first_among_their_like(repo):
    engine = Engine(repo(TREE))
    scores = {b"z.py": 3.0, b"docs/foo.md": 9.0, b"vendor/foo.go": 9.0}

    assert paths(page(engine, request(), scores=scores))[4:8] == [
        "z.py", "a/use.py", "tests/test_core.py", "docs/foo.md",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("files", "asked"),
    [
        (["a/any.py", "b/retry_policy.py"], "RetryPolicy"),
        (["a/any.ts", "b/retry-policy.ts"], "RetryPolicy"),
        (["a/any.d.ts", "b/other.ts"], "Foo"),
        (["a/foo.pyi", "b/foo.py"], "Foo"),
    ],
)
def test_of_equal_definitions_that_in_a_file_of_its_name_comes_first(repo, files, asked):
    engine = Engine(repo(dict.fromkeys(files, f"class {asked}:\n")))

    assert paths(page(engine, request(asked))) == files[::-1]
    assert paths(page(engine, request(asked), scores={files[0].encode(): 9.0})) == files[::-1]


def test_use_does_not_move_a_member_before_a_type(repo):
    files = {"a.py": "class Any:\n    def Foo(self):\n", "b.py": "class Foo:\n"}

    found = page(Engine(repo(files)), request("Foo"), scores={b"a.py": 9.0})

    assert paths(found) == ["b.py", "a.py"]


def test_a_used_file_far_behind_is_found_when_the_page_is_full(repo):
    engine = Engine(repo({f"a{n:03}.py": "foo()\n" for n in range(300)} | {"z.py": "foo()\n"}))

    assert paths(page(engine, request(), limit=2, scores={b"z.py": 1.0})) == ["z.py", "a000.py"]


def test_one_large_file_leaves_room_and_shows_its_definitions(repo):
    big = "".join(f"foo({n})\n" for n in range(500)) + "def foo(x):\n" + "foo()\n" * 500
    engine = Engine(repo({"big.py": big, **{f"s{n}.py": "foo()\nfoo()\n" for n in range(9)}}))
    found = page(engine, request())

    assert paths(found) == ["big.py", *(f"s{n}.py" for n in range(8))]
    assert [len(file.lines) for file in found.files] == [SHARE, *[2] * 8]
    assert [line.number for line in found.files[0].lines] == [1, 2, 3, 501]
    assert (found.files[0].count, found.search.totals.lines, found.more) == (1001, 1019, True)


def test_the_lines_that_define_come_before_the_first_uses_of_any_file(repo):
    files = {f"f{n}.py": "foo()\n" * 9 + "def foo():\n" for n in range(6)}
    found = page(Engine(repo(files)), request(), limit=6)

    assert [[line.number for line in file.lines] for file in found.files] == [[10]] * 6


@pytest.mark.parametrize("seed", range(12))
def test_pages_of_any_size_show_every_line_once_in_one_order(repo, seed):
    rng = random.Random(seed)
    engine = Engine(repo(random_tree(rng)))
    asked = request(before=rng.choice((0, 0, 2)), after=rng.choice((0, 0, 1)))
    scores = {b"src/f1.py": 2.0, b"f3.c": 1.0, b"tests/f2.py": 5.0}
    whole = sorted(unranked(engine, asked))
    one_by_one = [matches(page(engine, asked, 1, n, scores)) for n in range(len(whole))]
    order = list(itertools.chain.from_iterable(one_by_one))

    assert sorted(order) == whole
    for size in (3, 7, 20, 1000):
        for offset in range(0, len(whole) + 1, size):
            found = page(engine, asked, size, offset, scores)
            assert sorted(matches(found)) == sorted(order[offset : offset + size])
            assert found.more == (offset + size < len(whole))
            assert found.search.totals.lines == len(whole)


@pytest.mark.parametrize("seed", range(40))
def test_random_patterns_give_the_lines_of_the_search(repo, seed):
    rng = random.Random(seed)
    engine = Engine(repo({f"d{n % 3}/f{n}.py": patterns.text(rng) for n in range(8)}))
    spec = patterns.spec(rng)
    asked = SearchRequest(pattern=spec, engine="scan", invert=rng.random() < 0.1)
    try:
        expected = unranked(engine, asked)
    except InvalidQuery:
        return
    shown = matches(page(engine, asked, REACH_MAX))
    end = b"\r" if spec.crlf else b""

    assert sorted(shown) == sorted((p, n, text.removesuffix(end)) for p, n, text in expected)


def test_every_backend_and_every_time_gives_the_same_page(repo, tmp_path):
    root = repo(random_tree(random.Random(1)) | TREE)
    engine = Engine(root, index_dir=str(tmp_path / "index"))
    engine.build()
    found = [
        page(engine, request(engine=backend, after=1), 9, 4).files
        for backend in ("index", "scan", "rg", "index")
    ]

    assert found[0]
    assert all(files == found[0] for files in found)


def test_context_belongs_to_its_match_and_goes_where_that_goes(repo):
    text = "a\nfoo 1\nb\nc\nd\nfoo 2\nfoo 3\ne\n"
    engine = Engine(repo({"x.py": text}))
    asked = request(before=1, after=1)

    def shown(offset, limit):
        [file] = page(engine, asked, limit, offset).files
        return [(line.number, line.column, line.context) for line in file.lines]

    assert shown(0, 1) == [(1, 0, True), (2, 1, False), (3, 0, True)]
    assert shown(1, 1) == [(5, 0, True), (6, 1, False), (7, 0, True)]
    assert shown(1, 2) == [(5, 0, True), (6, 1, False), (7, 1, False), (8, 0, True)]


def test_files_and_counts_are_ordered_alike_and_paged_by_file(repo):
    engine = Engine(repo(TREE))
    order = paths(page(engine, request()))
    for mode in ("files", "count"):
        asked = request(mode=mode)
        assert paths(page(engine, asked)) == order
        assert paths(page(engine, asked, 3, 2)) == order[2:5]
        assert page(engine, asked, 3, 2).more
        assert not page(engine, asked, 8, 2).more
        assert [file.count for file in page(engine, asked).files][:2] == [3, 1]
        assert not any(file.lines for file in page(engine, asked).files)
    without = page(engine, request("more", mode="files_without_match"))
    assert paths(without)[0] == "a/use.py"
    assert "lib/more.py" not in paths(without)


def test_matches_that_span_lines_are_one_line_of_a_page(repo):
    engine = Engine(repo({"x.py": "a\ndef foo(\n    x):\nb\n"}))
    [file] = page(engine, request(r"\(\n +x\):|foo\(\n", spec={"multiline": True})).files

    assert [tuple(line) for line in file.lines] == [(2, 5, b"def foo(", False, True)]
    [file] = page(engine, request(r"foo\(\n +x", spec={"multiline": True})).files
    assert [tuple(line) for line in file.lines] == [(2, 5, b"def foo(\n    x):", False, True)]


def test_no_more_is_held_than_a_page_may_need(repo, monkeypatch):
    files = {f"d{n:04}/f.py": "foo()\n" * 40 + "def foo():\n" * (n % 7 == 0) for n in range(400)}
    engine = Engine(repo(files))
    held = []
    keep = module.Ranked._keep

    def watched(self, kept):
        keep(self, kept)
        held.append((len(self._kept), sum(len(each.matches) for each in self._kept)))

    monkeypatch.setattr(module.Ranked, "_keep", watched)
    page(engine, request(), limit=10, offset=10)

    assert max(files for files, _ in held) == 20
    assert max(lines for _, lines in held) <= 2 * (SHARE + 1) * 20


def test_a_search_that_is_stopped_says_so(repo):
    files = {f"d{n:03}/f.py": "foo()\n" for n in range(400)}
    calls = []

    def stop():
        calls.append(1)
        return len(calls) == 2

    found = ranked(Engine(repo(files)), request(), limit=5, scores={}, stop=stop)

    assert len(calls) == 2
    assert "stopped" in found.search.totals.incomplete
    assert len(found.files) == 5


def test_what_stop_raises_ends_the_search(repo):
    class CancelledError(Exception):
        pass

    def stop():
        raise CancelledError

    with pytest.raises(CancelledError):
        ranked(Engine(repo(TREE)), request(), limit=5, scores={}, stop=stop)


def test_too_many_matching_paths_are_not_told(repo, monkeypatch):
    monkeypatch.setattr(module, "MATCHED_MAX", 9)
    engine = Engine(repo(TREE))

    assert page(engine, request()).matched is None
    assert page(engine, request("foo_all")).matched == {b"lib/core.py"}


@pytest.mark.parametrize(("limit", "offset"), [(-1, 0), (0, -1), (REACH_MAX, 1)])
def test_a_page_out_of_reach_is_refused(repo, limit, offset):
    with pytest.raises(InvalidRequest, match="reach"):
        page(Engine(repo(TREE)), request(), limit, offset)


def test_no_results_asked_for_still_counts(repo):
    found = page(Engine(repo(TREE)), request(), 0)

    assert (found.files, found.search.totals.lines, found.more) == ([], 17, True)


def test_limits_of_the_request_itself_mean_nothing(repo):
    engine = Engine(repo(TREE))
    asked = replace(request(), limit=1, passthru=True, line_numbers=False, count_all=False)

    assert page(engine, asked).files == page(engine, request()).files


def test_a_binary_file_that_matches_is_told_as_skipped(repo):
    engine = Engine(repo({"b": b"foo\0foo\n", "t.py": "foo\n"}))
    found = page(engine, request(paths=("b", "t.py")))

    assert paths(found) == ["t.py"]
    assert [skipped.path for skipped in found.search.totals.skipped] == [b"b"]
