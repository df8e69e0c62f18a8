"""The real Zoekt: hosts killed, slow, loading and without -rpc; and what is recorded of it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest

from tests import zoekt_programs
from tests.zoekt import hosts, trees
from triseek.errors import BackendFailure, InvalidQuery, InvalidRequest
from triseek.model.code_search import CodeRequest
from triseek.zoekt import scope
from triseek.zoekt.addresses import parse
from triseek.zoekt.cluster import Cluster
from triseek.zoekt.host_status import host_statuses

pytestmark = pytest.mark.long

REPOSITORIES = tuple(trees.FILES)
QUERIES = (
    "needle", "needle or sys", "(needle or sys) -f:md", "lang:go needle", "case:yes Needle",
    "sym:needle", "f:needle", "type:filename needle", "-f:txt needle", r"nee(d|b)le\b", "été",
    "content:needle -lang:python", '"needle needle"', "r:shapes needle", "r:s needle case:no",
    "branch:HEAD needle", "(f:txt needle case:yes) or lang:c", r"needle\nlast",
)  # fmt: skip


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders of indexes: all repositories, the first two, the last two."""
    try:
        zoekt_programs.installed()
    except zoekt_programs.Unreachable as reason:
        pytest.skip(str(reason))
    base = tmp_path_factory.mktemp("zoekt")
    trees.write(base / "trees")
    for name, repositories in (
        ("all", REPOSITORIES), ("first", REPOSITORIES[:2]), ("last", REPOSITORIES[1:]),
    ):  # fmt: skip
        trees.index(base / "trees", base / name, *repositories)
    return base


@pytest.fixture(scope="module")
def whole(folders):
    """A server with all repositories."""
    with zoekt_programs.serving(folders / "all") as url:
        yield url


@pytest.fixture(scope="module")
def halves(folders):
    """Two servers, of which both hold the second repository."""
    with (
        zoekt_programs.serving(folders / "first") as one,
        zoekt_programs.serving(folders / "last") as two,
    ):
        yield one, two


@contextlib.contextmanager
def proxy(url, delay_s=0.0, loading=False):
    """A server that passes requests to another one, late, or says that it still loads."""

    def behave(connection, request):
        if loading:
            connection.sendall(hosts.response(503, "not ready\n", "text/plain"))
            return
        if request.target.startswith("/api/search"):
            time.sleep(delay_s)
        passed = urllib.request.Request(url + request.target, request.body or None)
        try:
            with urllib.request.urlopen(passed) as reply:
                kind = reply.headers["Content-Type"]
                connection.sendall(hosts.response(reply.status, reply.read(), kind))
        except urllib.error.HTTPError as error:
            kind = error.headers["Content-Type"]
            connection.sendall(hosts.response(error.code, error.read(), kind))

    with hosts.serving(behave) as host:
        yield host.url


def cluster(*urls):
    return Cluster(parse(",".join(urls)))


def shown(result):
    """What a user sees of the files, whichever host returned them."""
    return sorted(
        (file.repository, file.path, file.name_spans,
         [(line.number, line.text, line.spans, line.before, line.after, line.symbol)
          for line in file.lines])
        for file in result.files
    )  # fmt: skip


def test_the_recorded_answers_are_those_of_the_server(whole):
    if not trees.ctags():
        pytest.skip("Universal Ctags is not installed: there are no symbols")
    if os.environ.get("TRISEEK_GOLDEN") == "update":
        trees.record(whole)
    for name, document in trees.answers(whole):
        now, recorded = trees.stable(document), json.loads(trees.recorded(name))
        assert trees.unordered(now) == trees.unordered(recorded), name


@pytest.mark.parametrize("query", QUERIES)
def test_two_hosts_answer_as_one_that_holds_everything(whole, halves, query):
    request = CodeRequest(query=query, context_lines=1)
    with cluster(whole) as one, cluster(*halves) as two:
        expected, result = one.search(request), two.search(request)

        assert shown(result) == shown(expected)
        assert expected.files or query == "branch:HEAD needle"
        assert (result.file_count, result.partial) == (expected.file_count, ())


@pytest.mark.parametrize("query", QUERIES)
def test_a_narrowed_query_leaves_out_what_it_names_and_nothing_else(whole, query):
    with cluster(whole) as zoekt:
        every = shown(zoekt.search(CodeRequest(query=query)))
        for names in (["tools"], ["space name", "shapes"]):
            without = zoekt.search(CodeRequest(query=scope.without(query, names)))
            only = zoekt.search(CodeRequest(query=scope.only(query, names)))
            assert shown(without) == [file for file in every if file[0] not in names]
            assert shown(only) == [file for file in every if file[0] in names]


