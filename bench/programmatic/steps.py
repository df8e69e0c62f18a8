"""Calls that an agent makes, what they cost, and which lines of which files their results show."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.tokens import answers
from triseek.model import token_estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bench.programmatic.tasks import Fact, Place, Task

_RG = re.compile(r"(?:\./)?([^:]+)(?::(\d+):.*)?")
_LISTED = re.compile(r"\s*\d+\. `+ ?(.+?) ?`+(?:: (?:.*?, )?L([\d, ]+?)(?:, \.\.\.)?)?$")
_LINE = re.compile(r"\s*- L(\d+)(?:-(\d+))?:")
_ROWS = re.compile(r"\s*- L([\d, -]+?)(?:, \.\.\.)?(?:: | in |$)")
_NUMBERED = re.compile(r"\s*(\d+) \| ")
_OUTLINE = re.compile(r"Found `\d+` definitions in `(.+)`\.$")
_COMPACT = re.compile(r"(?m)^(\S+?):(\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)?(?= |$)")


class Step(NamedTuple):
    """One call."""

    tool: str
    arguments: Mapping[str, Any]
    text: str
    seconds: float
    shown: frozenset[Place]

    @property
    def tokens(self) -> int:
        """Tokens of its arguments and of its result."""
        return token_estimate.of_json(self.arguments) + token_estimate.of_text(self.text)


class Answer(NamedTuple):
    """What an agent knows of a task after its calls."""

    way: str
    policy: str
    steps: Sequence[Step]

    @property
    def tokens(self) -> int:
        """Tokens of all calls."""
        return sum(step.tokens for step in self.steps)

    def shown(self) -> frozenset[Place]:
        """Return all lines and files that the results show."""
        return frozenset[tuple[str, int]]().union(*(step.shown for step in self.steps))

    def missing(self, task: Task) -> list[Fact]:
        """Return the facts of a task that no result shows."""
        shown = self.shown()
        return [fact for fact in task.facts if not fact.places & shown]

    def recall(self, task: Task) -> float:
        """Return the share of the facts that the results show."""
        return 1 - len(self.missing(task)) / len(task.facts)

    def share_of_uses(self, task: Task) -> float:
        """Return the share of the lines that use the name which the results show."""
        return len(task.uses & self.shown()) / len(task.uses)


def best(task: Task, policies: Iterable[Answer]) -> Answer:
    """Return the answer that shows most of the facts; of equal ones, the cheapest."""
    return max(policies, key=lambda answer: (answer.recall(task), -answer.tokens))


def of_rg(output: str) -> frozenset[Place]:
    """Return what rg prints: lines, or with `-l` and `-c` files."""
    found = set()
    for line in output.splitlines():
        match = _RG.match(line)
        if match:
            found |= {(match[1], 0), (match[1], int(match[2] or 0))}
    return frozenset(found)


def of_digest(text: str) -> frozenset[Place]:
    """Return what an answer of triseek's search tools shows."""
    lines = answers.shown(text)
    paths = {line.split(" (")[0].partition(":")[0] for line in text.splitlines()}
    return frozenset(lines | {(path, 0) for path in paths})


def of_markdown(text: str, repository: str, folders: Mapping[str, str]) -> frozenset[Place]:
    """Return what an answer of a workflow shows.

    Args:
        text: The answer.
        repository: The folder of paths that do not begin with the name of a repository.
        folders: The folder of each repository, by the name that workflows have for it.
    """
    found: set[Place] = set()
    path = ""
    for line in text.splitlines():
        if listed := _LISTED.match(line) or _OUTLINE.match(line):
            path = _local(listed[1], repository, folders)
            found.add((path, 0))
            numbers = listed[2] if listed.re is _LISTED else ""
            found.update((path, number) for number in _numbers(numbers or ""))
        elif match := _LINE.match(line):
            found.update((path, int(number)) for number in match.groups() if number)
        elif match := _ROWS.match(line):
            found.update((path, number) for number in _numbers(match[1]))
        elif match := _NUMBERED.match(line):
            found.add((path, int(match[1])))
    return frozenset(found)


def of_script(text: str, repository: str, folders: Mapping[str, str]) -> frozenset[Place]:
    """Return what a script shows that writes places as `path:12,40-52`, in texts of its result.

    repository: The folder of paths that do not begin with the name of a repository.
    """
    found: set[Place] = set()
    document = text.partition("```json\n")[2].partition("\n```")[0]
    for part in _texts(json.loads(document)):
        for match in _COMPACT.finditer(part):
            path = _local(match[1], repository, folders)
            found.add((path, 0))
            found.update((path, number) for number in _numbers(match[2] or ""))
    return frozenset(found)


def _texts(value: object) -> Iterator[str]:
    """Yield all texts in a document of JSON, names too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts(name)
            yield from _texts(each)


def _numbers(text: str) -> Iterator[int]:
    """Yield the numbers of a list such as `3, 9, 12-40`: of a range, its ends."""
    yield from map(int, re.findall(r"\d+", text))


def _local(path: str, repository: str, folders: Mapping[str, str]) -> str:
    for name, folder in folders.items():
        if path.startswith(f"{name}/"):
            return f"{folder}/{path[len(name) + 1 :]}"
    return f"{repository}/{path}" if repository else path
