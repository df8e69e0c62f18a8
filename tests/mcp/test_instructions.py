"""What an agent is told of the server: short, the rule first."""

from __future__ import annotations

import pytest

from triseek.app.registry import TOOLS
from triseek.mcp.instructions import INSTRUCTIONS, INSTRUCTIONS_MAX

RULE = 300


def test_no_client_cuts_the_instructions():
    assert len(INSTRUCTIONS) < INSTRUCTIONS_MAX


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
    named = {word.strip(":;,.`") for word in INSTRUCTIONS.split()}

    assert {word for word in named if word.startswith(("search_", "find_f", "index_"))} <= known
