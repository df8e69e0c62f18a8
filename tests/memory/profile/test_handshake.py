from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from triseek import __version__
from triseek.memory.profile.calls import _TOOLS
from triseek.memory.profile.handshake import answer
from triseek.memory.profile.messages import METHOD_NOT_FOUND, Message, RpcError, result_line

GOLDEN = Path(__file__).parents[2] / "golden" / "memory"
"""Bytes of the contract. They are not written anew when the code changes."""


def result(method: object, palace: str = "", **params: Any) -> dict[str, Any]:
    return answer(Message(method, params, 1, has_id=True), palace)


def test_the_list_of_tools_has_the_contracts_bytes() -> None:
    for palace, name in (("", "tools_list.json"), ("shop", "tools_list_with_palace.json")):
        assert result_line(2, result("tools/list", palace)) == (GOLDEN / name).read_bytes()


def test_the_tools_of_the_list_are_those_that_can_be_called() -> None:
    assert [tool["name"] for tool in result("tools/list")["tools"]] == list(_TOOLS)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", "", None, 7])
def test_the_protocol_is_the_contracts_whatever_the_client_asks_for(version: object) -> None:
    assert result("initialize", protocolVersion=version) == {
        "protocolVersion": "2024-11-05",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "trusty-memory", "version": __version__},
    }


def test_the_default_palace_is_named() -> None:
    assert result("initialize", "shop")["serverInfo"]["default_palace"] == "shop"


@pytest.mark.parametrize(
    ("method", "name"),
    [("foo", "foo"), (None, "null"), (5, "5"), (["a"], '["a"]'), ("x" * 999, "x" * 200)],
)
def test_an_unknown_method_is_named(method: object, name: str) -> None:
    with pytest.raises(RpcError) as raised:
        result(method)
    assert raised.value.code == METHOD_NOT_FOUND
    assert str(raised.value) == f"Method not found: {name}"
