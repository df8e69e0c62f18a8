"""A cluster of a real Zoekt and of our server is one source of code."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from tests import zoekt_programs
from tests.compat import asked, served
from triseek.model.code_search import CodeRequest
from triseek.zoekt import addresses
from triseek.zoekt.cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.long

TOKEN = "a-token-of-this-test"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """`alpha` is Zoekt's; `beta` is ours, which asks for a token."""
    alpha, beta = asked.write(tmp_path)
    home, indexes = tmp_path / "home", tmp_path / "indexes"
    home.mkdir()
    served.build(home, [beta])
    try:
        zoekt_programs.index(alpha, indexes)
    except zoekt_programs.Unreachable as error:
        pytest.skip(str(error))
    with (
        zoekt_programs.serving(indexes) as theirs,
        served.serving(home, "--token", TRISEEK_ZOEKT_TOKEN=TOKEN) as ours,
    ):
        own_url = ours.url.replace("://", f"://any:{TOKEN}@")
        with contextlib.closing(Cluster(addresses.parse(f"{theirs},{own_url}"))) as cluster:
            yield cluster


def test_both_kinds_of_node_answer_one_query(cluster: Cluster) -> None:
    result = cluster.search(CodeRequest(query="needle", context_lines=1))

    assert {(file.repository, file.path.decode()) for file in result.files} == {
        *(("alpha", name) for name in asked.TREES["alpha"] if not name.startswith("deep")),
        ("beta", "copy.py"),
        ("beta", "wide.txt"),
    }
    assert result.partial == ()
    assert {report.state for report in result.hosts} == {"ok"}
    lines = {file.path: [line.number for line in file.lines] for file in result.files}
    assert lines[b"wide.txt"] == [1]
    assert lines[b"main.go"] == [7, 11]


def test_repositories_and_files_of_both_are_there(cluster: Cluster) -> None:
    assert [repository.name for repository in cluster.repositories().repositories] == [
        "alpha",
        "beta",
    ]
    for name, files in asked.TREES.items():
        for path, content in files.items():
            assert cluster.read(name, path.encode()) == content