@pytest.mark.parametrize(
    "query",
    ["r:shapes needle", "-r:shapes needle", "(r:^tools$ or r:name) needle", "r:s.a needle",
     "needle or r:tools", "-(r:tools or r:shapes) needle", "r:nothing needle"],
)  # fmt: skip
def test_a_repository_is_left_out_only_if_nothing_of_it_matches(whole, query):
    with cluster(whole) as zoekt:
        found = {file.repository for file in zoekt.search(CodeRequest(query=query)).files}

    assert found <= scope.relevant(query, REPOSITORIES)
    if "needle or" not in query:
        assert found == scope.relevant(query, REPOSITORIES)


@pytest.mark.parametrize("query", ["a(", '"abc', "--", "abc or", "case:foo x", "sym:", "meta.json"])
def test_errors_of_a_query_are_those_of_the_server(whole, query):
    body = json.dumps({"Q": query}).encode()
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(f"{whole}/api/search", body))
    message = json.load(refused.value)["Error"]

    with cluster(whole) as zoekt, pytest.raises(InvalidQuery) as error:
        zoekt.search(CodeRequest(query=query))
    assert error.value.message == message


def test_repositories_are_listed_and_found_by_content(halves):
    with cluster(*halves) as zoekt:
        assert [r.name for r in zoekt.repositories().repositories] == sorted(REPOSITORIES)
        assert [r.name for r in zoekt.repositories("lang:c").repositories] == ["space name"]
        assert len(zoekt.copies().repositories) == 4
        listed = zoekt.search(CodeRequest(query="type:repo needle"))
        assert [r.name for r in listed.repositories] == sorted(REPOSITORIES)


def test_files_are_read_as_they_were_indexed(halves):
    with cluster(*halves) as zoekt:
        for repository, files in trees.FILES.items():
            for path, content in files.items():
                assert zoekt.read(repository, path.encode()) == content
        with pytest.raises(InvalidRequest, match="no such file"):
            zoekt.read("shapes", b"nowhere")


def test_a_server_without_rpc_is_searched_by_its_page(folders, whole):
    with (
        zoekt_programs.serving(folders / "all", rpc=False) as url,
        cluster(url) as page,
        cluster(whole) as zoekt,
    ):
        for query in ("needle", "sym:needle", "r:tools needle"):
            result = page.search(CodeRequest(query=query))
            expected = zoekt.search(CodeRequest(query=query))
            assert [(f.repository, f.path) for f in result.files] == [
                (f.repository, f.path) for f in expected.files
            ]
            assert "start zoekt-webserver with -rpc" in result.hosts[0].detail
        names = [r.name for r in page.repositories().repositories]
        assert names == [r.name for r in zoekt.repositories().repositories]
        names = [r.name for r in page.repositories("lang:c or lang:go").repositories]
        assert names == ["shapes", "space name"]
        assert page.read("tools", b"run.py") == trees.FILES["tools"]["run.py"]
        with pytest.raises(InvalidQuery, match="missing closing"):
            page.search(CodeRequest(query="a("))


@contextlib.contextmanager
def serving_no_pages(indexes, *words):
    """A server with `-html=false`, which has no `/readyz` to wait for."""
    port = zoekt_programs.free_port()
    program = str(zoekt_programs.installed() / "zoekt-webserver")
    argv = [program, "-listen", f"127.0.0.1:{port}", "-index", str(indexes), "-html=false", *words]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url, until = f"http://127.0.0.1:{port}", time.monotonic() + zoekt_programs.START_S
    try:
        while time.monotonic() < until:
            with contextlib.suppress(OSError), cluster(url) as zoekt:
                if zoekt.ready() == {url.removeprefix("http://"): True}:
                    break
            time.sleep(0.05)
        yield url
    finally:
        process.kill()
        process.wait()


def test_a_server_without_pages_is_read_by_searches(folders):
    with serving_no_pages(folders / "all", "-rpc") as url, cluster(url) as zoekt:
        assert zoekt.read("tools", b"run.py") == trees.FILES["tools"]["run.py"]
        with pytest.raises(InvalidRequest, match="no such file"):
            zoekt.read("tools", b"RUN.py")


