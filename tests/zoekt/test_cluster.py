"""Several hosts: one answer, a report for each, and nothing lost in silence."""

from __future__ import annotations

import json
import os
import random
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.zoekt import hosts
from tests.zoekt_programs import free_port
from triseek.errors import BackendFailure, Cancelled, InvalidQuery, InvalidRequest
from triseek.model.code_search import CodeRequest, CodeResult
from triseek.zoekt import placement
from triseek.zoekt.addresses import parse
from triseek.zoekt.cluster import Cluster

NEEDLE = CodeRequest(query="needle", seconds=2)


def cluster(*urls: str, **options: object) -> Cluster:
    return Cluster(parse(",".join(urls)), **options)


def node(*names: str, more: dict[str, object] | None = None):
    """A host that holds repositories, each with one file, and understands `-r:` and `r:`."""

    def search(request: hosts.Request) -> object:
        query = request.query
        held = list(names)
        for sign, pattern in re.findall(r'(-?)repo:"([^"]+)"', query):
            unescaped = pattern.replace("\\\\", "\\")
            held = [n for n in held if bool(re.search(unescaped, n)) != (sign == "-")]
        return hosts.found(*(hosts.file_match(name, "f.txt", 5) for name in held))

    return hosts.routes(search=search, list=hosts.listed(*names), **(more or {}))


def names(result: CodeResult) -> list[str]:
    return [file.repository for file in result.files]


def states(result: CodeResult) -> list[str]:
    return [report.state for report in result.hosts]


def first_of(repository: str, *urls: str) -> int:
    """The position of the host that is asked for a repository."""
    addresses = parse(",".join(urls))
    return addresses.index(placement.ranked(repository, addresses)[0])


def test_the_answers_are_merged_by_score_repository_and_path():
    one = hosts.found(hosts.file_match("b", "y", 5), hosts.file_match("b", "x", 5))
    two = hosts.found(hosts.file_match("a", "z", 5), hosts.file_match("c", "w", 9))
    with (
        hosts.serving(hosts.routes(search=one, list=hosts.listed("b"))) as h1,
        hosts.serving(hosts.routes(search=two, list=hosts.listed("a", "c"))) as h2,
    ):
        for urls in ((h1.url, h2.url), (h2.url, h1.url)):
            with cluster(*urls) as zoekt:
                result = zoekt.search(NEEDLE)

            assert [(f.repository, f.path) for f in result.files] == [
                ("c", b"w"), ("a", b"z"), ("b", b"x"), ("b", b"y"),
            ]  # fmt: skip
            assert (result.file_count, result.match_count, result.partial) == (4, 4, ())
            assert states(result) == ["ok", "ok"]
            assert sorted(report.files for report in result.hosts) == [2, 2]


def test_limits_hold_after_merging():
    def found(repository):
        lines = [hosts.file_match("r", "p", line=i)["LineMatches"][0] for i in range(1, 4)]
        return hosts.found(*(hosts.file_match(repository, f"{i}", 9 - i, LineMatches=lines)
                             for i in range(4)))  # fmt: skip

    with (
        hosts.serving(hosts.routes(search=found("a"), list=hosts.listed("a"))) as h1,
        hosts.serving(hosts.routes(search=found("b"), list=hosts.listed("b"))) as h2,
        cluster(h1.url, h2.url) as zoekt,
    ):
        by_files = zoekt.search(CodeRequest(query="x", max_files=3))
        by_lines = zoekt.search(CodeRequest(query="x", max_matches=4))

        assert [(f.repository, f.path) for f in by_files.files] == [
            ("a", b"0"), ("b", b"0"), ("a", b"1"),
        ]  # fmt: skip
        assert by_files.file_count == 8
        assert [len(file.lines) for file in by_lines.files] == [3, 1]
        options = json.loads(h1.requests[-1].body)["Opts"]
        assert (options["MaxDocDisplayCount"], options["MaxMatchDisplayCount"]) == (50, 4)
        assert 4e9 < options["MaxWallTime"] <= 5e9


def test_of_replicas_one_host_is_asked_and_copies_are_dropped():
    with (
        hosts.serving(node("shared", "one")) as h1,
        hosts.serving(node("shared", "two")) as h2,
        cluster(h1.url, h2.url) as zoekt,
    ):
        result = zoekt.search(NEEDLE)

        assert names(result) == ["one", "shared", "two"]
        assert (result.file_count, result.partial) == (3, ())
        owner = (h1, h2)[first_of("shared", h1.url, h2.url)]
        assert result.files[1].host == owner.url.removeprefix("http://")


