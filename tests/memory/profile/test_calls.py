from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from triseek.memory.drawers import Draft
from triseek.memory.limits import TOP_MAX
from triseek.memory.profile.calls import NIL, Calls
from triseek.memory.profile.messages import INTERNAL_ERROR, RpcError
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WRONG = (None, 5, True, 1.5, [], {}, ["a"])
"""What is no text."""


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    memory = Memory(str(tmp_path / "memory"))
    calls = Calls(memory, "shop")
    calls.begin()
    yield calls
    memory.close()


def result(calls: Calls, tool: str, **arguments: object) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text(calls, tool, **arguments))
    return value


def text(calls: Calls, tool: str, **arguments: object) -> str:
    answer = calls.call({"name": tool, "arguments": arguments})
    [block] = answer["content"]
    assert (answer.keys(), block["type"]) == ({"content"}, "text")
    return str(block["text"])


def error(calls: Calls, tool: str, **arguments: object) -> str:
    with pytest.raises(RpcError) as raised:
        result(calls, tool, **arguments)
    assert raised.value.code == INTERNAL_ERROR
    return str(raised.value)


def remember(calls: Calls, content: str, **more: object) -> str:
    return str(result(calls, "memory_remember", text=content, **more)["drawer_id"])


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("memory_remember", "text"), ("memory_recall", "query"), ("memory_recall_deep", "query"),
        ("memory_forget", "drawer_id"), ("palace_create", "name"), ("kg_query", "subject"),
        ("kg_assert", "subject"),
    ],
)  # fmt: skip
def test_a_missing_argument_is_named_and_a_wrong_type_is_missing(
    calls: Calls, tool: str, name: str
) -> None:
    assert error(calls, tool) == f"{tool}: missing '{name}'"
    for value in WRONG:
        assert error(calls, tool, **{name: value}) == f"{tool}: missing '{name}'"


def test_the_first_missing_part_of_a_fact_is_named(calls: Calls) -> None:
    assert error(calls, "kg_assert", subject="s") == "kg_assert: missing 'predicate'"
    assert error(calls, "kg_assert", subject="s", predicate="p") == "kg_assert: missing 'object'"


def test_a_missing_palace_is_named_unless_there_is_a_default(calls: Calls) -> None:
    bare = Calls(calls.memory)
    missing = "missing 'palace' (no --palace default configured)"
    for tool in (
        "memory_remember", "memory_recall", "memory_recall_deep", "memory_list", "memory_forget",
        "palace_info", "kg_assert", "kg_query",
    ):  # fmt: skip
        assert error(bare, tool) == f"{tool}: {missing}"
    for value in WRONG:
        assert error(bare, "memory_list", palace=value) == f"memory_list: {missing}"
        assert result(calls, "memory_list", palace=value)["palace"] == "shop"
    assert "'' is not a palace's name" in error(calls, "memory_list", palace="")
    assert result(bare, "palace_list") == {"palaces": ["shop"]}


def test_a_named_palace_precedes_the_default(calls: Calls) -> None:
    result(calls, "palace_create", name="other")
    remember(calls, "in other", palace="other")
    assert result(calls, "memory_list")["drawers"] == []
    assert len(result(calls, "memory_list", palace="other")["drawers"]) == 1
    assert "there is no palace 'third'" in error(calls, "memory_list", palace="third")


@pytest.mark.parametrize("name", [None, 5, [], {}])
def test_a_call_without_a_tools_name_fails(calls: Calls, name: object) -> None:
    with pytest.raises(RpcError, match="tools/call: missing 'name'"):
        calls.call({"name": name})


def test_an_unknown_tool_is_named(calls: Calls) -> None:
    assert error(calls, "drawer_open") == "unknown tool: drawer_open"
    assert error(calls, "x" * 10_000) == f"unknown tool: {'x' * 200}"


