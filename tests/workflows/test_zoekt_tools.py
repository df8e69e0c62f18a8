"""The functions of scripts: bounds of every argument, what they ask, what they say."""

from __future__ import annotations

import threading

import pytest

from triseek.engine.repositories.local import LocalRepositories
from triseek.engine.repositories.roots import Root
from triseek.engine.service import Service
from triseek.engine.symbols.symbols import FILE_BYTES_MAX, FileSymbols
from triseek.errors import BackendFailure, InvalidQuery, InvalidRequest, TriseekError
from triseek.model.code_search import (
    CodeFile,
    CodeLine,
    CodeResult,
    HostReport,
    Repository,
)
from triseek.model.symbol import Symbol
from triseek.workflows.context import symbols_of
from triseek.workflows.runtime import items, queries, tree
from triseek.workflows.runtime.zoekt_tools import ZoektTools

HOSTILE = [None, 1, 1.5, True, [], {}, "a\0b", "\ud800", "x" * 100_000]


class Recorded:
    """A source that records what it is asked, and answers what a test sets."""

    name = "zoekt"

    def __init__(self, result: CodeResult | None = None) -> None:
        self.result = result or CodeResult()
        self.requests = []

    def search(self, request):
        self.requests.append(request)
        return self.result

    def repositories(self, query=""):
        self.requests.append(query)
        return self.result

    def read(self, repository, path):
        self.requests.append((repository, path))
        return b"one\r\ntwo\nthree"


@pytest.fixture
def recorded():
    return Recorded()


@pytest.fixture
def ask(recorded):
    return ZoektTools(recorded, lambda _path, _text: FileSymbols())


@pytest.mark.parametrize(
    ("limit", "context", "asked"),
    [
        (10, 2, (10, 2)),
        (0, -1, (1, 0)),
        (1000, 9, (25, 3)),
        ("7", 1.0, (7, 1)),
        (-(10**30), 0, (1, 0)),
    ],
)  # fmt: skip
def test_limits_are_clamped(ask, recorded, limit, context, asked):
    ask.search("x", limit, context)

    assert (recorded.requests[0].max_files, recorded.requests[0].context_lines) == asked
    assert recorded.requests[0].seconds <= 15
    assert recorded.requests[0].max_matches <= 1_000


def test_defaults_are_those_of_the_contract(ask, recorded):
    ask.search("x")
    recorded.result = CodeResult(files=[CodeFile(repository="r", path=b"p")] * 30)

    assert (recorded.requests[0].max_files, recorded.requests[0].context_lines) == (10, 2)
    assert len(ask.search_symbols("x")) == 10


@pytest.mark.parametrize("value", HOSTILE)
def test_arguments_of_any_kind_are_refused_by_one_line(ask, value):
    calls = [
        (ask.search, {"query": value}), (ask.search, {"query": "x", "repo": value}),
        (ask.search_symbols, {"query": value}), (ask.list_dir, {"repo": value}),
        (ask.list_dir, {"repo": "r", "path": value}), (ask.find_repos, {"query": value}),
        (ask.outline, {"repo": "r", "path": value}), (ask.usages, {"symbol": value}),
        (ask.git_log, {"repo": "r", "text": value}), (ask.literal, {"text": value}),
        (ask.fetch_content, {"repo": value, "path": "p", "start_line": 1, "end_line": 1}),
    ]  # fmt: skip
    for function, arguments in calls:
        with pytest.raises(TriseekError) as caught:
            function(**arguments)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize("value", [None, True, "ten", 1.5, [], {}, "", "9" * 400])
def test_numbers_of_any_kind_are_refused(ask, value):
    for arguments in ({"limit": value}, {"context_lines": value}):
        with pytest.raises(InvalidRequest, match="must be a whole number"):
            ask.search("x", **arguments)


