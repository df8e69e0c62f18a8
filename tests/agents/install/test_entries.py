"""Members of JSON files: ours, theirs, and those that a file must have."""

from __future__ import annotations

import json

import pytest

from triseek.agents.base import Traces
from triseek.agents.install.entries import JsonDefault, JsonMember, runs_triseek

SERVER = {"command": "/x/triseek", "args": ["mcp", "serve"]}
MEMBER = JsonMember("/f", ("mcpServers", "triseek"), SERVER)


def test_an_entry_of_ours_that_somebody_has_changed_is_still_ours():
    text = MEMBER.apply('{"n": 1}', Traces())
    changed = text.replace('"serve"', '"serve", "--repo", "/r"')

    assert json.loads(MEMBER.remove(changed, Traces())) == {"n": 1, "mcpServers": {}}


def test_an_entry_that_somebody_has_made_theirs_is_theirs():
    text = json.dumps({"mcpServers": {"triseek": {"command": "mine"}}})

    assert MEMBER.remove(text, Traces()) == text


@pytest.mark.parametrize(
    ("value", "ours"),
    [
        ({"command": "triseek", "args": ["mcp", "serve"]}, True),
        ({"command": "C:\\py\\triseek.exe", "args": ["mcp", "serve"]}, True),
        ({"command": ["uvx", "triseek", "mcp", "serve"]}, True),
        ({"command": {"path": "/x/triseek", "args": ["mcp", "serve"]}}, True),
        ({"command": "python", "args": ["-m", "triseek", "mcp", "serve"]}, True),
        ({"command": "triseek-server", "args": ["mcp", "serve"]}, False),
        ({"command": "triseek", "args": ["search"]}, False),
        ({"url": "http://triseek/mcp"}, False),
        ({"command": 7, "args": "mcp serve"}, False),
        ([], False),
    ],
)
def test_an_entry_is_ours_by_what_it_starts(value, ours):
    assert runs_triseek(value) is ours


def test_a_default_stays_with_those_who_need_it():
    default = JsonDefault("/f", ("version",), 1)
    ours, theirs = Traces(), Traces()
    made = default.apply(None, ours)
    added = default.apply('{"hooks": {}}', theirs)

    assert default.remove(made, ours) is None
    assert json.loads(default.remove('{"version": 1, "hooks": {"a": []}}', ours))["version"] == 1
    assert default.remove(added, theirs) == '{"hooks": {}}'
    assert default.apply('{"version": 2}', Traces()) == '{"version": 2}'