@pytest.mark.parametrize("arguments", [None, [], "x", 5])
def test_arguments_that_are_no_object_are_none(calls: Calls, arguments: object) -> None:
    answer = calls.call({"name": "palace_list", "arguments": arguments})
    assert answer == {"content": [{"type": "text", "text": '{"palaces":["shop"]}'}]}


def test_unknown_arguments_are_ignored(calls: Calls) -> None:
    assert result(calls, "palace_list", importance=7, x=[]) == {"palaces": ["shop"]}


def test_tags_keep_their_order_and_what_is_no_text_is_dropped(calls: Calls) -> None:
    remember(calls, "a b", tags=["z", 5, None, "a", ["n"], {"x": 1}, True, "m"])
    remember(calls, "c d", tags="z")
    tags = [drawer["tags"] for drawer in result(calls, "memory_list")["drawers"]]
    assert tags == [["z", "a", "m"], []]


@pytest.mark.parametrize("top_k", [None, -1, "3", 2.0, 2.5, True, [3], {}])
def test_a_top_k_that_is_no_count_is_ten(calls: Calls, top_k: object) -> None:
    for number in range(12):
        remember(calls, f"needle {number}")
    rows = result(calls, "memory_recall", query="needle", top_k=top_k)["results"]
    assert [row["layer"] for row in rows].count(2) == 10


def test_top_k_bounds_the_ranked_rows(calls: Calls) -> None:
    for number in range(TOP_MAX + 5):
        remember(calls, f"needle {number}")
    for top_k, ranked in ((0, 0), (1, 1), (TOP_MAX, TOP_MAX), (1 << 70, TOP_MAX)):
        rows = result(calls, "memory_recall", query="needle", top_k=top_k)["results"]
        assert [row["layer"] for row in rows].count(2) == ranked


def test_identity_and_essentials_stand_behind_the_ranked_rows(calls: Calls) -> None:
    calls.memory.set_identity("shop", "A shop for tea.")
    calls.memory.remember("shop", Draft(text="Always use tabs.", importance=0.9))
    stored = remember(calls, "The gateway validates tokens.", tags=["auth"])
    for tool, layer in (("memory_recall", 2), ("memory_recall_deep", 3)):
        answer = result(calls, tool, query="gateway tokens", top_k=1)
        assert list(answer) == ["palace", "query", "results"]
        ranked, identity, essential = answer["results"]
        assert ranked == {
            "drawer_id": stored, "content": "The gateway validates tokens.",
            "score": ranked["score"], "layer": layer, "tags": ["auth"], "importance": 0.5,
        }  # fmt: skip
        assert 0 < ranked["score"] <= 1
        assert list(identity.items()) == [
            ("drawer_id", NIL), ("content", "A shop for tea."), ("score", 0.0), ("layer", 0),
            ("tags", []), ("importance", 1.0),
        ]  # fmt: skip
        assert (essential["content"], essential["layer"]) == ("Always use tabs.", 1)
        assert (essential["score"], essential["importance"]) == (0.0, 0.9)


def test_a_query_that_nothing_answers_has_no_ranked_rows(calls: Calls) -> None:
    remember(calls, "The gateway validates tokens.")
    [row] = result(calls, "memory_recall", query="zebra")["results"]
    assert (row["layer"], row["score"]) == (1, 0.0)


def test_a_query_is_repeated_as_it_came_and_bounded(calls: Calls) -> None:
    assert result(calls, "memory_recall", query='é "\n\ud800')["query"] == 'é "\n\ufffd'
    message = error(calls, "memory_recall", query="x" * 10_000_000)
    assert message.startswith("memory_recall: the query has 10,000,000 characters")
    assert len(message) < 200