def test_a_host_that_ignores_the_narrower_query_gives_no_copies():
    answer = hosts.found(hosts.file_match("r", "p", 1, Version="v1"))
    other = hosts.found(hosts.file_match("r", "p", 2, Version="v1"),
                        hosts.file_match("r", "p", 2, Version="v2"))  # fmt: skip
    with (
        hosts.serving(hosts.routes(search=answer, list=hosts.listed("r", "a"))) as h1,
        hosts.serving(hosts.routes(search=other, list=hosts.listed("r", "b"))) as h2,
        cluster(h1.url, h2.url) as zoekt,
    ):
        result = zoekt.search(NEEDLE)

        assert [(file.version, file.score) for file in result.files] == [("v1", 2), ("v2", 2)]
        assert result.file_count == 2


def test_a_query_for_repositories_asks_only_their_hosts():
    with (
        hosts.serving(node("alpha", "beta")) as h1,
        hosts.serving(node("gamma")) as h2,
        cluster(h1.url, h2.url) as zoekt,
    ):
        zoekt.search(NEEDLE)
        h1.requests.clear()
        h2.requests.clear()
        result = zoekt.search(CodeRequest(query="r:^gam needle"))

        assert names(result) == ["gamma"]
        assert (h1.targets(), h2.targets()) == ([], ["/api/search"])  # the lists are cached
        assert [report.detail for report in result.hosts] == [
            "not asked: others hold its repositories too, or the query matches none of them", "",
        ]  # fmt: skip


def test_a_repository_that_was_indexed_just_now_is_searched():
    held = ["old"]
    behave = hosts.routes(
        search=lambda _: hosts.found(hosts.file_match(held[-1], "p")),
        list=lambda _: hosts.listed(*held),
    )
    with (
        hosts.serving(behave) as h1,
        hosts.serving(node("other")) as h2,
        cluster(h1.url, h2.url) as zoekt,
    ):
        zoekt.search(NEEDLE)
        held.append("new")

        assert names(zoekt.search(CodeRequest(query="r:^new$ needle"))) == ["new"]


def test_a_query_that_matches_no_repository_matches_nothing():
    with (
        hosts.serving(node("a")) as h1,
        hosts.serving(node("b")) as h2,
        cluster(h1.url, h2.url) as zoekt,
    ):
        result = zoekt.search(CodeRequest(query="r:nowhere needle"))

        assert (result.files, result.partial, states(result)) == ([], (), ["ok", "ok"])


@pytest.mark.parametrize(
    ("behaviour", "state", "detail"),
    [
        (hosts.hang, "timeout", "no answer within the time limit"),
        (hosts.drip, "timeout", "no answer within the time limit"),
        (hosts.reset, "down", "the connection broke"),
        (hosts.flood, "error", "longer than 1,000,000 bytes"),
        (hosts.gzip_bomb, "error", "longer than 1,000,000 bytes"),
        (hosts.always(200, "<html>hello</html>", "text/html"), "wrong", "start zoekt-webserver wi"),
        (hosts.always(404, "404 page not found\n", "text/plain"), "wrong", "zoekt-webserver with"),
        (hosts.always(405, '{"Error":"Only POST is supported"}'), "wrong", "serves no /api"),
        (hosts.always(200, "[1, 2"), "wrong", "no valid JSON"),
        (hosts.always(200, '{"x": 1}'), "wrong", "no field"),
        (hosts.always(503, "not ready\n", "text/plain"), "loading", "it is not ready (HTTP 503)"),
        (hosts.always(500, '{"Error":"boom \x1b[2J"}'), "error", "HTTP 500"),
        (hosts.always(500, '{"Error":"disk is gone"}'), "error", "HTTP 500: disk is gone"),
        (hosts.always(401, "no", "text/plain"), "error", "set TRISEEK_ZOEKT_AUTHORIZATION"),
        (hosts.always(302, "", Location="http://else/\x1b"), "wrong", r"http://else/\x1b; no"),
        (hosts.always(302, "", Location="http://elsewhere/"), "wrong", "redirects to http://else"),
        (hosts.always(200, "x", "application/octet-stream"), "wrong", "is application/octet-stre"),
    ],
)
def test_a_host_that_fails_is_reported_and_the_others_answer(behaviour, state, detail):
    with (
        hosts.serving(node("good")) as h1,
        hosts.serving(behaviour) as h2,
        cluster(h1.url, h2.url, answer_bytes=1_000_000) as zoekt,
    ):
        started = time.monotonic()
        result = zoekt.search(CodeRequest(query="needle", seconds=0.6))

        assert time.monotonic() - started < 3
        assert names(result) == ["good"]
        report = result.hosts[1]
        assert (report.state, detail in report.detail) == (state, True), report
        name = h2.url.removeprefix("http://")
        assert [reason.startswith(f"{name} was not searched: ") for reason in result.partial] == [
            True
        ]
        assert report.detail.isprintable()


