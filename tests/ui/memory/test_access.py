"""Who may use the memory by HTTP: who names the server, comes from no page, and has the token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.ui.memory.conftest import OWN, PORT, TOKEN
from triseek.ui.auth import HEADERS
from triseek.ui.memory.routes import OPERATIONS

if TYPE_CHECKING:
    from tests.ui.memory.conftest import Client
    from tests.ui.opened import Opened
    from triseek.memory.service import Memory

REQUESTS = [
    ("GET", "/health"), ("GET", "/sse"),
    *(
        (method, "/api/v1" + path.format(palace="mine", drawer_id="x"))
        for path, by_method in OPERATIONS.items() for method in by_method
    ),
]  # fmt: skip
BODY = {"name": "x", "content": "x", "subject": "s", "predicate": "p", "object": "o"}


@pytest.mark.parametrize(("method", "path"), REQUESTS)
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Host": f"evil.example:{PORT}"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": f"https://127.0.0.1:{PORT}"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
    ],
    ids=str,
)
def test_a_request_is_refused_before_anything_is_done(
    client: Client, memory: Memory, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer = client.ask(method, path, headers=headers, json=None if method == "GET" else BODY)
    assert answer.status_code == status
    if method != "HEAD":
        assert list(answer.json()) == ["error"]
    assert TOKEN not in answer.text
    assert not memory.exists()


@pytest.mark.parametrize("path", ["/api/v1/palaces", "/api/v1/palaces/mine", "/sse", "/health"])
def test_a_preflight_allows_nothing(client: Client, path: str) -> None:
    for known in ({}, {"Authorization": f"Bearer {TOKEN}"}):
        for origin in ("http://evil.example", OWN):
            asked = {"Origin": origin, "Access-Control-Request-Method": "DELETE", **known}
            answer = client.raw.options(path, headers=asked)
            assert answer.status_code in (401, 403, 405)
            allowed = [name for name in answer.headers if name.startswith("access-control-")]
            assert allowed == []


def test_a_token_in_the_url_or_a_cookie_is_none(client: Client) -> None:
    path = "/api/v1/palaces"
    for more in ({"params": {"token": TOKEN}}, {"headers": {"Cookie": f"token={TOKEN}"}}):
        assert client.raw.get(path, **more).status_code == 401
    twice = [("Authorization", f"Bearer {TOKEN}")] * 2
    assert client.raw.get(path, headers=twice).status_code == 401


def test_answers_carry_the_policy_and_no_permission(client: Client) -> None:
    for path in ("/health", "/api/v1/palaces", "/api/v1/nothing", "/nothing"):
        answer = client.ask("GET", path, headers={"Origin": OWN})
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("path", ["/", "/main.js", "/api/about", "/api/enter", "/api/history"])
def test_the_companion_serves_the_memory_and_nothing_else(client: Client, path: str) -> None:
    assert client.ask("GET", path).status_code in (401, 404)
    assert client.raw.get(path).status_code == 401


def test_the_page_serves_the_same_routes_with_its_own_token(opened: Opened) -> None:
    assert opened.client.get("/api/v1/palaces").json() == {
        "error": "The token of this run is needed"
    }
    foreign = {**opened.known, "Origin": "http://evil.example"}
    made = opened.client.post("/api/v1/palaces", json={"name": "mine"}, headers=foreign)
    assert made.status_code == 403
    made = opened.client.post("/api/v1/palaces", json={"name": "mine"}, headers=opened.known)
    assert made.status_code == 201
    assert [each["id"] for each in opened.told("v1/palaces")["palaces"]] == ["mine"]
    assert opened.client.get("/health").status_code == 401
    assert opened.client.get("/health", headers=opened.known).json()["status"] == "ok"
