"""A working tree over the answers of the real Zoekt, by the client."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import replace

import pytest

from tests import zoekt_programs
from tests.cli.running import triseek
from tests.conftest import plant
from tests.zoekt.changes import CHANGES, FILES, QUERIES
from tests.zoekt.git_repository import commit_all
from tests.zoekt.test_overlay import asking, of_tree, overlaid, rows
from triseek import config
from triseek.app.code_sources import code_source
from triseek.engine.search.backends import scan, zoekt
from triseek.engine.search.query import Query
from triseek.engine.service import Service
from triseek.engine.tool_host import ToolHost
from triseek.errors import BackendFailure, InvalidRequest
from triseek.model.call import Call
from triseek.model.search import PatternSpec, SearchRequest, Totals
from triseek.search.context import SearchContext
from triseek.search.requests import SearchContentRequest
from triseek.search.searching import search_content
from triseek.zoekt import addresses, checkout
from triseek.zoekt.cluster import Cluster

pytestmark = pytest.mark.long

SPEC = PatternSpec(patterns=("needle",))


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The real Zoekt with a repository for each change, as it is before it."""
    try:
        programs = zoekt_programs.installed()
    except zoekt_programs.Unreachable as reason:
        pytest.skip(str(reason))
    base = tmp_path_factory.mktemp("overlay")
    trees = {change: base / change.replace(" ", "-") for change in CHANGES}
    for tree in trees.values():
        tree.mkdir()
        plant(tree, FILES)
        commit_all(tree)
    indexer = [str(programs / "zoekt-git-index"), "-index", str(base / "index")]
    subprocess.run([*indexer, *map(str, trees.values())], check=True, capture_output=True)
    with (
        zoekt_programs.serving(base / "index") as url,
        Service() as service,
        Cluster(addresses.parse(url)) as cluster,
    ):
        yield cluster, service, trees


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_here_is_found(change, served):
    cluster, service, trees = served
    tree = trees[change]
    CHANGES[change](tree)
    source = overlaid(cluster, service, tree)
    for query in QUERIES:
        result = source.search(asking(f"r:^{tree.name}$ ({query} )"))
        assert not result.partial
        assert _numbers(result) == _numbers(of_tree(service, tree, query, tree.name)), query
    for pattern in ("needle", "new_word", "(?i)^needle", "plain|2", r"\w+$"):
        request = SearchRequest(pattern=PatternSpec(patterns=(pattern,)))
        query, totals = Query.of(str(tree), request), Totals()
        assert rows(zoekt.search(query, totals, cluster)) == rows(scan.search(query, Totals()))
        assert not totals.incomplete


def test_an_agent_and_a_person_get_the_rows_of_any_backend(served, monkeypatch):
    cluster, service, trees = served
    tree = trees["nothing"]
    (tree / "new.py").write_text("edited = 'needle'\n")
    environ = {"ZOEKT_API_URL": cluster.addresses[0].url}
    context = SearchContext(ToolHost(service=service, root=str(tree), environ=environ))
    answers = [
        search_content(context, SearchContentRequest(query="needle", backend=backend), Call())
        for backend in ("", "zoekt")
    ]
    assert answers[1]["strategy"] == "zoekt"
    assert answers[1]["results"] == answers[0]["results"]
    with pytest.raises(InvalidRequest, match="no hosts that run Zoekt"):  # this process has none
        list(service.engine(str(tree)).search(SearchRequest(pattern=SPEC, engine="zoekt")))

    monkeypatch.setenv("ZOEKT_API_URL", environ["ZOEKT_API_URL"])
    usual = triseek(["-n", "needle"], tree)
    assert usual.out
    assert triseek(["--backend", "zoekt", "-n", "needle"], tree) == usual
    envelope = triseek(["--engine=zoekt", "--repo", tree.name, "--envelope", "needle"], tree)
    assert json.loads(envelope.out)["strategy"] == "zoekt"


def test_a_folder_without_git_is_compared_by_times(tmp_path, served, monkeypatch):
    service = served[1]
    tree = tmp_path / "folder"
    tree.mkdir()
    plant(tree, FILES)
    monkeypatch.setattr(checkout, "INDEXING_S", 0.0)
    time.sleep(1.1)  # the index has its time in whole seconds
    zoekt_programs.index(tree, tmp_path / "index")
    with (
        zoekt_programs.serving(tmp_path / "index") as url,
        Cluster(addresses.parse(url)) as cluster,
    ):
        repository = checkout.repository_of(str(tree), cluster)
        assert checkout.compare(str(tree), repository, "").same
        (tree / "src/one.py").unlink()
        (tree / "src/two.py").write_text("return needle\n")
        (tree / "docs").rename(tree / "documents")
        (tree / "new").write_text("new_word needle")
        for pattern in ("needle", "new_word", "(?i)^needle", "plain|2", r"\w+$"):
            request = SearchRequest(pattern=PatternSpec(patterns=(pattern,)))
            query, totals = Query.of(str(tree), request), Totals()
            assert rows(zoekt.search(query, totals, cluster)) == rows(scan.search(query, Totals()))
            assert not totals.incomplete
        for query in ("needle", "new_word", "f:docs"):
            result = overlaid(cluster, service, tree).search(asking(query))
            hidden = {path for path in _numbers(result) if path.startswith(b".")}
            expected = _numbers(of_tree(service, tree, query, tree.name))
            assert {p: n for p, n in _numbers(result).items() if p not in hidden} == expected


def test_local_indexes_join_the_cluster(tmp_path, served, monkeypatch):
    cluster, service, trees = served
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path / "home"))
    own = tmp_path / "own"
    own.mkdir()
    plant(own, {"own.py": "needle\n"})
    settings = replace(config.read(), zoekt_api_url=cluster.addresses[0].url)
    edited = trees["nothing"]
    (edited / "edited.py").write_text("needle\n")

    source = code_source(settings, service, str(edited / "src"))
    assert b"edited.py" in _numbers(source.search(asking(f"r:^{edited.name}$ needle")))
    assert "own" not in {each.name for each in source.repositories().repositories}
    source = code_source(replace(settings, zoekt_with_local=True), service, str(own))
    names = {each.name for each in source.repositories().repositories}
    assert names == {"own", *(tree.name for tree in trees.values())}
    result = source.search(asking("needle f:one or f:own"))
    assert {(file.repository, file.path) for file in result.files} >= {
        ("own", b"own.py"),
        ("delete-staged", b"src/one.py"),
    }
    assert not result.partial
    assert source.read("own", b"own.py") == b"needle\n"
    assert source.read("edit", b"lines.txt") == b"needle\nplain\n"


def test_a_host_that_is_down_is_named(served):
    _, _, trees = served
    port = zoekt_programs.free_port()
    tree = trees["nothing"]
    request = SearchRequest(pattern=SPEC)
    with Cluster(addresses.parse(f"http://127.0.0.1:{port}")) as cluster:
        for search in (
            lambda: rows(zoekt.search(Query.of(str(tree), request), Totals(), cluster)),
            lambda: overlaid(cluster, None, tree).search(asking("needle")),
        ):
            with pytest.raises(BackendFailure, match=f"127.0.0.1:{port}"):
                search()


def _numbers(result):
    return {file.path: [line.number for line in file.lines] for file in result.files}
