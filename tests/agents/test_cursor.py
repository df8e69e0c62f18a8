"""Cursor's payloads."""

from __future__ import annotations

import json

import pytest

from tests.agents.places import place
from triseek.agents.cursor import Cursor
from triseek.agents.payloads.fields import Fields
from triseek.model.hook_event import FileRead


def read(event="postToolUse", **fields):
    return Cursor().read(Fields(fields), event, "/here")


def test_a_conversation_is_a_session_and_a_root_is_the_folder():
    event = read(conversation_id="c", generation_id="g", workspace_roots=["/work"])

    assert (event.context.session, event.prompt_id, event.cwd) == ("c", "g", "/work")


@pytest.mark.parametrize("as_text", [False, True])
def test_the_input_may_be_an_object_or_its_json(as_text):
    given = {"file_path": "a.py", "offset": 3, "limit": 4}
    event = read(tool_name="Read", tool_input=json.dumps(given) if as_text else given)

    assert event.use.name == "Read"
    assert event.use.reads == (FileRead(path="/here/a.py", first=3, last=6),)


def test_an_event_for_one_tool_has_the_input_itself():
    assert read("afterFileEdit", file_path="/a.py").use.edits == ("/a.py",)
    assert read("afterShellExecution", command="rg x", output="y").use.search == "x"


def test_a_servers_tool_is_known_by_its_prefix():
    event = read(tool_name="MCP:read_file", tool_input={"path": "/a"}, tool_output='"text"')

    assert event.use.name == "mcp__read_file"
    assert event.use.output == "text"


def test_a_refusal_has_a_text_for_each_reader():
    refusal = json.loads(Cursor().refusal("no", "see above"))

    assert refusal == {
        "permission": "deny",
        "user_message": "no",
        "agent_message": "no see above",
    }


def test_a_projects_server_is_told_its_folder(tmp_path):
    here = place(tmp_path).here

    [user], [project] = (
        [edit.value for edit in Cursor().plan(scope, here) if edit.path.endswith("mcp.json")]
        for scope in ("user", "project")
    )

    assert user["args"] == ["mcp", "serve"]
    assert project["args"] == ["mcp", "serve", "--repo", "${workspaceFolder}"]