@pytest.mark.parametrize(
    ("query", "name", "changed"),
    [
        ("Foo", "", "sym:Foo"),
        ("lang:go Foo", "", "lang:go sym:Foo"),
        ("lang:go Foo bar", "", "lang:go sym:Foo bar"),
        ("-test Foo", "", "-test sym:Foo"),
        ("f:x Foo or Bar", "", "f:x sym:Foo or sym:Bar"),
        ("(Foo or Bar) lang:go", "", "(sym:Foo or sym:Bar) lang:go"),
        ("sym:Foo bar", "", "sym:Foo bar"),
        ("Fo+ case:yes", "", "sym:Fo+ case:yes"),
        ("Foo", "a.b/c", "r:^a\\.b/c$ sym:Foo"),
    ],
)
def test_the_first_bare_term_becomes_the_symbol(query, name, changed):
    from triseek.query.zoekt.parse import parse

    assert parse(queries.of_symbols(query, name)) == parse(changed)


@pytest.mark.parametrize("query", ["lang:go", "f:x", "-Foo", "c:x", "f:x or Foo", ""])
def test_a_query_without_a_bare_term_is_refused(query):
    with pytest.raises(InvalidRequest, match="names no symbol"):
        queries.of_symbols(query)


def test_a_repository_is_named_exactly(recorded, ask):
    from triseek.query.zoekt.parse import parse

    ask.search("a or b", repo="https://github.com/o/r.x")
    asked = parse(recorded.requests[0].query)
    assert asked == parse(r"r:^github\.com/o/r\.x$ (a or b)")
    assert parse(queries.in_repository("x type:file", "r")) == parse("r:^r$ x type:file")


def test_queries_about_repositories_list_them(recorded, ask):
    recorded.result = CodeResult(repositories=[Repository(name=f"r{n}") for n in range(30)])
    results = ask.search("foo type:repo", 2)

    assert results == [
        {
            "filename": "", "repository": f"r{n}", "url": "",
            "matches": [{"line_number": 0, "text": f"Repository: r{n}"}],
        }
        for n in range(2)
    ]  # fmt: skip
    assert ask.cut == "2 of 30 repositories are shown for 'foo type:repo'"
    assert ask.search("r:foo", 2) == results
    assert not queries.lists_repositories("r:foo x")
    assert not queries.lists_repositories("x")
    assert (ask.cut, ask.notes) == ("2 lists are cut", [])
    with pytest.raises(InvalidQuery):
        ask.search("a or")


def test_lines_keep_their_indentation_and_are_shown_once():
    lines = (
        CodeLine(3, b"\tmatch", ((1, 6),), before=(b"", b"if x:"), after=(b"a4", b"m5")),
        CodeLine(5, b"m5\r", ((0, 2),), before=(b"\tmatch", b"a4"), after=(b"a6", b"  ")),
        CodeLine(20, b"alone", ((0, 5),)),
    )
    file = CodeFile(repository="r", path=b"p", lines=lines, url="u")

    assert items.of_file(file) == {
        "filename": "p", "repository": "r", "url": "u",
        "matches": [
            {"line_number": 3, "text": "if x:\n\tmatch\na4", "first_line": 2},
            {"line_number": 5, "text": "m5\na6", "first_line": 5},
            {"line_number": 20, "text": "alone"},
        ],
    }  # fmt: skip


def test_a_match_in_the_name_has_line_zero():
    file = CodeFile(repository="r", path=b"a/\xff.go", name_spans=((0, 1),))

    assert items.of_file(file)["matches"] == [{"line_number": 0, "text": "a/\ufffd.go"}]


def test_windows_of_a_file(ask):
    assert ask.fetch_content("r", "p", 1, 2) == "one\ntwo"
    assert ask.fetch_content("r", "/p/", 3, 1000) == "three"
    assert ask.fetch_content("r", "p", 4, 9) == ""
    for first, last in ((0, 1), (-1, 1), (2, 1)):
        with pytest.raises(InvalidRequest, match="invalid line range"):
            ask.fetch_content("r", "p", first, last)
    with pytest.raises(InvalidRequest, match="requested line window 1001 exceeds max 1000"):
        ask.fetch_content("r", "p", 1, 1001)


def test_trees_of_folders(tools):
    assert tools.list_dir("checkout", depth=1) == (
        "deploy/\n  values.yaml\ndocs/\n  settings.md\nmain.go\n"
        "order/\n  process.go\n  process_test.go"
    )
    assert tools.list_dir("checkout", "/order/") == "process.go\nprocess_test.go"
    with pytest.raises(InvalidRequest, match="directory not found"):
        tools.list_dir("checkout", "ord")
    with pytest.raises(InvalidRequest, match="repository not found: checkou"):
        tools.list_dir("checkou")
    assert tree.drawn(["a/b/c/d", "a/b/e", "f"], "", 1) == "a/\n  b/\nf"


