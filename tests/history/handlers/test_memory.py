"""Writes, records by their ids, and the search of what was said."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.history.rows import NOON

SECRET = "AKIA" + "ABCDEFGHIJKLMNOP"


def test_what_is_remembered_is_found_shown_and_pinned(history):
    kept = history.ask(
        "remember", text="Use UTC everywhere.\nLocal times broke twice.", type="decision",
        concepts=["gotcha"], files=["src/time.py"], pin=True,
    )  # fmt: skip

    assert kept["title"] == "Use UTC everywhere."
    assert history.ids("search_observations", query="broke twice") == [kept["id"]]
    assert history.ids("find_by_file", filePath="time.py") == [kept["id"]]
    assert history.ids("find_by_concept", concept="gotcha", project="shop") == [kept["id"]]
    [record] = history.ask("get_observations", ids=[kept["id"]])["observations"]
    assert record["session"] == "manual-shop"
    assert record["pinned"] is True


def test_the_same_text_is_remembered_once(history):
    first = history.ask("remember", text="a fact")
    again = history.ask("remember", text="a fact", pin=True)

    assert (first["action"], again["action"]) == ("remembered", "known")
    assert first["id"] == again["id"]
    assert history.ask("get_observations", ids=[first["id"]])["observations"][0]["pinned"] is True


def test_secrets_and_private_passages_are_not_written(history, tmp_path):
    history.ask(
        "remember", text=f"key {SECRET} <private>hush-word</private>", title=f"of {SECRET}",
        concepts=[SECRET], files=[f"/x/{SECRET}"], project=f"of {SECRET}",
    )  # fmt: skip
    history.database.close()

    for file in (tmp_path / "state").iterdir():
        assert SECRET.encode() not in file.read_bytes()
        assert b"hush-word" not in file.read_bytes()


def test_what_is_superseded_is_hidden_and_its_fields_are_taken_over(history):
    old = history.ask("remember", text="port 80", concepts=["gotcha"], files=["a.py"], pin=True)
    new = history.ask("supersede", id=old["id"], text="port 81")

    assert new["replaced"] == old["id"]
    assert history.ids("find_by_concept", concept="gotcha") == [new["id"]]
    [record] = history.ask("get_observations", ids=[new["id"]])["observations"]
    assert (record["files"], record["pinned"]) == (["a.py"], True)
    assert f"superseded by #{new['id']}" in history.error("supersede", id=old["id"], text="x")
    assert "not found" in history.error("supersede", id=999, text="x")
    assert "says that already" in history.error("supersede", id=new["id"], text="port 81")
    assert history.ids("search_observations", query="port") == [new["id"]]


def test_what_supersedes_has_the_title_of_its_own_text(history):
    old = history.ask("remember", text="port 80", title="The port")

    new = history.ask("supersede", id=old["id"], text="It listens on 81.\nSince May.")

    assert new["title"] == "It listens on 81."
    assert history.ask("supersede", id=new["id"], text="on 82", title="Ours")["title"] == "Ours"


def test_pins_are_set_and_taken_away(history):
    kept = history.ask("remember", text="a fact")

    assert history.ask("pin", id=kept["id"])["action"] == "pinned"
    assert history.ask("pin", id=kept["id"], on=False)["action"] == "unpinned"
    assert history.ask("get_observations", ids=[kept["id"]])["observations"][0]["pinned"] is False
    assert "Observation #999 not found" in history.error("pin", id=999)


@pytest.mark.parametrize(
    ("tool", "raw", "name"),
    [
        ("remember", {"text": " "}, "text"),
        ("remember", {"text": "<private>x</private>"}, "text is private"),
        ("remember", {}, "text"),
        ("remember", {"text": "x", "type": "bogus"}, "type"),
        ("remember", {"text": "x", "ttl_days": -1}, "ttl_days"),
        ("supersede", {"id": "x", "text": "y"}, "id"),
        ("supersede", {"id": 10**30, "text": "y"}, "id"),
        ("pin", {}, "id"),
        ("get_observations", {"ids": []}, "ids"),
        ("get_observations", {"ids": list(range(101))}, "ids"),
        ("memory_search", {"query": "x", "by": "y"}, "by"),
        ("memory_search", {"query": "x", "limit": 101}, "limit"),
        ("memory_search", {}, "query"),
    ],
)
def test_bad_arguments_are_named(history, tool, raw, name):
    assert name in history.error(tool, **raw)


def test_records_are_shown_by_ids_and_addresses(history):
    session = history.rows.session("abc")
    one = history.rows.observation(session, "one", narrative="whole text")
    summary = history.rows.summary(session, "Fix it", learned="much")
    prompt = history.rows.prompt(session, "please")
    bare = history.rows.session("bare")
    ids = [
        one, f"claude-mem://observation/{one}", "claude-mem://session/abc",
        f"claude-mem://session/{session}", f"S{summary}", f"claude-mem://user-prompt/{prompt}",
        "claude-mem://session/bare", 999, "claude-mem://session/none",
    ]  # fmt: skip

    answer = history.ask("get_observations", ids=ids)

    assert [record["id"] for record in answer["observations"]] == [one, one]
    assert [record["id"] for record in answer["sessions"]] == ["abc", "abc", "abc", "bare"]
    assert [record["id"] for record in answer["prompts"]] == [prompt]
    assert answer["missing"] == ["999", "claude-mem://session/none"]
    assert history.ask("get_observations", ids=one)["observations"][0]["id"] == one
    assert bare


class Recall:
    """Finds what a test says it does: the engine has its own tests."""

    def __init__(self, hits):
        self.hits = hits
        self.asked = {}

    def search(self, query, **asked):
        self.asked = {"query": query, **asked}
        return SimpleNamespace(hits=self.hits, total=7)


def test_what_was_said_is_found_through_the_recall_engine(history):
    session = history.rows.session("abc", title="Login work")
    other = history.rows.session("other", project="other")
    message = history.rows.said(session, "we chose sqlite " + "x " * 500)
    hit = {"session_id": session, "message_id": message, "score": 0.5, "span": (9, 15)}
    gone = {**hit, "message_id": 999}
    recall = history.service.recall = Recall(
        [SimpleNamespace(**hit, copies=2), SimpleNamespace(**gone, copies=0)]
    )

    answer = history.ask(
        "memory_search", query="sqlite", by="message", project="shop", limit=5, offset=1,
        dateRange={"start": NOON},
    )  # fmt: skip

    assert recall.asked == {
        "query": "sqlite", "by": "message", "limit": 5, "offset": 1,
        "sessions": frozenset([session]), "since_ms": NOON,
    }  # fmt: skip
    [record] = answer["results"]
    assert (record["session"], record["role"]) == ("abc", "assistant")
    assert record["copies"] == 2
    assert record["excerpt"].startswith("we chose sqlite")
    assert len(record["excerpt"]) <= 302
    assert answer["next_offset"] == 3
    assert "1. Login work\n" in history.text("memory_search", query="sqlite", by="session")
    assert other


def test_observations_are_the_default_of_the_alias(history):
    one = history.rows.observation(history.rows.session(), "auth")

    assert history.ids("memory_search", query="auth") == [one]
    assert history.text("memory_search", query="auth").startswith(
        'Found 1 observation(s) matching "auth":'
    )
