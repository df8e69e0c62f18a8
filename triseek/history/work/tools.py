"""The tools of history-work, as agents are offered them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from triseek.history.operations import AnswerReply
from triseek.history.work import handlers, requests
from triseek.model.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def _lines(_tool: str, _arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the text of an answer."""
    yield answer["text"]


_tool = partial(
    Tool, toolset="history-work", results=(AnswerReply,), listed="found text", digest=_lines
)

TOOLS: tuple[Tool, ...] = (
    _tool(
        name="history_fix", title="How an error was fixed", kind="history_fix",
        request=requests.HistoryFixRequest, answer=handlers.history_fix,
    ),
    _tool(
        name="history_how", title="How a command is run", kind="history_how",
        request=requests.HistoryHowRequest, answer=handlers.history_how,
    ),
    _tool(
        name="history_blame", title="Why a file was changed", kind="history_blame",
        request=requests.HistoryBlameRequest, answer=handlers.history_blame,
    ),
    _tool(
        name="history_friction", title="Errors that come again", kind="history_friction",
        request=requests.HistoryFrictionRequest, answer=handlers.history_friction,
    ),
)  # fmt: skip
"""In the order in which they are listed."""
