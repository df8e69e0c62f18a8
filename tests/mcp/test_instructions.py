"""What an agent is told of the server: short, the rule first."""

from __future__ import annotations

import pytest

from triseek.app.registry import TOOLS
from triseek.app.wings import TOOLSETS
from triseek.mcp.instructions import ABOUT, INSTRUCTIONS, INSTRUCTIONS_MAX, instructions

RULE = 300


def test_no_client_cuts_the_instructions():
    assert len(instructions(TOOLSETS)) < INSTRUCTIONS_MAX


@pytest.mark.parametrize(("toolset", "tool"), [("memory", "memory_recall"), ("history", "find_by")])
def test_a_toolset_that_is_off_is_not_mentioned(toolset, tool):
    assert tool in ABOUT[toolset]
    assert instructions(["default", toolset]) == INSTRUCTIONS + ABOUT[toolset]
    assert instructions(["default"]) == INSTRUCTIONS


@pytest.mark.parametrize("word", ["grep", "rg", "find", "search_content", "find_files", "instead"])
def test_the_rule_comes_before_anything_else(word):
    assert word in INSTRUCTIONS[:RULE]


@pytest.mark.parametrize(
    "word", ["context_pack", "results_omitted", "force_refresh", "next_offset", "search_path_and_"]
)
def test_what_the_contract_asks_for_is_said(word):
    assert word in INSTRUCTIONS


def test_every_tool_that_is_named_is_there():
    known = {verb.name for verb in TOOLS} | {"context_pack"}
    named = {word.strip(":;,.`") for word in instructions(TOOLSETS).split()}

    prefixes = ("search_", "find_", "index_", "memory_", "kg_")
    assert {word for word in named if word.startswith(prefixes)} <= known