def test_a_host_that_is_not_there_is_down():
    with hosts.serving(node("good")) as h1:
        url = f"http://127.0.0.1:{free_port()}"
        with cluster(url, h1.url) as zoekt:
            result = zoekt.search(NEEDLE)

    assert names(result) == ["good"]
    assert states(result) == ["down", "ok"]
    assert result.hosts[0].detail == "it cannot be reached: Connection refused"


@pytest.mark.parametrize("stats", [{"Crashes": 1}, {"ShardsSkipped": 2}, {"FilesSkipped": 3}])
def test_what_a_host_left_out_is_said(stats):
    with (
        hosts.serving(hosts.routes(search=hosts.found(**stats))) as host,
        cluster(host.url) as zoekt,
    ):
        result = zoekt.search(NEEDLE)

        assert len(result.partial) == 1
        assert result.hosts[0].crashes == stats.get("Crashes", 0)


def test_a_host_whose_replica_answers_makes_nothing_partial():
    failing = []

    def breaking(behave):
        def wrapped(connection, request):
            if request.target == "/api/search" and failing:
                connection.sendall(hosts.response(500, '{"Error": "broken"}'))
            else:
                behave(connection, request)

        return wrapped

    with (
        hosts.serving(node("r1", "r2", "r3", "r4")) as h1,
        hosts.serving(node("r1", "r2", "r3", "r4")) as h2,
    ):
        first = first_of("r1", h1.url, h2.url)
        broken, other = (h1, h2) if first == 0 else (h2, h1)
        broken.behave = breaking(broken.behave)
        with cluster(h1.url, h2.url) as zoekt:
            zoekt.search(NEEDLE)
            failing.append(True)
            result = zoekt.search(NEEDLE)

        assert names(result) == ["r1", "r2", "r3", "r4"]
        assert {file.host for file in result.files} == {other.url.removeprefix("http://")}
        assert result.partial == ()
        report = result.hosts[first]
        assert (report.state, report.detail) == ("error", "it answers HTTP 500: broken")
        assert result.hosts[1 - first].state == "ok"


def test_a_slow_host_whose_repositories_another_holds_is_given_up_in_time():
    is_slow = []

    def slow(behave):
        def wrapped(connection, request):
            if request.target == "/api/search" and is_slow:
                hosts.hang(connection, request)
            else:
                behave(connection, request)

        return wrapped

    with hosts.serving(node("r1", "r2", "r3")) as h1, hosts.serving(node("r1", "r2", "r3")) as h2:
        first = (h1, h2)[first_of("r1", h1.url, h2.url)]
        first.behave = slow(first.behave)
        with cluster(h1.url, h2.url) as zoekt:
            zoekt.search(NEEDLE)
            is_slow.append(True)
            started = time.monotonic()
            result = zoekt.search(CodeRequest(query="needle", seconds=1))

        assert names(result) == ["r1", "r2", "r3"]
        assert time.monotonic() - started < 1.5
        assert result.partial == ()


def test_a_host_whose_list_does_not_come_delays_no_later_search():
    def mute(connection, request):
        (hosts.hang if request.target == "/api/list" else node("r2"))(connection, request)

    with hosts.serving(node("r1")) as h1, hosts.serving(mute) as h2, cluster(h1.url, h2.url) as c:
        request = CodeRequest(query="needle", seconds=1)
        results = [names(c.search(request))]
        h1.requests.clear()
        started = time.monotonic()
        with ThreadPoolExecutor(8) as pool:
            results += map(names, pool.map(c.search, [request] * 8))

        assert time.monotonic() - started < 0.5
        assert results == [["r1", "r2"]] * 9
        assert "/api/list" not in h1.targets()


