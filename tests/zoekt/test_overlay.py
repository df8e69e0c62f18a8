"""A working tree over a cluster's answers: what a search of the tree alone would find."""

from __future__ import annotations

import shutil
import time

import pytest

from tests.conftest import plant
from tests.zoekt.changes import CHANGES, FILES, QUERIES
from tests.zoekt.git_repository import commit_all, git
from tests.zoekt.indexed_copy import IndexedCopy
from triseek.engine.repositories.local import LocalRepositories
from triseek.engine.repositories.roots import Root
from triseek.engine.search.backends import scan, zoekt
from triseek.engine.search.query import Query
from triseek.engine.service import Service
from triseek.errors import InvalidRequest
from triseek.model.code_search import CodeRequest
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest, Totals
from triseek.zoekt import checkout
from triseek.zoekt.overlay import Overlaid

NAME = "example.org/team/tree"


@pytest.fixture
def service():
    with Service() as opened:
        yield opened


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "tree"
    folder.mkdir()
    plant(folder, FILES)
    return folder


@pytest.fixture
def indexed(tree, tmp_path, service):
    commit = commit_all(tree)
    git(tree, "remote", "add", "origin", "git@example.org:team/tree.git")
    return IndexedCopy(service, tree, tmp_path / "copy", commit=commit, name=NAME)


def overlaid(source, service, tree):
    def local(name, only):
        return LocalRepositories(service, (Root(name=name, folder=str(tree)),), only=only)

    return Overlaid(source, local, str(tree))


def shown(result):
    """The files of an answer and their lines."""
    return {
        file.path: [(line.number, line.text, line.spans) for line in file.lines]
        for file in result.files
    }


def of_tree(service, tree, query, name=NAME):
    here = LocalRepositories(service, (Root(name=name, folder=str(tree)),))
    return here.search(asking(query))


def asking(query):
    return CodeRequest(query=query, max_matches=10_000, seconds=20.0)


def request_for(pattern):
    return SearchRequest(pattern=PatternSpec(patterns=(pattern,)))


def rows(batches):
    return [
        (file.path, number, offset, file.text[begin:end])
        for batch in batches
        for file in batch.files()
        for _, number, offset, begin, end, _ in file.rows.tolist()
    ]


@pytest.mark.long
@pytest.mark.parametrize("change", CHANGES)
def test_queries_find_what_is_here(change, indexed, tree, service):
    CHANGES[change](tree)
    source = overlaid(indexed, service, tree)
    for query in QUERIES:
        result, expected = source.search(asking(query)), of_tree(service, tree, query)
        assert shown(result) == shown(expected), query
        assert result.file_count == expected.file_count, query
        assert not result.partial, query


@pytest.mark.long
@pytest.mark.parametrize("change", CHANGES)
def test_a_search_of_the_folder_finds_what_a_scan_does(change, indexed, tree):
    CHANGES[change](tree)
    for pattern in ("needle", "new_word", "^def", "(?i)NEEDLE$", "plain|2", "x*", "\\r$"):
        for scope in (ScopeSpec(), ScopeSpec(hidden=True), ScopeSpec(no_ignore=True)):
            request = SearchRequest(pattern=PatternSpec(patterns=(pattern,)), scope=scope)
            query, totals = Query.of(str(tree), request), Totals()
            assert rows(zoekt.search(query, totals, indexed)) == rows(scan.search(query, Totals()))
            assert not totals.incomplete


def test_files_that_are_as_indexed_are_not_read_unless_they_match(indexed, tree):
    (tree / "src/two.py").write_text("needle\n")
    request = SearchRequest(pattern=PatternSpec(patterns=("Needle",)))
    totals = Totals()
    assert rows(zoekt.search(Query.of(str(tree), request), totals, indexed))
    matching = ("docs/a.md", "src/deep/three.go", "src/two.py")
    assert totals.bytes_searched <= sum((tree / name).stat().st_size for name in matching) + 100
    assert totals.files_searched == len(FILES) - 2  # without the hidden ones


def test_a_folder_inside_is_searched_as_a_part_of_its_repository(indexed, tree):
    (tree / "src/new.py").write_text("needle\n")
    inside = str(tree / "src")
    query = Query.of(inside, SearchRequest(pattern=PatternSpec(patterns=("(?i)needle",))))
    assert rows(zoekt.search(query, Totals(), indexed)) == rows(scan.search(query, Totals()))


def test_an_unknown_commit_is_said_and_contents_are_compared(indexed, tree, service):
    indexed.commit = "f" * 40
    (tree / "src/two.py").write_text("return needle\n")
    (tree / "docs/a.md").write_text("needle, edited\n")
    commit_all(tree)  # the edits are in a commit that the cluster does not have
    (tree / "lines.txt").write_text("new_word\n")
    result = overlaid(indexed, service, tree).search(asking("needle"))
    assert b"lines.txt" not in shown(result)
    assert shown(result)[b"docs/a.md"] == [(1, b"needle, edited", ((0, 6),))]
    assert b"src/one.py" in shown(result)
    assert len(result.partial) == 1
    assert "commit ffffffffffff" in result.partial[0]

    query = Query.of(str(tree), SearchRequest(pattern=PatternSpec(patterns=("needle",))))
    totals = Totals()
    found = {row[0] for row in rows(zoekt.search(query, totals, indexed))}
    assert {b"docs/a.md", b"src/one.py"} <= found
    assert "commit ffffffffffff" in totals.incomplete
    assert totals.freshness == "unverified"


