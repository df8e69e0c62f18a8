"""Google's generateContent API: what a request says, and a turn as its answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.agents.script import Message, Request, flat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.agents.script import Turn


def request(path: str, body: Mapping[str, Any]) -> Request:
    """What an agent sent."""
    declared = (tool.get("functionDeclarations") or () for tool in body.get("tools") or ())
    return Request(
        path=path,
        messages=tuple(part for one in body.get("contents", ()) for part in _parts(one)),
        tools=tuple(str(tool.get("name")) for tools in declared for tool in tools),
        body=body,
    )


def _parts(content: Mapping[str, Any]) -> Iterator[Message]:
    for part in content.get("parts") or ():
        if "functionCall" in part:
            call = part["functionCall"]
            yield Message(role="call", text=json.dumps(call.get("args")), call=call.get("id", ""))
        elif "functionResponse" in part:
            given = part["functionResponse"]
            text = flat(given.get("response"))
            yield Message(role="result", text=text, call=given.get("id", ""))
        else:
            role = "assistant" if content.get("role") == "model" else "user"
            yield Message(role=role, text=str(part.get("text", "")))


def whole(turn: Turn, number: int) -> Mapping[str, Any]:
    """The turn as one answer; as a stream it is the only event."""
    parts: list[dict[str, Any]] = [
        {
            "functionCall": {
                "id": f"call_{number:06}{index:02}",
                "name": call.name,
                "args": call.arguments,
            }
        }
        for index, call in enumerate(turn.calls)
    ]
    content = {"role": "model", "parts": parts or [{"text": turn.text or "Done."}]}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110
        },
        "modelVersion": "scripted",
    }  # fmt: skip