def test_a_host_that_fails_is_no_error_where_another_holds_no_match():
    with hosts.serving(node("good")) as h1:
        url = f"http://127.0.0.1:{free_port()}"
        with cluster(url, h1.url) as zoekt:
            result = zoekt.search(CodeRequest(query="r:^other$ needle", seconds=2))

    assert names(result) == []
    assert states(result) == ["down", "ok"]
    assert len(result.partial) == 1


def test_if_no_host_answers_there_is_a_line_for_each():
    url = f"http://127.0.0.1:{free_port()}"
    with (
        hosts.serving(hosts.always(503, "not ready", "text/plain")) as host,
        cluster(url, host.url) as zoekt,
        pytest.raises(BackendFailure) as error,
    ):
        zoekt.search(NEEDLE)

    assert error.value.message.split("\n") == [
        "none of the 2 hosts answered:",
        f"{url.removeprefix('http://')}: it cannot be reached: Connection refused;",
        f"{host.url.removeprefix('http://')}: it is not ready (HTTP 503)",
    ]


@pytest.mark.parametrize(("status", "kind"), [(400, "application/json"), (418, "text/plain")])
def test_an_error_of_the_query_is_the_hosts_own(status, kind):
    text = "error parsing regexp: missing closing ): `a(`"
    body = json.dumps({"Error": text}) if status == 400 else text + "\n"
    with (
        hosts.serving(hosts.always(status, body, kind)) as host,
        cluster(host.url) as zoekt,
        pytest.raises(InvalidQuery) as error,
    ):
        zoekt.search(CodeRequest(query="a("))

    assert error.value.message == text
    assert len(host.requests) == 1


def test_a_query_that_only_some_hosts_understand_is_partial():
    with (
        hosts.serving(node("good")) as h1,
        hosts.serving(hosts.routes(
            search=hosts.response(400, '{"Error":"query: unknown field"}'),
            list=hosts.listed("x"),
        )) as h2,
        cluster(h1.url, h2.url) as zoekt,
    ):  # fmt: skip
        result = zoekt.search(NEEDLE)

        assert (names(result), states(result)) == (["good"], ["ok", "error"])
        assert "query: unknown field" in result.partial[0]


def test_a_server_without_rpc_is_searched_by_its_page():
    fragments = [{"Pre": "é ", "Match": "needle", "Post": "!"}]
    match = {"FileName": "p", "Repo": "r", "Matches": [{"LineNum": 3, "Fragments": fragments}]}
    page = {"result": {"Stats": {"FileCount": 1, "MatchCount": 1}, "FileMatches": [match]}}

    def behave(connection, request):
        if request.method == "GET" and request.target.startswith("/search?"):
            connection.sendall(hosts.response(200, json.dumps(page)))
        else:
            connection.sendall(hosts.response(200, "<html>", "text/html; charset=utf-8"))

    with hosts.serving(behave) as host, cluster(host.url) as zoekt:
        result = zoekt.search(NEEDLE)

        assert result.files[0].lines[0].text == "é needle!".encode()
        assert result.files[0].lines[0].spans == ((3, 9),)
        assert result.hosts[0].detail == "it serves no /api: start zoekt-webserver with -rpc"


def test_no_definition_in_an_index_without_symbols_is_said():
    listing = hosts.listed("a", "b", "c")
    listing["List"]["Repos"][0]["Repository"]["HasSymbols"] = True

    with (
        hosts.serving(hosts.routes(search=hosts.found(), list=listing)) as host,
        cluster(host.url) as zoekt,
    ):
        (reason,) = zoekt.search(CodeRequest(query="f:py sym:needle or -sym:pin")).partial
        assert reason.startswith(f"{host.url[7:]} has no symbols of 2 of 3 repositories")
        assert not zoekt.search(CodeRequest(query="r:a sym:needle")).partial
        assert not zoekt.search(NEEDLE).partial


