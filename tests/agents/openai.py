"""OpenAI's Responses API: what a request says, and a turn as a stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.agents.script import Message, Request, flat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.agents.script import Call, Turn


def request(path: str, body: Mapping[str, Any]) -> Request:
    """What an agent sent."""
    items = body.get("input", ())
    return Request(
        path=path,
        messages=tuple(_message(item) for item in items if item.get("type") != _TOOLS),
        tools=tuple(
            name
            for holder in (body, *(item for item in items if item.get("type") == _TOOLS))
            for name in _tools(holder)
        ),
        body=body,
    )


_TOOLS = "additional_tools"
"""An item by which newer models of Codex are told of tools."""


def _tools(holder: Mapping[str, Any]) -> Iterator[str]:
    for tool in holder.get("tools") or ():
        yield from _tools(tool) if "tools" in tool else [str(tool.get("name", tool.get("type")))]


def _message(item: Mapping[str, Any]) -> Message:
    match item.get("type", "message"):
        case "function_call" | "custom_tool_call":
            text = flat(item.get("arguments", item.get("input")))
            return Message(role="call", text=text, call=item["call_id"])
        case "function_call_output" | "custom_tool_call_output":
            return Message(role="result", text=flat(item["output"]), call=item["call_id"])
        case "message":
            return Message(role=str(item.get("role")), text=flat(item.get("content")))
        case "agent_message":  # to a sub-agent, or of one
            return Message(role="user", text=flat(item.get("content")))
    return Message(role=str(item["type"]), text=flat(item))


def stream(turn: Turn, number: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The events of a turn, by name."""
    begun = {"id": f"resp_{number}", "created_at": 0, "model": "scripted"}
    yield "response.created", {"type": "response.created", "response": begun}
    items = [_call(call, f"call_{number:06}{at:02}") for at, call in enumerate(turn.calls)]
    if not items:
        said = {"type": "output_text", "text": turn.text or "Done."}
        items = [{"type": "message", "role": "assistant", "id": f"msg_{number}", "content": [said]}]
    for index, item in enumerate(items):
        for name in ("response.output_item.added", "response.output_item.done"):
            yield name, {"type": name, "output_index": index, "item": item}
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 110,
    }
    done = {"id": f"resp_{number}", "usage": usage, "output": items, "status": "completed"}
    yield "response.completed", {"type": "response.completed", "response": done}


def _call(call: Call, name: str) -> dict[str, Any]:
    if isinstance(call.arguments, str):
        return {
            "type": "custom_tool_call",
            "call_id": name,
            "name": call.name,
            "input": call.arguments,
        }
    space, _, tool = call.name.rpartition("/")
    return {
        "type": "function_call",
        "id": name.replace("call_", "fc_"),
        "status": "completed",
        "call_id": name,
        "name": tool,
        "arguments": json.dumps(call.arguments),
        **({"namespace": space} if space else {}),
    }