def test_a_list_is_filtered_and_bounded(calls: Calls) -> None:
    ids = [remember(calls, f"{number} of many", room="Backend") for number in range(55)]
    remember(calls, "elsewhere", room="Frontend", tags=["auth"])

    def listed(**arguments: object) -> list[str]:
        drawers = result(calls, "memory_list", **arguments)["drawers"]
        assert all(
            list(drawer) == ["drawer_id", "content", "importance", "tags", "created_at"]
            for drawer in drawers
        )
        return [drawer["drawer_id"] for drawer in drawers]

    assert listed() == ids[:50]
    for limit in (-1, "5", 2.0, None, True):
        assert listed(limit=limit) == ids[:50]
    assert listed(limit=3) == ids[:3]
    assert listed(limit=0) == []
    assert listed(room="backend", limit=1 << 70) == ids
    assert len(listed(tag="auth")) == 1
    assert listed(tag="auth", room="Backend") == []
    assert len(listed(tag=5, room=["Backend"], limit=100)) == 56


def test_an_unknown_drawer_is_not_deleted(calls: Calls) -> None:
    stored, other = remember(calls, "a fact"), str(uuid.uuid4())
    assert result(calls, "memory_forget", drawer_id=stored)["status"] == "deleted"
    for drawer in (stored, other, NIL):
        answer = result(calls, "memory_forget", drawer_id=drawer)
        assert answer == {"status": "not_found", "drawer_id": drawer, "palace": "shop"}
    assert error(calls, "memory_forget", drawer_id="x").startswith(
        "memory_forget: invalid drawer_id UUID: 'x'"
    )


def test_a_palace_that_exists_is_not_reset(calls: Calls) -> None:
    remember(calls, "a fact")
    before = calls.memory.info("shop")
    assert result(calls, "palace_create", name="shop") == {
        "palace_id": "shop", "status": "exists"
    }  # fmt: skip
    assert calls.memory.info("shop") == before


def test_a_confidence_is_bounded_and_what_is_no_number_is_one(calls: Calls) -> None:
    for confidence, kept in (
        (0.25, 0.25), (7, 1.0), (-1, 0.0), (10**400, 1.0), ("0.5", 1.0), (None, 1.0), (True, 1.0),
    ):  # fmt: skip
        result(calls, "kg_assert", subject="s", predicate="p", object="o", confidence=confidence)
        [triple] = result(calls, "kg_query", subject="s")["triples"]
        assert triple["confidence"] == kept


def test_a_fact_replaces_the_one_before(calls: Calls) -> None:
    fact = {"subject": "s", "predicate": "p"}
    assert text(calls, "kg_assert", **fact, object="1") == '{"status":"asserted"}'
    result(calls, "kg_assert", **fact, object="2", provenance="log")
    answer = result(calls, "kg_query", subject="s")
    [triple] = answer["triples"]
    assert list(answer) == ["subject", "triples"]
    assert list(triple) == [
        "subject", "predicate", "object", "valid_from", "valid_to", "confidence", "provenance",
    ]  # fmt: skip
    assert (triple["object"], triple["valid_to"], triple["provenance"]) == ("2", None, "log")
    assert result(calls, "kg_query", subject="t") == {"subject": "t", "triples": []}


def test_times_out_of_range_do_not_hide_a_fact(calls: Calls) -> None:
    result(calls, "kg_assert", subject="s", predicate="p", object="o")
    times = {-(1 << 62): "0001-01-01T00:00:00", 1 << 62: "9999-12-31T23:59:59"}
    for ms, shown in times.items():
        with calls.memory.database.write() as connection:
            connection.execute("UPDATE triples SET valid_from = ?", (ms,))
        [triple] = result(calls, "kg_query", subject="s")["triples"]
        assert triple["valid_from"].startswith(shown)


def test_a_store_that_fails_is_an_error_of_the_call_and_the_next_one_tries_again(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "memory"
    folder.write_text("a file where the folder should be")
    calls = Calls(Memory(str(folder)), "shop")
    calls.begin()
    assert error(calls, "palace_list").startswith(f"palace_list: cannot create the folder {folder}")
    folder.unlink()
    assert result(calls, "palace_list") == {"palaces": ["shop"]}
