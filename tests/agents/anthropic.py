"""Anthropic's Messages API: what a request says, and a turn as a stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.agents.script import Message, Request, flat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.agents.script import Turn


def request(path: str, body: Mapping[str, Any]) -> Request:
    """What an agent sent."""
    return Request(
        path=path,
        messages=tuple(part for one in body.get("messages", ()) for part in _parts(one)),
        tools=tuple(str(tool.get("name")) for tool in body.get("tools") or ()),
        body=body,
    )


def _parts(message: Mapping[str, Any]) -> Iterator[Message]:
    content = message["content"]
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        match block.get("type"):
            case "tool_use":
                yield Message(role="call", text=json.dumps(block["input"]), call=block["id"])
            case "tool_result":
                text = flat(block.get("content"))
                yield Message(role="result", text=text, call=block["tool_use_id"])
            case _:
                yield Message(role=message["role"], text=flat(block))


def stream(turn: Turn, number: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The events of a turn, by name."""
    usage = {"input_tokens": 100, "output_tokens": 10}
    begun = {**_message(turn, number), "content": [], "stop_reason": None, "usage": usage}
    yield "message_start", {"type": "message_start", "message": begun}
    for index, block in enumerate(_blocks(turn, number)):
        if block["type"] == "text":
            empty = {**block, "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield (
            "content_block_start",
            {"type": "content_block_start", "index": index, "content_block": empty},
        )
        yield (
            "content_block_delta",
            {"type": "content_block_delta", "index": index, "delta": delta},
        )
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    why = {"stop_reason": "tool_use" if turn.calls else "end_turn", "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": why, "usage": usage}
    yield "message_stop", {"type": "message_stop"}


def whole(turn: Turn, number: int) -> Mapping[str, Any]:
    """The turn as one answer."""
    return _message(turn, number)


def _message(turn: Turn, number: int) -> dict[str, Any]:
    return {
        "id": f"msg_{number:06}",
        "type": "message",
        "role": "assistant",
        "model": "claude-scripted",
        "content": _blocks(turn, number),
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }


def _blocks(turn: Turn, number: int) -> list[dict[str, Any]]:
    if turn.text or not turn.calls:
        return [{"type": "text", "text": turn.text or "Done."}]
    return [
        {
            "type": "tool_use",
            "id": f"toolu_{number:06}{index:02}",
            "name": call.name,
            "input": call.arguments,
        }
        for index, call in enumerate(turn.calls)
    ]
