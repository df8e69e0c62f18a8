"""`triseek cluster status`, `list` and `search`, with servers of this test."""

from __future__ import annotations

import json

import pytest

from tests.cli.running import triseek
from tests.zoekt import hosts
from tests.zoekt_programs import free_port


@pytest.fixture
def host():
    search = hosts.found(
        hosts.file_match("org/api", "src/a.py", 9), hosts.file_match("org/web", "b\x1b.py", 5),
        hosts.file_match("org/api", "src/c.py", 1), FileCount=7,
    )  # fmt: skip
    entry = {
        "Repository": {"Name": "org/api", "Branches": [{"Name": "main", "Version": "c0ffee" * 6}]},
        "Stats": {"Documents": 12, "ContentBytes": 2_000_000, "IndexBytes": 5_000_000},
        "IndexMetadata": {"IndexTime": "2026-11-20T10:00:00Z", "IndexFormatVersion": 16,
                          "IndexFeatureVersion": 12},
    }  # fmt: skip
    behave = hosts.routes(
        search=search, list={"List": {"Repos": [entry]}}, readyz=hosts.response(200, "")
    )
    with hosts.serving(behave) as served:
        yield served


@pytest.fixture
def run(host, tmp_path, monkeypatch):
    monkeypatch.setenv("ZOEKT_API_URL", host.url)
    return lambda *words: triseek(["cluster", *words], tmp_path)


def test_files_are_grouped_by_repository_best_first(run, host):
    outcome = run("search", "needle")
    lines = outcome.out.decode().splitlines()

    assert lines[:8] == [
        "org/api: 2 lines in 2 files shown", "  src/a.py", "    1: needle", "  src/c.py",
        "    1: needle", "org/web: 1 line in 1 file shown", "  b\\x1b.py", "    1: needle",
    ]  # fmt: skip
    assert lines[8] == "3 of 7 files shown; --limit shows more"
    assert lines[9].startswith(f"host {host.url.removeprefix('http://')}: ok, ")
    assert outcome.status == 0


def test_options_reach_the_host(run, host):
    assert run("search", "-C", "3", "--limit", "2", "needle").status == 0

    options = json.loads(host.requests[-1].body)["Opts"]
    assert (options["NumContextLines"], options["MaxDocDisplayCount"]) == (3, 2)


def test_json_has_files_hosts_and_counts(run, host):
    document = json.loads(run("search", "--json", "needle").out)

    assert (document["files"], document["partial"]) == (7, [])
    assert [group["name"] for group in document["repositories"]] == ["org/api", "org/web"]
    first = document["repositories"][0]["results"][0]
    assert (first["path"], first["lines"][0]["spans"]) == ("src/a.py", [[0, 6]])
    assert document["hosts"][0]["state"] == "ok"


def test_repositories_with_a_match_are_listed(run, host):
    outcome = run("search", "--repos", "needle lang:go")

    assert outcome.out.startswith(b"org/api  127.0.0.1:")
    assert b"12 files, 2.0 MB of text, index 5.0 MB" in outcome.out
    assert b"main c0ffeec0ffee" in outcome.out
    assert (outcome.status, host.requests[-1].query) == (0, "needle lang:go")
    assert run("list").out.startswith(b"org/api  127.0.0.1:")


def test_status_shows_what_each_host_holds(run, monkeypatch, host):
    outcome = run("status")
    assert (outcome.status, outcome.out.splitlines()[1].split()[1:]) == (
        0, [b"up", b"1", b"12", b"2.0", b"MB", b"5.0", b"MB", b"16.12",
            outcome.out.split()[-1]],
    )  # fmt: skip

    monkeypatch.setenv("ZOEKT_API_URL", f"{host.url},http://127.0.0.1:{free_port()}")
    outcome = run("status", "--json")
    assert [entry["state"] for entry in json.loads(outcome.out)["hosts"]] == ["ok", "down"]
    assert outcome.status == 2


@pytest.mark.parametrize(
    ("answer", "status", "text"),
    [
        (hosts.found(), 1, "no matches"),
        (hosts.found(Crashes=1), 2, "incomplete: "),
        (hosts.found(hosts.file_match("r", "p"), Crashes=1), 0, "incomplete: "),
    ],
)
def test_the_exit_status_says_whether_nothing_is_the_answer(
    answer, status, text, tmp_path, monkeypatch
):
    with hosts.serving(hosts.routes(search=answer)) as host:
        monkeypatch.setenv("ZOEKT_API_URL", host.url)
        outcome = triseek(["cluster", "search", "x"], tmp_path)

    assert (outcome.status, text in outcome.out.decode()) == (status, True)


def test_a_query_that_the_host_refuses_is_an_error_of_one_line(tmp_path, monkeypatch):
    refusal = hosts.always(400, '{"Error":"query: lone \\\\ at end"}')
    with hosts.serving(refusal) as host:
        monkeypatch.setenv("ZOEKT_API_URL", host.url)
        outcome = triseek(["cluster", "search", "x"], tmp_path)

    assert (outcome.status, outcome.out) == (2, b"")
    assert outcome.err == "triseek: query: lone \\ at end. Correct the query.\n"


def test_without_hosts_the_setting_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("ZOEKT_API_URL", raising=False)
    outcome = triseek(["cluster", "list"], tmp_path)

    assert outcome.status == 2
    assert "Set ZOEKT_API_URL or zoekt.api_url" in outcome.err


def test_the_own_variable_goes_before_the_contracts(tmp_path, monkeypatch, host):
    monkeypatch.setenv("ZOEKT_API_URL", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("TRISEEK_ZOEKT_API_URL", host.url)

    assert triseek(["cluster", "search", "needle"], tmp_path).status == 0
