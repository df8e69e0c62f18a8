"""Where nothing matches, what is suggested matches what it says."""

from __future__ import annotations

import os

import pytest

from tests.app.contexts import bare_context, find, paths, search, search_in
from triseek.engine.engine import Engine
from triseek.engine.search.search import Search
from triseek.model.search import PatternSpec, SearchRequest
from triseek.search import hints

TREE = {
    "src/a.rs": "fn parse_arguments() {}\nfn f(x: u8) {}\n",
    "src/b.py": "first\nsecond\n",
    "lib/c.rs": "PARSE\na.b\n",
}


@pytest.fixture
def context(repo):
    return bare_context(os.path.realpath(repo(TREE)))


ASKED = [
    {"query": "Parse_Arguments"},
    {"query": "parse_arg", "word": True},
    {"query": r"parse_\w+"},
    {"query": "fn f(x", "mode": "literal", "case": "insensitive", "type": "py"},
    {"query": r"f\(x: u8\)"},
    {"query": "f(x: u8)", "mode": "regex"},
    {"query": r"first\ssecond", "mode": "regex"},
    {"query": "parse_arguments", "glob": "*.py"},
    {"query": "parse_arguments", "glob": "lib/**"},
    {"query": "parse_arguments", "path": "lib", "type": "rust"},
    {"query": "PARSE", "path": "src", "case": "insensitive", "glob": "*.py"},
    {"query": r"first\|second"},
    {"query": r"fn parse\|second", "mode": "regex"},
    {"query": "f(", "word": True},
    {"query": "parse_argumnets"},
]


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_what_is_suggested_matches_what_it_says(context, asked):
    told = search(context, **asked)
    assert told["would_match"]
    for other in told["would_match"]:
        again = search(context, **{**asked, **other["change"]})

        assert (again["files_with_matches"], again["total_line_matches"]) == (
            other["files"], other["lines"]
        )  # fmt: skip


def test_a_typing_error_is_told_from_the_names_that_are_there(context):
    for typed in ("parse_argumnets", "parse_argments", "parse_argumments", "prase_arguments"):
        [other] = search(context, typed)["would_match"]
        assert other == {"change": {"query": "parse_arguments"}, "files": 1, "lines": 1}

    [other] = search_in(context, "**/*.rs", "parse_argumnets")["would_match"]
    assert other["change"] == {"content_query": "parse_arguments"}


def test_a_typing_error_is_found_in_any_case_by_the_usual_spelling(repo):
    text = "class AsyncResult:\n    pass\nx = AsyncResult()\nASYNCRESULT = 1\n"
    context = bare_context(os.path.realpath(repo({"result.py": text})))

    for typed in ("AsyncReslt", "asyncreslt"):
        [other] = search(context, typed)["would_match"]
        assert other == {"change": {"query": "AsyncResult"}, "files": 1, "lines": 2}


def test_what_agents_asked_for_in_vain_has_an_answer(repo):
    """The searches of finding A9."""
    files = {
        "celery/canvas.py": "class group:\nclass chord:\nx = AsyncResult(saferepr(y))\n",
        "zod/from-json-schema.ts": "",
    }
    root = os.path.realpath(repo(files))
    context = bare_context(root)

    def change(**asked):
        return [other["change"] for other in search(context, **asked)["would_match"]]

    assert change(query=r"class group\|class chord")[0] == {
        "query": "class group|class chord", "mode": "regex",
    }  # fmt: skip
    assert change(query="asyncresult") == [{"case": "insensitive"}]
    assert change(query="AsyncReslt") == [{"query": "AsyncResult"}]
    assert {"word": False} in change(query="saferepr(", word=True)
    assert change(query="AsyncResult", glob="*.ts") == [{"glob": ""}]
    assert change(query="AsyncResult", type="ts") == [{"type": ""}]
    assert paths(find(context, "fromJsonSchema")) == ["zod/from-json-schema.ts"]
    assert paths(find(context, f"{root}/celery/canvas.py")) == ["celery/canvas.py"]
    assert paths(search(context, "chord", path=f"{root}/celery")) == ["celery/canvas.py"]
    assert paths(search(context, "chord", glob=f"{root}/celery/*.py")) == ["celery/canvas.py"]


def test_a_path_query_is_left_by_another_tool(context):
    told = search_in(context, "*.py", "parse_arguments")

    assert told["would_match"] == [{"change": {"tool": "search_content"}, "files": 1, "lines": 1}]
    assert search(context, "parse_arguments")["total_line_matches"] == 1


def test_what_was_searched_is_told(context):
    told = search(context, "absent")

    assert told["searched"] == {
        "files": 3, "skipped": 0, "freshness": "swept", "hidden": 0, "ignored": 0,
    }  # fmt: skip
    assert told["would_match"] == []
    assert told["next_step"]


def test_an_answer_with_results_has_no_suggestions(context):
    assert "would_match" not in search(context, "parse_arguments")


def test_nothing_is_suggested_that_was_counted_in_part(context, monkeypatch):
    request = SearchRequest(pattern=PatternSpec(patterns=("parse_arguments",)))
    assert hints._count(context.host.engine, request, lambda: False) == (1, 1)
    complete = Search.__iter__

    def in_part(self):
        yield from complete(self)
        self.totals.incomplete = "time was up"

    monkeypatch.setattr(Search, "__iter__", in_part)

    assert hints._count(context.host.engine, request, lambda: False) == (0, 0)


def test_nothing_is_suggested_that_takes_too_long_to_count(context, monkeypatch):
    monkeypatch.setattr(hints, "PATIENCE_S", -1.0)

    assert search(context, "Parse_Arguments")["would_match"] == []


def test_what_was_left_out_is_searched_without_the_rest(repo, monkeypatch):
    """No index holds it: a search of the whole tree would read every file."""
    context = bare_context(
        os.path.realpath(
            repo(
                {**TREE, ".hidden": "gamma\n", "skipped.txt": "delta\n", ".ignore": "skipped.txt\n"}
            )
        )
    )
    requests = []
    begin = Engine.search

    def begun(engine, request, *more, **options):
        requests.append(request)
        return begin(engine, request, *more, **options)

    monkeypatch.setattr(Engine, "search", begun)

    assert search(context, "epsilon")["would_match"] == []

    wide = [request for request in requests if request.scope.hidden or request.scope.no_ignore]
    assert [sorted(request.paths) for request in wide] == [[".hidden", ".ignore", "skipped.txt"]]
    for name in ("gamma", "delta"):
        [other] = search(context, name)["would_match"]
        again = search(context, name, **other["change"])
        assert (again["files_with_matches"], other["files"]) == (1, 1)


def test_no_more_time_than_that_is_taken_for_what_was_left_out(repo, monkeypatch):
    context = bare_context(os.path.realpath(repo({**TREE, ".hidden": "gamma\n"})))
    assert search(context, "gamma")["would_match"]
    monkeypatch.setattr(hints, "LEFT_OUT_PATIENCE_S", -1.0)

    assert search(context, "gamma")["would_match"] == []
