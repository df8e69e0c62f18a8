"""Agents that are made up, and literally what each has in view."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.memo.clients import Client
    from tests.memo.transcripts import OfClaude, OfCodex
    from tests.memo.tree import Tree
    from tests.memo.uses import Line, Use


@dataclass(frozen=True)
class Output:
    """What one use of a tool has put into a context."""

    call: str
    lines: tuple[tuple[str, int, str], ...]
    """Path, number and text of each line of a file that stands in it."""
    tokens: int
    is_payload: bool = False
    """Whether it tells of earlier work: no reading may be refused for what stands in it."""
    text: str = ""
    """What the model is shown."""


class View:
    """The outputs in a context, in their order."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []
        self._at: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)
        self._texts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._of_tools: View | None = None

    @property
    def of_tools(self) -> View:
        """The same without what tells of earlier work."""
        if self._of_tools is None:
            self._of_tools = View()
            self._of_tools.keep(output for output in self.outputs if not output.is_payload)
        return self._of_tools

    def add(self, output: Output) -> None:
        self.outputs.append(output)
        self._count(output, 1)
        if self._of_tools is not None and not output.is_payload:
            self._of_tools.add(output)

    def keep(self, outputs: Iterable[Output]) -> None:
        """Everything else is gone."""
        self._of_tools = None
        for output in self.outputs:
            self._count(output, -1)
        self.outputs = []
        for output in outputs:
            self.add(output)

    def _count(self, output: Output, change: int) -> None:
        for path, number, text in output.lines:
            self._at[path, number][text] += change
            self._texts[path][text] += change

    def holds(self, path: str, number: int, text: str) -> bool:
        """Whether this line of this file stands in an output, as it is."""
        return self._at[path, number][text] > 0

    def holds_texts(self, path: str, texts: Iterable[str]) -> bool:
        """Whether all these lines stand in outputs of the file, wherever."""
        return all(self._texts[path][text] >= count for text, count in Counter(texts).items())

    @property
    def calls(self) -> frozenset[str]:
        return frozenset(output.call for output in self.outputs)

    @property
    def tokens(self) -> int:
        return sum(output.tokens for output in self.outputs)


@dataclass
class Refusal:
    """A read that was refused, and whether that spared anything."""

    lines: list[Line]
    files: list[str]
    """Each as often as it would have been read."""
    at: float
    most: int
    """Tokens of all that the agent would have been shown."""
    shown_again: set[tuple[str, int, str]] = field(default_factory=set)

    def spared(self) -> int:
        """Tokens of the lines that were not read soon after all, each file's rounded up.

        An output that its client would have cut, or kept to itself, is no more than was left of it.
        """
        sizes: Counter[str] = Counter()
        for line in self.lines:
            if (line.path, line.number, line.text) not in self.shown_again:
                sizes[line.path] += line.size
        return min(self.most, sum(-(-size * 2 // 7) for size in sizes.values()))

    def stands(self) -> int:
        """How many of its files were not read after all."""
        left = {line.path for line in self.lines
                if (line.path, line.number, line.text) not in self.shown_again}  # fmt: skip
        return sum(path in left for path in self.files)


@dataclass
class Agent:
    """One context: a session's main agent, or a sub-agent."""

    client: Client
    session: str
    tree: Tree
    cwd: str
    name: str = ""
    transcript: OfClaude | OfCodex | None = None
    main_transcript: str = ""
    parent: Agent | None = None
    view: View = field(default_factory=View)
    sent: frozenset[str] = frozenset()
    """Calls whose outputs were in the context when the model last answered."""
    turns: list[tuple[int, int]] = field(default_factory=list)
    """At each prompt: how far the transcript and the view were."""
    focus: list[str] = field(default_factory=list)
    past: list[Use] = field(default_factory=list)
    retry: Use | None = None
    refused: dict[str, set[int]] = field(default_factory=dict)
    """Lines that were refused and not asked for since, by file."""
    refusals: list[Refusal] = field(default_factory=list)
    heard: int = 0
    """Hooks of it that came through in time."""
    heard_at: float = 0.0
    """When a hook of it last came through."""
    is_known: bool = True
    """Whether the memo could know what left the view: no hook that would have said so was lost."""
    compacted: int = 0
    """How many refusals there were when its context was last made shorter."""
    journal: list[str] = field(default_factory=list)

    @property
    def keeps_folder(self) -> bool:
        """Whether its shell stays where a command has gone."""
        return self.client.keeps_folder and not self.name

    def note(self, text: str) -> None:
        self.journal.append(text)
        del self.journal[:-25]
