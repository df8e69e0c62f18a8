"""Whatever is posted: sound requests have their answers, and no fault is the server's own."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING, Any

import pytest

from tests.mcp.fuzzing import TREE, Fuzzer
from tests.mcp.speaking import PATIENCE_S, SERVE, request
from tests.mcp.test_fuzz import is_fit
from tests.mcp.test_http import Reply, Served, serving

if TYPE_CHECKING:
    from collections.abc import Mapping


@pytest.mark.parametrize(
    ("seed", "count"), [(0, 150), pytest.param(1, 2_000, marks=pytest.mark.slow)]
)
def test_posted(repo: Any, seed: int, count: int) -> None:
    fuzzer = Fuzzer(seed)
    with serving(*SERVE, repo(TREE)) as served:
        session = served.session()
        for _ in range(count):
            for line in fuzzer.sound():
                answer = served.request(line.data, session)
                assert is_fit(line.expected, answer.message), (line.data, answer)
            for line in (*fuzzer.mutated(), *fuzzer.malformed(), *fuzzer.nested()):
                assert_bearable(served.request(line.data, session))
        assert served.request(request("end", "ping"), session).message["result"] == {}
        assert_heads_are_borne(served)


def assert_bearable(answer: Reply) -> None:
    """It is the client's mistake or nobody's; what is told is a message."""
    assert answer.status < 500, answer
    if answer.body and answer.status != 413:
        assert answer.message["jsonrpc"] == "2.0"


def assert_heads_are_borne(served: Served) -> None:
    """Requests whose heads are odd, each followed by a sound one."""
    odd: list[Mapping[str, str | None]] = [
        {"Mcp-Session-Id": "nobody"},
        {"Mcp-Session-Id": "x" * 10_000},
        {"MCP-Protocol-Version": "1999-01-01"},
        {"MCP-Protocol-Version": "2026-07-28"},
        {"Content-Type": "text/plain"},
        {"Content-Type": None},
        {"Accept": "text/html"},
        {"Accept": None},
        {"Last-Event-ID": "\x7f"},
    ]
    for headers in odd:
        refused = served.request(request(1, "ping"), headers)
        assert 400 <= refused.status < 500, (headers, refused)
    for method in ("PUT", "GET", "DELETE", "OPTIONS", "BREW"):
        assert served.request(method=method).status in (400, 404, 405, 406), method
    line = http.client.HTTPConnection(served.host, served.port, timeout=PATIENCE_S)
    line.request(
        "POST", "/mcp", b"x", {"Authorization": f"Bearer {served.token}", "X": "y" * 70_000}
    )
    assert line.getresponse().status in (400, 431)
    line.close()
    assert served.session()