def test_a_tree_that_is_cut_says_so(recorded, ask):
    recorded.result = CodeResult(files=[CodeFile(repository="r", path=b"a")], file_count=20_000)

    assert ask.list_dir("r").endswith(
        "\n... cut: 1 files are listed, there are more; name a folder"
    )


def test_repositories_are_ranked_by_matches(tools, recorded, ask):
    found = tools.find_repos("ProcessOrder")
    assert [each["repository"] for each in found] == ["checkout", "payments"]
    assert found[0]["files"] == 3
    assert found[0]["matches"] > found[1]["matches"] == 1
    recorded.result = CodeResult(
        files=[CodeFile(repository="b", path=b"x", match_count=3)], file_count=1
    )
    assert ask.find_repos("x") == [{"repository": "b", "files": 1, "matches": 3}]


def test_usages_leave_out_definitions_and_name_what_is_around(tools):
    results = tools.usages("ProcessOrder", "checkout")
    found = {
        (hit["filename"], match["line_number"]): match["inside"]
        for hit in results
        for match in hit["matches"]
    }

    assert found[("main.go", 4)] == "main"
    assert found[("order/process_test.go", 4)] == "TestProcessOrder"
    assert ("order/process.go", 10) not in found
    assert ("order/process_test.go", 3) not in found


def test_files_without_a_grammar_come_last_and_say_so(tmp_path, home):
    files = {
        "a.txt": "charge charge\n",
        "b.py": "# charge\ntext = 'charge'\n",
        "c.py": "def run():\n    charge(1); charge(2)\n",
    }
    for path, content in files.items():
        (tmp_path / path).write_text(content)
    with Service() as service:
        source = LocalRepositories(service, [Root(name="own", folder=str(tmp_path.resolve()))])
        tools = ZoektTools(source, symbols_of)
        results = tools.usages("charge")
        narrowed = tools.usages("x.charge", "own", 1, "-f:c.py")

    listed = [(hit["filename"], hit["checked"], hit["matches"]) for hit in results]
    assert listed == [
        ("c.py", "syntax", [
            {"line_number": 2, "text": "    charge(1); charge(2)", "inside": "run"},
        ]),
        ("a.txt", "lines", [{"line_number": 1, "text": "charge charge", "inside": ""}]),
    ]  # fmt: skip
    assert [hit["filename"] for hit in narrowed] == ["a.txt"]
    assert tools.notes == []


def test_files_that_were_not_read_are_noted(recorded, ask):
    line = CodeLine(1, b"charge", ((0, 6),))
    files = [CodeFile(repository="r", path=b"p%d" % n, lines=(line,)) for n in range(60)]
    recorded.result = CodeResult(files=files, file_count=70)

    assert len(ask.usages("charge", limit=5)) == 5
    assert ask.cut == "5 files that use 'charge' are shown, of 70 that mention it"
    recorded.result = CodeResult(files=files[:3], file_count=70)
    ask.usages("charge", limit=5)
    assert ask.notes == ["Note: only 3 of the 70 files that mention 'charge' were read"]


def test_exact_names_come_before_parts(tmp_path, home):
    (tmp_path / "a.go").write_text(
        "package a\n\nfunc GetOrder() {}\nfunc Order() {}\nfunc OrderBy() {}\n"
    )
    (tmp_path / "b.py").write_text("class OrderList:\n    order = 1\n")
    with Service() as service:
        source = LocalRepositories(service, [Root(name="own", folder=str(tmp_path.resolve()))])
        results = ZoektTools(source, symbols_of).search_symbols("Order case:no")

    listed = [[(each["name"], each["kind"]) for each in hit["matches"]] for hit in results]
    assert listed == [
        [("Order", "function"), ("OrderBy", "function"), ("GetOrder", "function")],
        [("order", "field"), ("OrderList", "class")],
    ]
    assert results[1]["matches"][0]["parent"] == "OrderList"