@pytest.mark.parametrize("commit", ["--output=x", "HEAD", "a" * 39, "é" * 40])
def test_what_is_no_commit_is_no_argument_of_git(commit, indexed, tree):
    indexed.commit = commit
    query, totals = Query.of(str(tree), request_for("needle")), Totals()
    assert rows(zoekt.search(query, totals, indexed)) == rows(scan.search(query, Totals()))
    assert "cannot compare" in totals.incomplete


def test_a_partial_clone_is_not_compared(indexed, tree):
    git(tree, "config", "remote.origin.promisor", "true")
    query, totals = Query.of(str(tree), request_for("needle")), Totals()
    assert rows(zoekt.search(query, totals, indexed)) == rows(scan.search(query, Totals()))
    assert "cannot compare" in totals.incomplete


def test_names_of_a_hostile_repository_are_bounded_and_shown_without_signs(indexed, tree):
    git(tree, "config", "remote.origin.url", "https://h/\x1b[31m")
    for number in range(50):
        git(tree, "config", f"remote.r{number}.url", f"https://h/{number}")
    git(tree, "config", "zoekt.name", "x" * 5000)
    names = checkout.names_of(str(tree))
    assert len(names) == checkout.NAMES_MAX
    assert max(map(len, names)) < 100
    with pytest.raises(InvalidRequest) as raised:
        checkout.repository_of(str(tree), indexed)
    assert "\x1b" not in str(raised.value)


def test_a_pattern_that_matches_anywhere_reads_everything(indexed, tree):
    for pattern in ("x*", "", r"\b"):
        query, totals = Query.of(str(tree), request_for(pattern)), Totals()
        assert rows(zoekt.search(query, totals, indexed)) == rows(scan.search(query, Totals()))
    assert indexed.queries == []


def test_without_git_times_decide(tree, tmp_path, service, monkeypatch):
    monkeypatch.setattr(checkout, "INDEXING_S", 0.0)
    source = IndexedCopy(service, tree, tmp_path / "copy")
    source.indexed_at = max(p.lstat().st_ctime for p in (tree, *tree.rglob("*"))) + 0.01
    time.sleep(0.02)
    (tree / "src/two.py").write_text("return needle\n")
    (tree / "docs").rename(tree / "documents")
    (tree / "lines.txt").unlink()
    result = overlaid(source, service, tree).search(asking("needle"))
    assert shown(result) == shown(of_tree(service, tree, "needle", tree.name))
    query = Query.of(str(tree), SearchRequest(pattern=PatternSpec(patterns=("needle",))))
    assert rows(zoekt.search(query, Totals(), source)) == rows(scan.search(query, Totals()))
    same = checkout.compare(str(tree), source.repositories().repositories[0], "").same
    assert b"documents/a.md" not in same  # as old as before, in a folder that was moved
    assert b"big.txt" in same


def test_a_file_that_the_indexer_left_out_is_searched_here(indexed, tree):
    (indexed.copy / "src/one.py").unlink()
    indexed.files -= 1
    query = Query.of(str(tree), SearchRequest(pattern=PatternSpec(patterns=("needle",))))
    assert rows(zoekt.search(query, Totals(), indexed)) == rows(scan.search(query, Totals()))


def test_an_answer_that_a_limit_cut_is_incomplete(indexed, tree):
    indexed.partial = ("host left out 3 files",)
    totals = Totals()
    query = Query.of(str(tree), SearchRequest(pattern=PatternSpec(patterns=("needle",))))
    assert rows(zoekt.search(query, totals, indexed))
    assert totals.incomplete == "host left out 3 files"


def test_an_index_that_is_replaced_during_the_search_is_said(indexed, tree, monkeypatch):
    search = indexed.search

    def of_another(request):
        result = search(request)
        for file in result.files:
            file.version = "0" * 40
        return result

    monkeypatch.setattr(indexed, "search", of_another)
    totals = Totals()
    query = Query.of(str(tree), SearchRequest(pattern=PatternSpec(patterns=("matches nothing",))))
    assert not rows(zoekt.search(query, totals, indexed))
    assert "another index" in totals.incomplete


def test_a_path_of_the_cluster_that_leads_out_is_not_read(indexed, tree, service, monkeypatch):
    secret = tree.parent / "secret"
    secret.write_text("needle secret\n")
    search = indexed.search

    def hostile(request):
        result = search(request)
        for path in (b"../secret", str(secret).encode(), b"src/../../secret", b"nul\0"):
            file = result.files[0]
            result.files.append(type(file)(repository=NAME, path=path, version=indexed.commit))
        return result

    monkeypatch.setattr(indexed, "search", hostile)
    for commit in (indexed.commit, "f" * 40):
        indexed.commit = commit
        result = overlaid(indexed, service, tree).search(asking("needle"))
        assert all(file.path in {os_name.encode() for os_name in FILES} for file in result.files)


