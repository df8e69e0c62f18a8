"""Calls of host functions: what is checked before one is run, and what is recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from triseek.workflows.box.functions import Caller, CallRejected, depth, describe


def search(query: str, limit: int = 10) -> list[Any]:
    """Search for something."""
    return [query, limit]


def test_descriptions() -> None:
    assert describe({"search": search}) == [
        {"name": "search", "doc": "Search for something.", "parameters": ["query", "limit"],
         "required": ["query"]}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("nope", {}, "there is no host function 'nope'"),
        ("__class__", {}, "there is no host function"),
        (None, {}, "there is no host function"),
        (["search"], {}, "there is no host function"),
        ("search", [], "must be an object"),
        ("search", {"query": json.loads("[" * 40 + "]" * 40)}, "nested 32 at most"),
        ("search", {"quary": "x"}, "no argument 'quary'"),
        ("search", {}, "search failed: TypeError"),
    ],
)
def test_calls_that_are_rejected(name: object, arguments: object, message: str) -> None:
    with pytest.raises(CallRejected, match=message):
        Caller({"search": search}).call(name, arguments)


def test_calls_are_recorded_and_bounded() -> None:
    caller = Caller({"search": search})
    assert caller.call("search", {"query": "x" * 1000}) == ["x" * 1000, 10]
    (record,) = caller.records
    assert record.startswith("search(query='xxx")
    assert len(record) < 250
    for _ in range(2000):
        caller.call("search", {"query": ""})
    assert len(caller.records) == 1000


def test_replies_are_json_whatever_happens() -> None:
    caller = Caller(
        {"nan": lambda: float("nan"), "large": lambda: "x" * (17 << 20), "search": search}
    )
    assert "no JSON" in json.loads(caller.reply(1, "nan", {}))["error"]
    assert "longer than" in json.loads(caller.reply(1, "large", {}))["error"]
    assert json.loads(caller.reply(7, "search", {"query": "é"})) == {"id": 7, "result": ["é", 10]}


def test_arguments_are_bound_by_name() -> None:
    caller = Caller({"search": search})
    assert caller.bind("search", ("a",), {"limit": 2}) == {"query": "a", "limit": 2}
    with pytest.raises(CallRejected, match="takes 2 arguments, not 3"):
        caller.bind("search", (1, 2, 3), {})
    with pytest.raises(CallRejected, match="two values for argument 'query'"):
        caller.bind("search", ("a",), {"query": "b"})


def test_depth() -> None:
    assert [depth(value, 32) for value in (1, [], [1], [[]], {"a": [{}]})] == [0, 1, 1, 2, 3]
    assert depth(json.loads("[" * 500 + "]" * 500), 32) == 33
