"""Who is let in: those who name this server, come from no other page, and know the token."""

from __future__ import annotations

import hmac

import pytest

from tests.ui.opened import OWN, PORT, Opened
from triseek.ui import auth
from triseek.ui.auth import HEADERS, TICKETS_MAX, Keys

QUESTIONS = (
    "about", "status", "search?q=x", "lines?path=other.txt", "sessions", "sessions/a",
    "sessions/a/log", "snapshots", "snapshots/a", "snapshots/diff?a=a&b=b", "unknown",
)  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
def test_nothing_is_told_to_who_knows_no_token(opened: Opened, question: str) -> None:
    refused = opened.client.get(f"/api/{question}")

    assert refused.status_code == 401
    assert opened.root not in refused.text


@pytest.mark.parametrize(
    "said",
    [
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Basic {token}",
        "{token}",
        "Bearer {token}x",
        "Bearer {half}",
    ],
)
def test_a_wrong_token_is_none(opened: Opened, said: str) -> None:
    token = opened.keys.token
    header = said.format(token=token, half=token[: len(token) // 2])

    refused = opened.client.get("/api/about", headers={"Authorization": header})

    assert refused.status_code == 401
    assert token not in refused.text


def test_a_token_in_the_url_or_a_cookie_is_none(opened: Opened) -> None:
    token = opened.keys.token

    assert opened.client.get("/api/about", params={"token": token}).status_code == 401
    assert opened.client.get("/api/about", headers={"Cookie": f"token={token}"}).status_code == 401


def test_two_tokens_in_one_request_are_none(opened: Opened) -> None:
    twice = [("Authorization", f"Bearer {opened.keys.token}")] * 2

    assert opened.client.get("/api/about", headers=twice).status_code == 401


def test_each_run_has_a_token_of_its_own_that_nobody_guesses() -> None:
    tokens = {Keys().token for _ in range(50)}

    assert len(tokens) == 50
    assert all(len(token) >= 43 for token in tokens)


@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1:{PORT}.x", ""],
)
@pytest.mark.parametrize("path", ["/", "/main.js", "/api/about"])
def test_a_request_that_names_another_host_is_refused(opened: Opened, host: str, path: str) -> None:
    refused = opened.client.get(path, headers={**opened.known, "Host": host})

    assert refused.status_code == 421


@pytest.mark.parametrize("host", [f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"])
def test_other_names_of_this_machine_are_its_own(opened: Opened, host: str) -> None:
    assert (
        opened.client.get("/api/about", headers={**opened.known, "Host": host}).status_code == 200
    )


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", f"https://127.0.0.1:{PORT}", ""]
)
def test_a_foreign_page_is_refused_even_with_the_token(opened: Opened, origin: str) -> None:
    refused = opened.client.get("/api/about", headers={**opened.known, "Origin": origin})

    assert refused.status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "else"])
@pytest.mark.parametrize("path", ["/", "/api/about"])
def test_what_the_browser_says_another_page_asks_is_refused(
    opened: Opened, site: str, path: str
) -> None:
    refused = opened.client.get(path, headers={**opened.known, "Sec-Fetch-Site": site})

    assert refused.status_code == 403


@pytest.mark.parametrize(
    "said", [{"Origin": OWN}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}]
)
def test_the_page_itself_is_heard(opened: Opened, said: dict[str, str]) -> None:
    assert opened.client.get("/api/about", headers={**opened.known, **said}).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize("path", ["/", "/main.js", "/api/about", "/api/sessions/a/log"])
def test_reading_is_all_there_is(opened: Opened, method: str, path: str) -> None:
    answer = opened.client.request(method, path, headers=opened.known)

    assert answer.status_code == 405


@pytest.mark.parametrize(
    "path", ["/", "/page.css", "/main.js", "/icon.svg", "/nothing", "/api/about", "/api/nothing"]
)
@pytest.mark.parametrize("is_known", [True, False])
def test_every_answer_carries_the_policy(opened: Opened, path: str, is_known: bool) -> None:
    answer = opened.client.get(path, headers=opened.known if is_known else {})

    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert not [name for name in answer.headers if name.lower().startswith("access-control-")]
    assert "set-cookie" not in answer.headers
    assert "server" not in answer.headers


def test_the_policy_allows_nothing_inline_and_nobody_else() -> None:
    policy = auth.POLICY

    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "*" not in policy
    for name in ("frame-ancestors", "form-action", "base-uri"):
        assert f"{name} 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy


def test_a_ticket_is_good_for_one_entry(opened: Opened) -> None:
    ticket = {"Authorization": f"Ticket {opened.keys.ticket()}"}

    first, second = (opened.client.post("/api/enter", headers=ticket) for _ in range(2))

    assert first.json() == {"token": opened.keys.token}
    assert second.status_code == 401
    assert opened.keys.token not in second.text


@pytest.mark.parametrize("said", ["", "Ticket", "Ticket wrong", "Ticket é", "Bearer {ticket}"])
def test_a_wrong_ticket_opens_nothing_and_leaves_the_right_one(opened: Opened, said: str) -> None:
    ticket = opened.keys.ticket()

    refused = opened.client.post(
        "/api/enter", headers={"Authorization": said.format(ticket=ticket).encode()}
    )

    assert refused.status_code == 401
    assert opened.keys.enter(ticket)


def test_a_ticket_is_no_token_and_the_token_no_ticket(opened: Opened) -> None:
    as_token = {"Authorization": f"Bearer {opened.keys.ticket()}"}
    as_ticket = {"Authorization": f"Ticket {opened.keys.token}"}

    assert opened.client.get("/api/about", headers=as_token).status_code == 401
    assert opened.client.post("/api/enter", headers=as_ticket).status_code == 401


def test_a_foreign_page_cannot_enter(opened: Opened) -> None:
    ticket = opened.keys.ticket()
    foreign = {"Authorization": f"Ticket {ticket}", "Origin": "http://evil.example"}

    assert opened.client.post("/api/enter", headers=foreign).status_code == 403
    assert opened.keys.enter(ticket)


def test_old_tickets_become_void() -> None:
    keys = Keys()
    first = keys.ticket()
    others = [keys.ticket() for _ in range(TICKETS_MAX)]

    assert not keys.enter(first)
    assert all(keys.enter(each) for each in others)


def test_secrets_are_compared_in_constant_time(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[bytes] = []
    compare = hmac.compare_digest

    def watched(one: bytes, other: bytes) -> bool:
        compared.extend((one, other))
        return compare(one, other)

    monkeypatch.setattr(hmac, "compare_digest", watched)
    ticket = opened.keys.ticket()
    opened.client.get("/api/about", headers={"Authorization": "Bearer wrong"})
    opened.client.post("/api/enter", headers={"Authorization": "Ticket wrong"})

    assert {opened.keys.token.encode(), ticket.encode()} <= set(compared)
