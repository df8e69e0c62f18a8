"""What a scripted model answers, and what it was sent, in words that no vendor's API uses."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MARK = re.compile(r"\[\[([\w-]+)\]\]")
SUMMARY = "<summary>Some files were read. Nothing else is known.</summary>"
"""What the model answers when an agent asks it to make a conversation shorter."""
_SUMMARISE = re.compile(
    r"detailed summary of (the|our) conversation|structured (context )?(checkpoint )?summary"
    r"|CONTEXT CHECKPOINT|anchored summary|summary of the conversation|state_snapshot",
    re.IGNORECASE,
)


class Call(NamedTuple):
    """A use of a tool that the model asks for."""

    name: str
    """As the agent's API names it; Codex groups tools: `mcp__triseek/search_content`."""
    arguments: Mapping[str, Any] | str
    """A text for tools that take free text, as Codex' `apply_patch` does."""


class Turn(NamedTuple):
    """One answer of the model: tools, or a text that ends its turn."""

    calls: tuple[Call, ...] = ()
    text: str = ""


def uses(name: str, /, **arguments: Any) -> Turn:
    """A turn that uses one tool."""
    return Turn((Call(name, arguments),))


def says(text: str) -> Turn:
    """A turn that ends with a text."""
    return Turn(text=text)


@dataclass(slots=True, frozen=True, kw_only=True)
class Message:
    """A part of what the model was sent."""

    role: str
    """user, assistant, call (a use of a tool the model asked for), result (what it gave)."""
    text: str
    call: str = ""
    """The id of the use, for `call` and `result`."""


@dataclass(slots=True, frozen=True, kw_only=True)
class Request:
    """What an agent sent to the model at one time: all the model can know."""

    path: str
    messages: tuple[Message, ...]
    tools: tuple[str, ...]
    body: Mapping[str, Any]
    mark: str = ""
    """The script it belongs to."""
    number: int = 0
    """Which of the model's requests it is: ids of the uses in its answer begin with it."""

    @property
    def results(self) -> Mapping[str, str]:
        """What each use of a tool gave, as the model sees it, by the id of the use."""
        return {one.call: one.text for one in self.messages if one.role == "result"}

    @property
    def last(self) -> str:
        """What the newest use of a tool gave."""
        return next((one.text for one in reversed(self.messages) if one.role == "result"), "")

    @property
    def seen(self) -> str:
        """All texts the model is shown."""
        return "\n".join(one.text for one in self.messages if one.role != "call")


@dataclass
class Scripts:
    """Answers by the last `[[mark]]` that a user's message of the request has.

    A prompt names its script by a mark, and so does the prompt of a sub-agent: each has turns of
    its own. Thread-safe: agents ask at the same time.
    """

    turns: dict[str, list[Turn]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    summary: str = SUMMARY
    before: Callable[[Request], None] | None = None
    """Called with every request that a script answers, before it is answered."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, mark: str, turns: Sequence[Turn]) -> str:
        """Give a script its turns; returns a prompt that starts it."""
        with self._lock:
            self.turns[mark] = list(turns)
        return f"Do as told. [[{mark}]]"

    def of(self, mark: str) -> list[Request]:
        """The requests that one script answered."""
        with self._lock:
            return [one for one in self.requests if one.mark == mark]

    def answer(self, request: Request, number: int) -> Turn:
        """The next turn of the request's script; a short text where there is none."""
        request = replace(request, number=number)
        users = [one.text for one in request.messages if one.role == "user"]
        if users and _SUMMARISE.search(users[-1]):
            return self._noted(request, "summary", says(self.summary))
        marks = MARK.findall("\n".join(users))
        if not marks or not request.tools:
            return self._noted(request, "", says("Well."))
        if self.before:
            self.before(request)
        with self._lock:
            left = self.turns.get(marks[-1], [])
            turn = left.pop(0) if left else says("Done.")
        return self._noted(request, marks[-1], turn)

    def _noted(self, request: Request, mark: str, turn: Turn) -> Turn:
        with self._lock:
            self.requests.append(replace(request, mark=mark))
        return turn


def flat(content: Any) -> str:
    """The text of a message's content: a string, or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(flat(part) for part in content)
    if isinstance(content, dict):
        for name in ("text", "content", "output"):
            if name in content:
                return flat(content[name])
        return json.dumps(content)
    return "" if content is None else str(content)
