"""The declarations of the search tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_type_hints

import pytest

from triseek.search.tools import TOOLS
from triseek.search.wing import WING

if TYPE_CHECKING:
    from triseek.model.tool import Tool

each_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


@each_tool
def test_fields_that_clients_are_told_of_are_fields_of_an_answer(tool: Tool) -> None:
    fields = {name for result in tool.results for name in get_type_hints(result)}

    assert {path.partition(".")[0] for path in tool.listed.split()} <= fields
    assert "version" in fields


def test_the_wing_declares_all_tools_under_its_name() -> None:
    assert WING.tools == TOOLS
    assert {tool.toolset for tool in TOOLS} == {WING.toolset}
    assert len({tool.name for tool in TOOLS}) == len(TOOLS)


def test_only_reindex_writes() -> None:
    assert [tool.name for tool in TOOLS if not tool.read_only] == ["reindex"]