def test_no_url_shows_the_password_of_the_remote_that_was_indexed():
    template = '{{URLJoinPath "https://me:pw@code.example/a" "blob" .Version .Path}}'
    answer = hosts.found(hosts.file_match("a", "x@y.txt", Version="c0ffee"))
    answer["Result"]["RepoURLs"] = {"a": template}
    listing = hosts.listed("a")
    listing["List"]["Repos"][0]["Repository"]["URL"] = "https://me:pw@code.example/a"

    with (
        hosts.serving(hosts.routes(search=answer, list=listing)) as host,
        cluster(host.url) as zoekt,
    ):
        assert zoekt.search(NEEDLE).files[0].url == "https://code.example/a/blob/c0ffee/x@y.txt"
        assert zoekt.repositories().repositories[0].url == "https://code.example/a"


def test_repositories_of_all_hosts_are_listed_once_by_name():
    with (
        hosts.serving(node("b", "a")) as h1,
        hosts.serving(node("c", "b")) as h2,
        cluster(h1.url, h2.url) as zoekt,
    ):
        result = zoekt.repositories()

        assert [repository.name for repository in result.repositories] == ["a", "b", "c"]
        assert states(result) == ["ok", "ok"]
        listing = zoekt.search(CodeRequest(query="type:repo needle"))
        assert [repository.name for repository in listing.repositories] == ["a", "b", "c"]
        assert h1.requests[-1].query == "type:repo needle"


def test_a_file_is_read_from_a_host_that_holds_its_repository():
    raw = hosts.response(200, b"caf\xe9\n", "text/plain; charset=utf-8")
    missing = hosts.response(418, "ambiguous result: []\n", "text/plain")
    with (
        hosts.serving(node("a", more={"print": missing})) as h1,
        hosts.serving(node("b", more={"print": raw})) as h2,
        cluster(h1.url, h2.url) as zoekt,
    ):
        assert zoekt.read("b", b"dir/x y&z") == b"caf\xe9\n"
        assert "/print" not in "".join(h1.targets())
        assert h2.targets()[-1] == "/print?r=b&f=dir%2Fx+y%26z&format=raw"
        with pytest.raises(InvalidRequest, match="nowhere/x: no such file"):
            zoekt.read("nowhere", b"x")


def test_a_file_is_read_by_a_search_if_the_server_has_no_pages():
    whole = hosts.found(hosts.file_match("r", "p", Content="Y2Fm6Qo="))
    with (
        hosts.serving(hosts.routes(search=whole)) as host,
        cluster(host.url) as zoekt,
    ):
        assert zoekt.read("r", b"p") == b"caf\xe9\n"
        assert json.loads(host.requests[-1].body)["Opts"]["Whole"] is True


def test_a_file_that_the_host_did_not_index_has_no_content():
    raw = hosts.response(200, "NOT-INDEXED: document size exceeds maximum size", "text/plain")
    with (
        hosts.serving(hosts.routes(print=raw)) as host,
        cluster(host.url) as zoekt,
        pytest.raises(InvalidRequest, match="document size exceeds maximum size"),
    ):
        zoekt.read("r", b"big.bin")


def test_a_file_on_a_host_that_fails_could_not_be_read():
    with (
        hosts.serving(hosts.always(500, "boom", "text/plain")) as host,
        cluster(host.url) as zoekt,
        pytest.raises(BackendFailure, match=r"r/p could not be read:\n.*HTTP 500: boom"),
    ):
        zoekt.read("r", b"p")


@pytest.mark.parametrize(
    "request_", [CodeRequest(query="x", max_files=0), CodeRequest(query="x", max_matches=-1),
                 CodeRequest(query="x", context_lines=-1), CodeRequest(query="x", seconds=0),
                 CodeRequest(query="x", seconds=float("nan")),
                 CodeRequest(query="x", seconds=float("inf")),
                 CodeRequest(query="x", max_files=1 << 70)]
)  # fmt: skip
def test_limits_that_a_host_would_read_as_none_are_refused(request_):
    with cluster("http://127.0.0.1:9") as zoekt, pytest.raises(InvalidRequest, match="must be"):
        zoekt.search(request_)