def test_the_tree_is_compared_once_for_one_run(indexed, tree, service, monkeypatch):
    compared = []
    monkeypatch.setattr(
        checkout, "compare", lambda *a, real=checkout.compare: compared.append(a) or real(*a)
    )
    source = overlaid(indexed, service, tree)
    for query in QUERIES[:3]:
        source.search(asking(query))
    source.read(NAME, b"src/one.py")
    assert len(compared) == 1

    # A file of the answer that changed since the comparison is searched here.
    (tree / "src/one.py").write_text("# edited\nneedle = 'edited'\n")
    lines = shown(source.search(asking("needle")))[b"src/one.py"]
    assert [text for _, text, _ in lines] == [b"needle = 'edited'"]
    # The next run sees every change.
    (tree / "src/two.py").write_text("unheard_of = 1\n")
    again = overlaid(indexed, service, tree)
    assert set(shown(again.search(asking("unheard_of")))) == {b"src/two.py"}
    assert len(compared) == 2


def test_a_comparison_in_doubt_is_made_again(indexed, tree, service, monkeypatch):
    real, doubtful = checkout.compare, checkout.Comparison(None, frozenset(), -1, "no time")
    monkeypatch.setattr(checkout, "compare", lambda *_: doubtful)
    source = overlaid(indexed, service, tree)
    assert source.search(asking("needle")).partial == ("no time.",)

    monkeypatch.setattr(checkout, "compare", real)
    assert not source.search(asking("needle")).partial


def test_what_is_here_is_read(indexed, tree, service):
    (tree / "src/two.py").write_text("as it is here\n")
    source = overlaid(indexed, service, tree)
    assert source.read(NAME, b"src/two.py") == b"as it is here\n"


def test_a_repository_is_listed_if_only_an_edit_matches(indexed, tree, service):
    source = overlaid(indexed, service, tree)
    assert source.repositories("new_word").repositories == []
    (tree / "src/two.py").write_text("new_word\n")
    source = overlaid(indexed, service, tree)  # of the next run
    assert [each.name for each in source.repositories("new_word").repositories] == [NAME]
    result = source.search(asking("new_word type:repo"))
    assert [each.name for each in result.repositories] == [NAME]


def test_many_changes_are_left_out_of_the_answer(indexed, tree, service, monkeypatch):
    monkeypatch.setattr("triseek.zoekt.overlay.EXCLUDED_MAX", 1)
    CHANGES["edit"](tree)
    CHANGES["rename"](tree)
    source = overlaid(indexed, service, tree)
    for query in QUERIES:
        expected = of_tree(service, tree, query)
        assert shown(source.search(asking(query))) == shown(expected), query


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/org/repo.git", "github.com/org/repo"),
        ("git@github.com:org/repo.git", "github.com/org/repo"),
        ("ssh://git@host.example:2222/org/repo", "host.example/org/repo"),
        ("https://user:secret@host.example/a/b/c/", "host.example/a/b/c"),
        ("git://host.example/repo", "host.example/repo"),
    ],
)
def test_a_remote_names_the_repository(url, name, tree):
    commit_all(tree)
    git(tree, "remote", "add", "upstream", "https://elsewhere.example/x")
    git(tree, "remote", "add", "origin", url)
    assert checkout.names_of(str(tree)) == [name, "elsewhere.example/x", "tree"]
    git(tree, "config", "zoekt.name", "own")
    assert checkout.names_of(str(tree / "src"))[0] == "own"


@pytest.mark.parametrize("url", ["/srv/git/repo", "../repo", "file:///srv/repo"])
def test_a_folder_is_no_remote(url, tree):
    commit_all(tree)
    git(tree, "remote", "add", "origin", url)
    assert checkout.names_of(str(tree)) == ["tree"]


def test_a_repository_that_the_cluster_does_not_have_is_an_error(indexed, tree):
    git(tree, "remote", "set-url", "origin", "https://example.org/other")
    shutil.move(tree, tree.parent / "elsewhere")
    request = SearchRequest(pattern=PatternSpec(patterns=("x",)))
    query = Query.of(str(tree.parent / "elsewhere"), request)
    with pytest.raises(InvalidRequest, match=r"no repository named example.org/other or elsewhere"):
        rows(zoekt.search(query, Totals(), indexed))
    named = SearchRequest(pattern=PatternSpec(patterns=("needle",)), repository=NAME)
    assert rows(zoekt.search(Query.of(str(tree.parent / "elsewhere"), named), Totals(), indexed))


@pytest.mark.parametrize(
    "options", [{"invert": True}, {"passthru": True}, {"mode": "files_without_match"}]
)
def test_what_does_not_match_is_refused(options, indexed, tree):
    request = SearchRequest(pattern=PatternSpec(patterns=("x",)), **options)
    with pytest.raises(InvalidRequest, match="finds what matches"):
        rows(zoekt.search(Query.of(str(tree), request), Totals(), indexed))
