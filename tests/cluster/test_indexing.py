"""`triseek cluster index`: what goes where, and what is asked before it does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from tests import zoekt_programs
from tests.cli.running import triseek
from tests.zoekt import hosts
from triseek.cluster import index_jobs, index_run
from triseek.cluster.index_jobs import IndexSource
from triseek.errors import InvalidRequest
from triseek.zoekt.addresses import parse


def source(name: str, **more: object) -> IndexSource:
    fields = {"path": f"/src/{name}", "url": f"https://code.example/{name}", "is_git": True}
    return IndexSource(name=name, **{**fields, **more})


def repository(folder, origin=""):
    folder.mkdir(parents=True)
    (folder / "needle.py").write_text("needle = 1\n")
    for words in (
        ("init", "-q", "-b", "main"), ("add", "."),
        ("-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-qm", "one"),
        *([("remote", "add", "origin", origin)] if origin else ()),
    ):  # fmt: skip
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    return folder


def placed(names, text, replicas=1):
    jobs = index_jobs.planned([source(n) for n in names], parse(text), replicas, "index {name}")
    return {name: [job.host.name for job in jobs if job.source.name == name] for name in names}


NAMES = [f"org/repository{number}" for number in range(600)]


def test_a_host_more_moves_only_what_it_gets():
    before = placed(NAMES, "http://a,http://b,http://c")
    after = placed(NAMES, "http://d,http://c,http://b,http://a")

    moved = [name for name in NAMES if before[name] != after[name]]
    assert all(after[name] == ["d"] for name in moved)
    assert 100 < len(moved) < 200  # 150 are a quarter


def test_weights_are_shares():
    hosts_of = placed(NAMES, "http://a#weight=3,http://b")

    assert 400 < sum(host == ["a"] for host in hosts_of.values()) < 500  # 450


def test_replicas_are_on_different_hosts_and_the_first_stays():
    one = placed(NAMES, "http://a,http://b,http://c")
    two = placed(NAMES, "http://a,http://b,http://c", replicas=2)

    assert all(two[name][0] == one[name][0] and len(set(two[name])) == 2 for name in NAMES)
    assert placed(["x"], "http://a,http://b", replicas=5)["x"] in (["a", "b"], ["b", "a"])


def filled(command, **fields):
    return index_jobs.planned([source("a", **fields)], parse("http://h:6070/zoekt"), 1, command)[0]


def test_a_command_gets_its_values_as_words():
    job = filled("ssh {host} 'index {name}' {path} {url} {other}", path="/src/ü~@=")

    assert job.argv == (
        "ssh", "h", "index a", "/src/ü~@=", "https://code.example/a", "{other}",
    )  # fmt: skip
    assert job.leaves_machine
    assert not job.problem


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "https://x/$(touch ran)"), ("url", "-oProxyCommand=ran"), ("url", "https://x/a;b"),
        ("url", "https://x/`b`"), ("url", "ext::sh -c ran"), ("url", "https://x/a\nb"),
        ("url", "https://x/'"), ("path", "/src/a&b"), ("path", "/src/a b"), ("path", "/src/$HOME"),
    ],
)  # fmt: skip
def test_what_a_shell_on_the_host_would_read_is_not_passed(field, value):
    job = filled(f"ssh {{host}} index {{{field}}}", **{field: value})
    other = filled("ssh {host} index {name}", **{field: value})

    assert job.problem.startswith(f"its {field} begins with a dash, or has a blank or a character")
    assert job.action.startswith("cannot: ")
    assert index_run.carry_out(job).problem == job.problem
    assert not other.problem


def test_a_command_that_is_no_words_is_refused():
    with pytest.raises(InvalidRequest, match="cannot be split into words: No closing quotation"):
        index_jobs.planned([source("a")], parse("http://h"), 1, "ssh '")


@pytest.mark.parametrize(
    ("address", "repository_", "action", "leaves"),
    [
        ("http://far", source("a"), "cannot: no way to index on far is set", False),
        ("http://far#index=http://far:6060", source("a"), "POST http://far:6060/index", True),
        ("http://localhost#index=http://far/i", source("a"), "POST http://far/i https", True),
        ("http://far#index=http://localhost:1", source("a"), "POST http://localhost:1/in", False),
        (
            "http://far#index=http://far:6060",
            source("a", url=""),
            "cannot: it has no remote",
            False,
        ),
    ],
)
def test_how_a_host_is_indexed(address, repository_, action, leaves):
    job = index_jobs.planned([repository_], parse(address), 1, "")[0]

    assert job.action.startswith(action)
    assert job.leaves_machine == leaves


def test_a_password_of_a_remote_is_not_sent(tmp_path):
    folder = repository(tmp_path / "r", "https://me:hunter2@code.example/org/r.git")

    assert index_jobs.index_source(str(folder)).url == "https://code.example/org/r.git"


def test_names_are_those_that_zoekt_gives(tmp_path):
    git = repository(tmp_path / "g", "git@code.example:org/r.git")
    (tmp_path / "plain").mkdir()

    assert index_jobs.index_source(str(git / ".")).name == "code.example/org/r"
    plain = index_jobs.index_source(str(tmp_path / "plain"))
    assert (plain.name, plain.is_git, plain.url) == ("plain", False, "")


def test_a_dry_run_does_nothing(tmp_path, monkeypatch):
    folder = repository(tmp_path / "r", "https://code.example/r")
    with hosts.serving(hosts.always(200, '{"Success": true}')) as server:
        monkeypatch.setenv("ZOEKT_API_URL", f"http://far#index={server.url}")
        outcome = triseek(["cluster", "index", "--dry-run", str(folder)], tmp_path)

        assert server.requests == []
    assert outcome.out.startswith(b"code.example/r -> far: POST http://127.0.0.1:")
    assert outcome.status == 0


def test_a_server_is_asked_to_index(tmp_path, monkeypatch):
    folder = repository(tmp_path / "r", "https://code.example/r")
    with hosts.serving(hosts.always(200, '{"Success": true}')) as server:
        monkeypatch.setenv("ZOEKT_API_URL", f"http://far#index={server.url}")
        outcome = triseek(["cluster", "index"], folder)

        body = json.loads(server.requests[0].body)
        assert server.targets() == ["/index"]
    assert body["CloneURL"] == "https://code.example/r"
    assert 0 < body["RepoID"] < 1 << 32
    assert (outcome.status, b"indexed" in outcome.out) == (0, True)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (hosts.always(500, '{"Success":false,"Error":"clone failed"}'), "clone failed"),
        (hosts.always(200, "<html>", "text/html"), "HTTP 200: <html>"),
        (hosts.always(200, '{"Success": "yes"}'), "the server answers HTTP 200"),
    ],
)
def test_a_server_that_does_not_index_is_a_failure(answer, text, tmp_path, monkeypatch):
    folder = repository(tmp_path / "r", "https://code.example/r")
    with hosts.serving(answer) as server:
        monkeypatch.setenv("ZOEKT_API_URL", f"http://far#index={server.url}")
        outcome = triseek(["cluster", "index", "--json"], folder)

    assert text in json.loads(outcome.out)["repositories"][0]["problem"]
    assert outcome.status == 2


def test_nothing_is_sent_to_another_machine_unasked(tmp_path, monkeypatch):
    folder = repository(tmp_path / "r", "https://code.example/r")
    marker = tmp_path / "ran"
    command = f'{sys.executable} -c \'open("{marker}", "w").write("{{host}} {{name}}")\''
    monkeypatch.setenv("ZOEKT_API_URL", "http://far.example")
    monkeypatch.setenv("TRISEEK_ZOEKT_INDEX_COMMAND", command)

    outcome = triseek(["cluster", "index"], folder)
    assert (outcome.status, marker.exists()) == (2, False)
    assert "Pass --yes to agree" in outcome.err

    outcome = triseek(["cluster", "index", "--yes"], folder)
    assert (outcome.status, marker.read_text()) == (0, "far.example code.example/r")


def test_a_command_that_fails_is_named_with_its_last_words(tmp_path, monkeypatch):
    command = f"{sys.executable} -c 'print(1); print(\"no space\"); exit(3)'"
    monkeypatch.setenv("ZOEKT_API_URL", "http://localhost")
    monkeypatch.setenv("TRISEEK_ZOEKT_INDEX_COMMAND", command)
    outcome = triseek(["cluster", "index", str(tmp_path)], tmp_path)

    assert "ended with status 3: no space" in outcome.out.decode()
    assert outcome.status == 2


def test_a_folder_that_is_not_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("ZOEKT_API_URL", "http://localhost")
    outcome = triseek(["cluster", "index", str(tmp_path / "nowhere")], tmp_path)

    assert (outcome.status, "no such folder" in outcome.err) == (2, True)


@pytest.mark.long
def test_repositories_are_indexed_on_this_machine_and_found(tmp_path, monkeypatch):
    try:
        programs = zoekt_programs.installed()
    except zoekt_programs.Unreachable as reason:
        pytest.skip(str(reason))
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    folders = [repository(tmp_path / f"r{i}", f"https://code.example/r{i}") for i in range(4)]
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    with (
        zoekt_programs.serving(tmp_path / "one") as one,
        zoekt_programs.serving(tmp_path / "two") as two,
    ):
        urls = f"{one}#index={tmp_path}/one,{two}#index={tmp_path}/two"
        monkeypatch.setenv("ZOEKT_API_URL", urls)
        monkeypatch.setenv("TRISEEK_ZOEKT_REPLICAS", "2")
        indexed = triseek(["cluster", "index", *map(str, folders)], tmp_path)
        assert (indexed.status, indexed.out.count(b"indexed, ")) == (0, 8), indexed
        _until(lambda: triseek(["cluster", "list"], tmp_path).out.count(b"  127.0.0.1:") == 8)
        outcome = triseek(["cluster", "search", "--json", "needle"], tmp_path)

    document = json.loads(outcome.out)
    assert [group["name"] for group in document["repositories"]] == [
        f"code.example/r{i}" for i in range(4)
    ]
    assert document["files"] == 4


def _until(is_so):
    until = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.2)
