"""Drawers through the tools: written, recalled, listed, changed, forgotten, brought back."""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.memory.handlers.conftest import Tools
    from triseek.memory.service import Memory

GATEWAY = "The API gateway validates JWT tokens using RS256."
SECRET = "AKIA" + "IOSFODNN7EXAMPLE"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_what_is_remembered_is_recalled(tools: Tools) -> None:
    stored = tools.ask(
        "memory_remember", text=GATEWAY, room="backend", tags=["auth", "jwt"], importance=0.8
    )
    answer = tools.ask("memory_recall", query="How does token validation of JWT tokens work?")

    assert stored == {"drawer_id": stored["drawer_id"], "palace": "shop", "status": "stored"}
    assert uuid.UUID(stored["drawer_id"])
    [result] = answer["results"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z", result.pop("created_at"))
    assert 0 < result.pop("score") <= 1
    assert result == {
        "drawer_id": stored["drawer_id"], "content": GATEWAY, "layer": 2, "importance": 0.8,
        "tags": ["auth", "jwt"], "room": "Backend",
    }  # fmt: skip
    assert (answer["palace"], answer["query"][:8]) == ("shop", "How does")


def test_a_deep_recall_is_of_layer_three(tools: Tools) -> None:
    tools.remember(GATEWAY)

    [result] = tools.ask("memory_recall_deep", query="gateway")["results"]

    assert result["layer"] == 3


def test_identity_and_essentials_stand_beside_the_results(tools: Tools, memory: Memory) -> None:
    tools.remember(GATEWAY)
    important = tools.remember("Deploy on Tuesdays only. " + "x" * 500, importance=1.0)
    memory.set_identity("shop", "A web shop.")

    answer = tools.ask("memory_recall", query="gateway")
    text = tools.text("memory_recall", query="gateway")

    assert [result["content"] for result in answer["results"]] == [GATEWAY]
    [essential] = answer["context"]["essentials"]
    assert answer["context"]["identity"] == "A web shop."
    assert (essential["drawer_id"], len(essential["content"])) == (important, 300)
    assert "Always: A web shop." in text
    assert f"Important [{important}]: Deploy on Tuesdays" in text


def test_filters_hold_together(tools: Tools) -> None:
    tools.remember("token of the front", room="Frontend", tags=["a", "b"])
    tools.remember("token of the back", room="Backend", tags=["a"])

    assert len(tools.recalled("token")) == 2
    assert tools.recalled("token", room="BACKEND") == ["token of the back"]
    assert tools.recalled("token", tag="b") == ["token of the front"]
    assert tools.recalled("token", room="Backend", tag="b") == []
    assert tools.recalled("token", top_k=1) == tools.recalled("token")[:1]
    assert len(tools.recalled("token", since="2001-01-01")) == 2
    assert tools.recalled("token", since="2901-01-01") == []
    assert tools.recalled("token", since=32_503_680_000_000) == []
    assert "Leave out room" in tools.text("memory_recall", query="token", room="Research")
    assert "memory_recall_deep" in tools.text("memory_recall", query="elsewhere")


@pytest.mark.parametrize("tool", ["memory_recall", "memory_recall_deep"])
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("top_k", 0, "top_k: 0 is not from 1 to 100"),
        ("top_k", 101, "top_k: 101 is not from 1 to 100"),
        ("top_k", "many", "top_k"),
        ("top_k", 10**30, "top_k"),
        ("since", "soon", "since: invalid timestamp: soon"),
        ("since", [1], "since"),
        ("room", "x" * 201, "the room has 201 characters"),
        ("query", "  ", "the query is empty"),
        ("query", 7, "query"),
        ("query", "x" * 70_000, "query has 70,000 characters"),
        ("palace", "../x", "'../x' is not a palace's name"),
        ("palace", "elsewhere", "there is no palace 'elsewhere'"),
        ("layer", 2, "no argument 'layer'"),
    ],
)
def test_a_value_that_is_none_is_refused_by_name(
    tools: Tools, tool: str, name: str, value: object, message: str
) -> None:
    tools.remember(GATEWAY)

    assert message in tools.error(tool, **{"query": "gateway", name: value})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("importance", 1.5, "importance: 1.5 is not from 0 to 1"),
        ("importance", -1, "importance: -1 is not from 0 to 1"),
        ("importance", "nan", "importance"),
        ("importance", "high", "importance"),
        ("text", " \n", "the text is empty"),
        ("text", "x" * 70_000, "text has 70,000 characters"),
        ("tags", ["x"] * 2000, "tags has 2,000 items"),
        ("tags", [str(number) for number in range(51)], "at most 50 tags"),
        ("tags", [["x"]], "tags"),
        ("room", "a\x00b", "has control characters"),
        ("source", "a\nb", "has control characters"),
        ("palace", "", ""),
    ],
)
def test_a_drawer_that_cannot_be_kept_is_refused_and_makes_no_palace(
    tools: Tools, memory: Memory, name: str, value: object, message: str
) -> None:
    answer = tools.ask("memory_remember", **{"text": GATEWAY, name: value})

    assert ("error" in answer) is (name != "palace")
    assert message in answer.get("error", {}).get("message", "")
    if name not in ("palace", "tags", "room", "source"):
        assert not memory.exists()