def test_imports_that_ctags_lists_are_no_definitions(recorded, home):
    imported = Symbol("Order", "unknown", 1, 1, 14, 19)
    defined = Symbol("Order", "class", 2, 2, 6, 11)
    files = [
        CodeFile(repository="r", path=b"a.py", host="h", lines=(
            CodeLine(1, b"from x import Order", ((14, 19),), symbol=imported),
        )),
        CodeFile(repository="r", path=b"b.py", host="h", lines=(
            CodeLine(1, b"from x import Order", ((14, 19),), symbol=imported),
            CodeLine(2, b"class Order: ...", ((6, 11),), symbol=defined),
        )),
    ]  # fmt: skip
    recorded.result = CodeResult(files=files, file_count=2)
    contents = {b"a.py": b"from x import Order\n"}
    recorded.read = lambda _, path: contents.get(path, b"from x import Order\nclass Order: ...\n")
    results = ZoektTools(recorded, symbols_of).search_symbols("Order")

    assert [(hit["filename"], hit["matches"]) for hit in results] == [
        ("b.py", [
            {"line_number": 2, "text": "class Order: ...", "name": "Order", "kind": "class"},
        ]),
        ("a.py", [{"line_number": 1, "text": "from x import Order"}]),
    ]  # fmt: skip


def test_hosts_and_what_is_incomplete_are_told(recorded, ask):
    recorded.result = CodeResult(
        hosts=(HostReport(host="a:1", state="ok"), HostReport(host="b:2", state="timeout")),
        partial=("b:2 did not answer in time\x1b", "a:1 ended after 9 lines"),
        at_limits=("a:1 ended after 9 lines",),
    )
    ask.search("x")
    recorded.result = CodeResult(hosts=(HostReport(host="b:2", state="ok"),))
    ask.search("y")

    assert ask.notes == [
        "Hosts: `a:1` ok, `b:2` timeout", "Note: b:2 did not answer in time\\x1b",
    ]  # fmt: skip


def test_a_complete_answer_has_no_notes(tools):
    tools.search("ProcessOrder")

    assert tools.notes == []


def test_commits_are_asked_for_repositories_of_this_machine_only(recorded, ask):
    recorded.result = CodeResult(repositories=[Repository(name="r", host="a")])
    with pytest.raises(InvalidRequest, match="r is not on this machine"):
        ask.git_log("r", "x")
    with pytest.raises(InvalidRequest, match="repository not found: s"):
        ask.git_log("s", "x")


def test_a_source_that_is_down_is_told_as_it_says(ask, recorded, monkeypatch):
    def fail(*_):
        raise BackendFailure("no host answered: http://localhost:1 (refused)")

    monkeypatch.setattr(recorded, "search", fail)
    monkeypatch.setattr(recorded, "read", fail)
    for call in (lambda: ask.search("x"), lambda: ask.fetch_content("r", "p", 1, 1)):
        with pytest.raises(BackendFailure, match="no host answered"):
            call()


def test_several_threads_ask_at_once(tools):
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(tools.search("ProcessOrder")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(answers) == 8
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize("text", ['a.b("x")', "-x", "or", "meta.json", "f:x", "é", "a\\b"])
def test_literals_are_taken_literally(text, tools):
    from triseek.query.zoekt.parse import parse
    from triseek.query.zoekt.syntax import Substring

    node = parse(tools.literal(text))
    assert isinstance(node, Substring)
    assert (node.pattern, node.where) == (text, "content")


def test_definitions_that_may_be_missing_are_noted(recorded):
    answers = iter([FileSymbols(problem="it is large"), FileSymbols(is_parsed=False)])
    ask = ZoektTools(recorded, lambda _path, _text: next(answers))

    assert ask.outline("r", "a\x1b.py") == ask.outline("r", "b.zzz") == []
    assert ask.notes == [
        r"Note: definitions in 'a\x1b.py' may be missing: it is large",
        "Note: definitions in 'b.zzz' may be missing: there is no parser for it",
    ]


def test_a_file_that_is_too_large_to_parse_is_noted(recorded):
    recorded.read = lambda _repository, _path: b"def a(): pass\n" * (FILE_BYTES_MAX // 10)
    ask = ZoektTools(recorded, symbols_of)

    assert ask.outline("r", "a.py") == []
    assert "may be missing: it is larger than" in ask.notes[0]