def test_a_server_without_pages_and_rpc_is_no_server(folders):
    with (
        serving_no_pages(folders / "all") as url,
        cluster(url) as zoekt,
        pytest.raises(BackendFailure, match="start zoekt-webserver with -rpc"),
    ):
        zoekt.search(CodeRequest(query="needle"))


def test_content_that_was_too_large_to_index_is_not_returned(folders, tmp_path):
    zoekt_programs.index(folders / "trees" / "tools", tmp_path, "-file_limit", "20")
    with (
        zoekt_programs.serving(tmp_path) as url,
        cluster(url) as zoekt,
        pytest.raises(InvalidRequest, match="not its content: exceeds the maximum size"),
    ):
        zoekt.read("tools", b"run.py")


def test_one_host_is_killed_between_two_searches(folders, halves):
    with zoekt_programs.serving(folders / "first") as one:
        zoekt = cluster(one, halves[1])
        with contextlib.closing(zoekt):
            assert zoekt.search(CodeRequest(query="needle")).partial == ()
    # The server has been killed; its repository that the other one holds, too, is not lost.
    with contextlib.closing(cluster(one, halves[1])) as zoekt:
        result = zoekt.search(CodeRequest(query="needle"))
        assert {file.repository for file in result.files} == {"tools", "space name"}
        assert [report.state for report in result.hosts] == ["down", "ok"]
        name = one.removeprefix("http://")
        why = "it cannot be reached: Connection refused"
        assert result.partial == (f"{name} was not searched: {why}.",)


def test_a_host_is_killed_while_the_cluster_is_in_use(folders, halves):
    with contextlib.ExitStack() as alive:
        one = alive.enter_context(zoekt_programs.serving(folders / "all"))
        with cluster(one, halves[1]) as zoekt:
            before = zoekt.search(CodeRequest(query="needle"))
            alive.close()  # kills it
            result = zoekt.search(CodeRequest(query="needle"))

    assert {file.repository for file in before.files} == set(REPOSITORIES)
    assert {file.repository for file in result.files} == {"tools", "space name"}
    assert result.hosts[0].state == "down"
    assert len(result.partial) == 1  # of `shapes`, which only the killed host had


def test_a_host_is_killed_whose_repositories_another_holds(folders, whole):
    with contextlib.ExitStack() as alive:
        one = alive.enter_context(zoekt_programs.serving(folders / "all"))
        with cluster(one, whole) as zoekt:
            before = zoekt.search(CodeRequest(query="needle"))
            alive.close()
            result = zoekt.search(CodeRequest(query="needle"))

    assert shown(result) == shown(before)
    assert (result.hosts[0].state, result.partial) == ("down", ())


def test_a_slow_host_is_given_up_at_the_deadline(halves):
    with proxy(halves[0], delay_s=5) as slow, cluster(slow, halves[1]) as zoekt:
        started = time.monotonic()
        result = zoekt.search(CodeRequest(query="needle", seconds=1))

        assert time.monotonic() - started < 3
        assert result.hosts[0].state == "timeout"
        assert {f.repository for f in result.files} == {"tools", "space name"}
        assert len(result.partial) == 1


def test_a_host_that_loads_is_said_to(halves):
    with proxy(halves[0], loading=True) as loading, cluster(loading, halves[1]) as zoekt:
        result = zoekt.search(CodeRequest(query="needle"))

        assert [report.state for report in result.hosts] == ["loading", "ok"]
        assert "it is not ready (HTTP 503)" in result.partial[0]
        assert [status.state for status in host_statuses(zoekt)] == ["loading", "ok"]


def test_the_state_of_each_host_is_known(halves):
    with cluster(*halves, f"http://127.0.0.1:{zoekt_programs.free_port()}") as zoekt:
        first, _, last = host_statuses(zoekt)

        assert (first.state, first.repositories, first.files) == ("ok", 2, 9)
        assert first.formats == ("16.12",)
        assert 0.5 < first.ratio < 10
        assert (last.state, last.repositories) == ("down", 0)


def test_searches_of_many_threads_are_equal(halves):
    errors, results = [], []
    with contextlib.ExitStack() as stack:
        zoekt = stack.enter_context(cluster(*halves))
        is_over = threading.Event()

        def search():
            while not is_over.is_set():
                try:
                    results.append(zoekt.search(CodeRequest(query="needle")))
                except BackendFailure as error:
                    errors.append(error)

        threads = [threading.Thread(target=search) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(2)
        is_over.set()
        for thread in threads:
            thread.join()

    assert errors == []
    assert len(results) > 20
    assert len({tuple(map(repr, shown(result))) for result in results}) == 1