def test_a_text_that_no_host_can_be_sent_is_refused():
    page_only = hosts.always(404, "404 page not found\n", "text/plain")
    with hosts.serving(page_only) as host, cluster(host.url) as zoekt:
        for ask in (zoekt.repositories, lambda query: zoekt.search(CodeRequest(query=query))):
            with pytest.raises(InvalidQuery, match="not valid UTF-8"):
                ask("x\ud800")
        with pytest.raises(InvalidRequest, match="no such file"):
            zoekt.read("x\ud800", b"p")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_one_host_down_one_loading_and_copies_give_one_order(order):
    """The order of the hosts, and which of them answers first, change nothing."""
    copies = [hosts.file_match("r", "p", 7), hosts.file_match("r", "q", 7)]

    def late(answer):
        def answered(_request):
            time.sleep(random.random() / 20)
            return answer

        return answered

    one = hosts.found(*copies, hosts.file_match("one", "f", 7))
    two = hosts.found(hosts.file_match("two", "f", 9), *reversed(copies))
    with (
        hosts.serving(hosts.routes(search=late(one), list=hosts.listed("r", "one"))) as h1,
        hosts.serving(hosts.routes(search=late(two), list=hosts.listed("r", "two"))) as h2,
        hosts.serving(hosts.always(503, "not ready\n", "text/plain")) as h3,
    ):
        down = f"http://127.0.0.1:{free_port()}"
        urls = [(h1.url, h2.url, h3.url)[i] for i in order]
        with cluster(down, *urls) as zoekt:
            result = zoekt.search(NEEDLE)

    assert [(file.repository, file.path) for file in result.files] == [
        ("two", b"f"), ("one", b"f"), ("r", b"p"), ("r", b"q"),
    ]  # fmt: skip
    assert sorted(states(result)) == ["down", "loading", "ok", "ok"]
    assert len(result.partial) == 2
    assert result.file_count == 4


def test_an_empty_query_is_refused():
    with cluster("http://127.0.0.1:9") as zoekt, pytest.raises(InvalidQuery, match="empty"):
        zoekt.search(CodeRequest(query=" "))


def test_a_password_is_in_no_message():
    url = f"http://me:hunter2secret@127.0.0.1:{free_port()}"
    with cluster(url) as zoekt, pytest.raises(BackendFailure) as error:
        zoekt.search(NEEDLE)

    assert "hunter2" not in f"{error.value.message}{error.value.next_step}"


def test_closing_ends_searches_and_leaves_no_thread_and_no_socket():
    threads, files = threading.active_count(), len(os.listdir("/proc/self/fd"))
    with hosts.serving(hosts.hang) as h1, hosts.serving(hosts.hang) as h2:
        zoekt = cluster(h1.url, h2.url)
        errors = []

        def search():
            try:
                zoekt.search(CodeRequest(query="x", seconds=60))
            except Cancelled as error:
                errors.append(error)

        searching = threading.Thread(target=search)
        searching.start()
        until = time.monotonic() + 5
        while len(h1.requests) + len(h2.requests) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        zoekt.close()
        searching.join(5)

        assert len(errors) == 1
    assert threading.active_count() == threads
    assert len(os.listdir("/proc/self/fd")) == files


def test_searches_of_many_threads_get_their_own_answers():
    def search(request):
        time.sleep(random.random() / 50)
        return hosts.found(hosts.file_match("r", request.query))

    with (
        hosts.serving(hosts.routes(search=search, list=hosts.listed("r"))) as h1,
        hosts.serving(node()) as h2,
        cluster(h1.url, h2.url) as zoekt,
    ):
        results: dict[str, bytes] = {}

        def run(word):
            results[word] = zoekt.search(CodeRequest(query=word, seconds=20)).files[0].path

        threads = [threading.Thread(target=run, args=(f"word{i}",)) for i in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert results == {f"word{i}": f"word{i}".encode() for i in range(40)}


def test_any_answer_of_a_host_is_an_answer_or_a_report():
    """Bodies that are nearly right, through sockets, beside a host that is right."""
    randomness = random.Random("cluster")
    body = json.dumps(hosts.found(hosts.file_match("x", "p", 1)))
    answers = []

    def behave(connection, request):
        data = bytearray(body.encode())
        for _ in range(randomness.choice((1, 3, 30))):
            data[randomness.randrange(len(data))] = randomness.randrange(256)
        answers.append(bytes(data))
        connection.sendall(hosts.response(200, bytes(data)))

    with (
        hosts.serving(node("good")) as h1,
        hosts.serving(behave) as h2,
        cluster(h1.url, h2.url) as zoekt,
    ):
        for _ in range(200):
            result = zoekt.search(CodeRequest(query="needle", seconds=5))
            assert "good" in names(result)
            assert (states(result)[1] == "ok") == (result.partial == ())
    assert len(set(answers)) > 100