def test_secrets_are_not_kept(tools: Tools, tmp_path: Path) -> None:
    tools.remember(f"The key is {SECRET}, and the token {TOKEN}.", tags=[TOKEN], source=TOKEN)
    tools.ask("kg_assert", subject="ci", predicate="uses", object=TOKEN, provenance=TOKEN)
    shown = tools.text("memory_recall", query="key token") + tools.text("kg_query", subject="ci")

    assert "The key is" in shown
    assert not [secret for secret in (SECRET, TOKEN) if secret in shown]
    for file in (tmp_path / "memory").iterdir():
        assert not [secret for secret in (SECRET, TOKEN) if secret.encode() in file.read_bytes()]


def test_a_project_without_a_palace_has_nothing_and_is_told_how_to_begin(
    tools: Tools, memory: Memory
) -> None:
    some = str(uuid.uuid4())

    assert tools.ask("memory_recall", query="x")["results"] == []
    assert tools.ask("memory_list")["drawers"] == []
    assert tools.ask("kg_query", subject="x")["triples"] == []
    assert tools.ask("palace_info")["drawer_count"] == 0
    assert tools.ask("palace_list") == {"palaces": []}
    assert tools.ask("memory_forget", drawer_id=some)["status"] == "not_found"
    assert tools.ask("memory_restore", drawer_id=some)["status"] == "not_found"
    assert tools.ask("kg_retract", subject="x", predicate="y")["status"] == "not_found"
    assert "no palace yet" in tools.error("memory_update", drawer_id=some, text="x")
    for tool, raw in (("memory_recall", {"query": "x"}), ("memory_list", {}), ("palace_info", {})):
        assert "memory_remember" in tools.text(tool, **raw)
        assert "memory_remember" in tools.ask(tool, **raw)["hint"]
    assert not memory.exists()


def test_drawers_are_listed_in_pages_most_important_first(tools: Tools) -> None:
    for number in range(5):
        tools.remember(f"fact {number}", importance=number / 10)

    first = tools.ask("memory_list", limit=2)
    last = tools.ask("memory_list", limit=2, offset=4)

    assert [drawer["content"] for drawer in first["drawers"]] == ["fact 4", "fact 3"]
    assert first["next_offset"] == 2
    assert [drawer["content"] for drawer in last["drawers"]] == ["fact 0"]
    assert "next_offset" not in last
    assert list(first["drawers"][0])[:5] == [
        "drawer_id", "content", "importance", "tags", "created_at"
    ]  # fmt: skip
    assert tools.ask("memory_list", since="2901-01-01")["drawers"] == []
    assert "limit: 501 is not from 1 to 500" in tools.error("memory_list", limit=501)
    assert "offset: -1 is not from 0" in tools.error("memory_list", offset=-1)
    assert "There are more: offset 2." in tools.text("memory_list", limit=2)


def test_a_drawer_is_forgotten_and_brought_back(tools: Tools) -> None:
    drawer = tools.remember(GATEWAY)
    text = tools.text("memory_recall", query="gateway")
    [shown] = re.findall(r"\[([0-9a-f-]{36})\]", text)

    forgotten = tools.ask("memory_forget", drawer_id=shown.upper())
    again = tools.ask("memory_forget", id=drawer)
    without = tools.recalled("gateway")
    back = tools.ask("memory_restore", drawer_id=drawer)

    assert forgotten == {"status": "deleted", "drawer_id": drawer, "palace": "shop"}
    assert again["status"] == "not_found"
    assert without == []
    assert back["status"] == "restored"
    assert tools.recalled("gateway") == [GATEWAY]
    assert "30 days" in tools.text("memory_forget", drawer_id=drawer)


def test_a_drawer_that_is_purged_cannot_be_brought_back(tools: Tools) -> None:
    drawer = tools.remember(GATEWAY)

    assert tools.ask("memory_forget", drawer_id=drawer, purge=True)["status"] == "purged"
    assert tools.ask("memory_restore", drawer_id=drawer)["status"] == "not_found"


def test_a_drawer_of_another_palace_is_not_touched(tools: Tools) -> None:
    tools.ask("palace_create", name="other")
    drawer = tools.remember(GATEWAY, palace="other")
    tools.remember("something here")

    assert tools.ask("memory_forget", drawer_id=drawer)["status"] == "not_found"
    assert "no drawer" in tools.error("memory_update", drawer_id=drawer, text="x")
    assert tools.recalled("gateway", palace="other") == [GATEWAY]


@pytest.mark.parametrize("tool", ["memory_forget", "memory_restore", "memory_update"])
def test_an_id_that_is_none_is_refused(tools: Tools, tool: str) -> None:
    tools.remember(GATEWAY)
    more = {"text": "x"} if tool == "memory_update" else {}

    assert "invalid drawer_id UUID: 'x'" in tools.error(tool, drawer_id="x", **more)
    assert "drawer_id" in tools.error(tool, **more)


def test_a_text_is_replaced(tools: Tools) -> None:
    drawer = tools.remember(GATEWAY)

    answer = tools.ask("memory_update", drawer_id=drawer, text="The gateway uses EdDSA.")

    assert answer == {"drawer_id": drawer, "palace": "shop", "status": "updated"}
    assert tools.recalled("gateway") == ["The gateway uses EdDSA."]
    assert tools.recalled("RS256") == []


def test_a_long_answer_shares_the_room_among_its_drawers(tools: Tools) -> None:
    for number in range(40):
        tools.remember(f"number {number} " + "long text\n" * 900)

    text = tools.text("memory_recall", query="number", top_k=40)
    single = tools.text("memory_recall", query="number", top_k=1)

    assert len(text) < 25_000
    assert text.count("more characters") == 40
    assert "more characters" not in single
    assert all(line.startswith(("  ", "[", "40 drawer")) for line in text.splitlines())
