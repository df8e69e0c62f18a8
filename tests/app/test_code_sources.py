"""Which source of code a folder's queries are answered by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.conftest import plant
from tests.zoekt import hosts
from tests.zoekt.indexed_copy import IndexedCopy
from triseek import config
from triseek.app.code_sources import code_source
from triseek.engine.roots import index_dir
from triseek.engine.service import Service
from triseek.errors import BackendFailure, InvalidRequest
from triseek.index.build import build
from triseek.model.code_search import CodeRequest
from triseek.zoekt.joined import Joined


@pytest.fixture
def service():
    with Service() as opened:
        yield opened


def names(source):
    return [each.name for each in source.repositories().repositories]


def test_without_a_cluster_the_folder_itself_is_searched(repo, service):
    root = repo({"a/b.py": "needle\n"})
    source = code_source(config.read(), service, root + "/a")
    assert source.name == "local"
    assert [file.path for file in source.search(CodeRequest(query="needle")).files] == [b"b.py"]


def test_a_folder_of_indexed_repositories_is_none_itself(tmp_path, home, monkeypatch, service):
    monkeypatch.setenv("TRISEEK_HOME", str(home))
    root = str(tmp_path / "src" / "api")
    plant(tmp_path / "src" / "api", {"a.py": "needle\n"})
    build(root, index_dir(root))

    for folder, expected in ((tmp_path / "src", ["api"]), (tmp_path / "src" / "api", ["api"])):
        source = code_source(config.read(environ={}), service, str(folder))
        assert names(source) == expected
    (tmp_path / "src" / ".git").mkdir()
    assert names(code_source(config.read(environ={}), service, str(tmp_path / "src"))) == [
        "api", "src",
    ]  # fmt: skip


def test_a_cluster_is_asked_where_one_is_configured(repo, service):
    routes = hosts.routes(list=hosts.listed("other"), search=hosts.found())
    with hosts.serving(routes) as host:
        settings = replace(config.read(), zoekt_api_url=host.url)
        source = code_source(settings, service, repo({"b.py": "needle\n"}))
        assert source.name == "zoekt"
        assert names(source) == ["other"]
        assert source.search(CodeRequest(query="needle")).files == []
        with_local = replace(settings, zoekt_with_local=True)
        source = code_source(with_local, service, repo({"b.py": "needle\n"}))
        result = source.search(CodeRequest(query="needle"))
        assert [file.path for file in result.files] == [b"b.py"]


def test_what_is_no_address_is_an_error(repo, service):
    settings = replace(config.read(), zoekt_api_url="ftp://host")
    with pytest.raises(InvalidRequest, match="http"):
        code_source(settings, service, repo({}))


class Failing:
    """A source of which nothing can be searched."""

    name = "zoekt"

    def search(self, _request):
        raise BackendFailure("host.example: refused\nmore")

    repositories = search


def test_two_sources_answer_as_one_and_each_alone(tmp_path, service):
    sources = []
    for name, lines in (("one", 3), ("two", 2)):
        tree = tmp_path / name
        tree.mkdir()
        plant(tree, {f"{name}.txt": "needle\n" * lines})
        sources.append(IndexedCopy(service, tree, tmp_path / f"copy-{name}"))
    joined = Joined(*sources)
    result = joined.search(CodeRequest(query="needle", max_matches=4))
    assert {file.path for file in result.files} == {b"one.txt", b"two.txt"}
    assert (result.file_count, result.match_count) == (2, 5)
    assert sum(len(file.lines) for file in result.files) == 4
    assert names(joined) == ["one", "two"]
    assert [joined.read(name, f"{name}.txt".encode())[:6] for name in ("one", "two")] == [
        b"needle",
        b"needle",
    ]
    for pair in ((Failing(), sources[0]), (sources[0], Failing())):
        result = Joined(*pair).search(CodeRequest(query="needle"))
        assert len(result.files) == 1
        assert result.partial == ("host.example: refused.",)
    with pytest.raises(BackendFailure, match=r"host\.example"):
        Joined(Failing(), Failing()).search(CodeRequest(query="needle"))
