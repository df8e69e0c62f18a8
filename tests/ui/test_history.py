"""The history over the page's API: behind its token, hostile text as JSON, errors in a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.history.rows import NOON, Rows
from triseek.history.browsing import activity
from triseek.history.service import History

if TYPE_CHECKING:
    from tests.ui.opened import Opened

MARKUP = '<script>alert(1)</script><img src=x onerror="alert(2)">'


@pytest.fixture
def talk() -> int:
    """The number of a conversation whose texts are markup."""
    history = History()
    rows = Rows(history.database)
    number = rows.session(MARKUP, project=MARKUP, title=MARKUP, cwd=MARKUP, branch=MARKUP)
    rows.prompt(number, MARKUP, NOON)
    rows.observation(number, MARKUP, NOON, narrative=MARKUP)
    history.recall.update()
    history.close()
    return number


def test_nothing_is_told_without_the_token(opened: Opened, talk: int) -> None:
    for path in ("history", "history/overview", f"history/{talk}"):
        assert opened.client.get(f"/api/{path}").status_code == 401
        answer = opened.client.get(
            f"/api/{path}", headers={**opened.known, "Sec-Fetch-Site": "cross-site"}
        )
        assert answer.status_code == 403
        answer = opened.client.get(f"/api/{path}", headers={**opened.known, "Host": "evil.example"})
        assert answer.status_code >= 400
        assert MARKUP not in answer.text


def test_hostile_text_is_json_and_no_page(opened: Opened, talk: int) -> None:
    for path in ("history", "history?q=script&kind=message", "history/overview", f"history/{talk}"):
        answer = opened.ask(path)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "trusted-types 'none'" in answer.headers["content-security-policy"]


def test_the_timeline_the_search_and_the_conversation(opened: Opened, talk: int) -> None:
    (item,) = opened.told("history")["items"]
    assert item["conversation"]["id"] == talk
    assert item["conversation"]["title"] == MARKUP
    for kind in ("session", "message", "observation"):
        reply = opened.told("history", q="script", kind=kind)
        assert [each["conversation"]["id"] for each in reply["items"]] == [talk]
    reply = opened.told(
        f"history/{talk}", at=opened.told("history", q="script")["items"][0]["message"]
    )
    assert [entry["text"] for entry in reply["entries"]] == [MARKUP]


def test_the_overview_offers_agents_projects_and_the_year(opened: Opened, talk: int) -> None:
    reply = opened.told("history/overview")
    assert reply["agents"] == [["claude-code", 1]]
    assert reply["projects"] == [[MARKUP, 1]]
    assert len(reply["heat_map"]["weeks"]) == 53
    assert reply["heat_map"]["weeks"][-1][-1][0] == activity.today().isoformat()


@pytest.mark.parametrize(
    ("path", "options"),
    [
        ("history", {"kind": "all"}),
        ("history", {"day": "<b>"}),
        ("history", {"offset": "-1"}),
        ("history", {"offset": "999999999999"}),
        ("history", {"limit": "x"}),
        ("history", {"q": "x" * 9_000}),
        ("history/999", {}),
        ("history/x", {}),
        ("history/1", {"at": "1.5"}),
        ("history/1", {"limit": "100000"}),
    ],
)
def test_bad_input_gets_one_line(
    opened: Opened, talk: int, path: str, options: dict[str, Any]
) -> None:
    assert "\n" not in opened.refused(path, **options)["message"]


def test_without_a_history_none_is_made(opened: Opened) -> None:
    assert opened.told("history")["is_kept"] is False
    assert opened.told("history/overview")["is_kept"] is False
    opened.refused("history/1")
    assert not History().exists()
