"""Rule: a git commit made in the session is an observation of the type that its subject says.

The message is taken from the command, and the subject from what git printed where it did. A
sentence of the body that gives a reason is a decision of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from triseek.history.synthesis.draft import (
    NARRATIVE_MAX,
    TITLE_MAX,
    Draft,
    DraftEvidence,
    facts_of,
    one_line,
)
from triseek.history.synthesis.edit_shape import shapes_of
from triseek.model.plain_text import clipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.history.synthesis.draft import ObservationType
    from triseek.history.synthesis.session_events import EventFile, SessionEvent, SessionView

RULE, DECISION = "commit", "commit-decision"

_PREFIX = re.compile(r"(\w+)(?:\([^)]*\))?!?:\s")
_BY_PREFIX: dict[str, ObservationType] = {
    "fix": "bugfix", "bugfix": "bugfix", "hotfix": "bugfix", "feat": "feature",
    "feature": "feature", "refactor": "refactor", "perf": "refactor", "docs": "change",
    "chore": "change", "build": "change", "ci": "change", "test": "change", "tests": "change",
    "style": "change", "revert": "change",
}  # fmt: skip
_BY_VERB: dict[str, ObservationType] = {
    "fix": "bugfix", "fixes": "bugfix", "fixed": "bugfix", "add": "feature", "adds": "feature",
    "added": "feature", "implement": "feature", "implements": "feature", "introduce": "feature",
    "support": "feature", "refactor": "refactor", "rename": "refactor", "extract": "refactor",
    "simplify": "refactor", "move": "refactor", "split": "refactor", "inline": "refactor",
    "fold": "refactor", "rewrite": "refactor", "deduplicate": "refactor", "dedupe": "refactor",
    "consolidate": "refactor", "unify": "refactor", "clean": "refactor", "migrate": "refactor",
    "reorganize": "refactor", "test": "change", "tests": "change", "align": "change",
    "adapt": "change", "improve": "change", "update": "change", "bump": "change",
    "remove": "change", "document": "change", "merge": "change", "address": "change",
}  # fmt: skip
_SCOPE = re.compile(r"[\w./-]+(?:\([^)]*\))?: ")
"""What a subject begins with that says which part was changed: `parser: `."""
_OF_TESTS = re.compile(r"(?:[\w/-]+ ){1,6}?tests?\b", re.IGNORECASE)
_JOINED = re.compile(r" (?:and|with|for|to|in) ")
"""A subject whose object is tests has none of these before them."""
_PRINTED = re.compile(
    r"^\[(?P<branch>[^\]\n]*?) (?P<id>[0-9a-f]{7,40})\] (?P<subject>.+)$", re.MULTILINE
)
_SIZE = re.compile(r"^ \d+ files? changed.*$", re.MULTILINE)
_HEREDOC = re.compile(
    r"<<-?\s*(['\"]?)(?P<word>\w+)\1\n(?P<text>.*?)\n[ \t]*(?P=word)\b", re.DOTALL
)
_MESSAGE = re.compile(
    r"(?:^|\s)(?:-[a-zA-Z]*m|--message)[ =]?(?:'(?P<single>[^']*)'|\"(?P<double>(?:[^\"\\]|\\.)*)\")",  # noqa: E501
    re.DOTALL,
)
_TRAILER = re.compile(r"^[A-Z][\w-]+: .+$")
_OF_TOOLS = re.compile(
    r"^(?:Co-authored-by|Signed-off-by|Generated)\b|Generated with", re.IGNORECASE
)
_REASON = re.compile(
    r"\b(?:because|instead of|rather than|chose|chosen|so that we|in favou?r of|decided)\b",
    re.IGNORECASE,
)


class _Commit(NamedTuple):
    id: str
    subject: str
    body: str
    trailers: tuple[str, ...]
    size: str


def commits(view: SessionView) -> list[Draft]:
    """Return a draft for each commit, and one for each that gives a reason."""
    drafts: list[Draft] = []
    edits: list[tuple[SessionEvent, EventFile]] = []
    for event in view.events:
        edits += [(event, use) for use in event.edits]
        commit = commit_of(event)
        if commit is None:
            continue
        if "--amend" in event.command:
            drafts = _without_last(drafts)
        drafts += _drafts(event, commit, [use for _, use in edits])
        edits = []
    return drafts


def commit_of(event: SessionEvent) -> _Commit | None:
    """Return the commit that an event made; None if it made none."""
    if not any(run.program == "git commit" for run in event.runs):
        return None
    printed = _PRINTED.search(event.output)
    message = _message(event.command)
    if printed is None and (event.outcome != "passed" or not message):
        return None
    lines = message.strip().split("\n")
    subject = printed["subject"] if printed else lines[0]
    body = "\n".join(lines[1:]).strip() if lines else ""
    trailers = tuple(line for line in body.split("\n") if _TRAILER.match(line))
    kept = [
        line for line in body.split("\n") if line not in trailers and not _OF_TOOLS.search(line)
    ]
    size = _SIZE.search(event.output)
    return _Commit(
        printed["id"] if printed else "", subject.strip(), "\n".join(kept).strip(),
        tuple(line for line in trailers if not _OF_TOOLS.search(line)),
        size[0].strip() if size else "",
    )  # fmt: skip


def type_of(subject: str, *, adds_files: bool) -> ObservationType:
    """Return the type of a commit by its subject, else by whether it adds files."""
    prefix = _PREFIX.match(subject)
    if prefix and prefix[1].lower() in _BY_PREFIX:
        return _BY_PREFIX[prefix[1].lower()]
    words = _SCOPE.sub("", subject, count=1)
    verb = words.split(None, 1)[0].lower().strip(",:") if words.split() else ""
    kind = _BY_VERB.get(verb, "feature" if adds_files else "change")
    tests = _OF_TESTS.match(words)
    is_tests = tests is not None and not _JOINED.search(tests[0])
    return "change" if kind == "feature" and is_tests else kind


def _drafts(event: SessionEvent, commit: _Commit, uses: list[EventFile]) -> Iterator[Draft]:
    shapes = shapes_of(uses)
    adds_files = any(shape.is_new and not shape.is_test for shape in shapes)
    evidence = DraftEvidence(events=(event,), files=tuple(uses), commit=commit.id)
    facts = [*([f"commit {commit.id}"] if commit.id else []), commit.size]
    facts += [shape.fact() for shape in shapes] + list(commit.trailers)
    kind = type_of(commit.subject, adds_files=adds_files)
    is_named = _PREFIX.match(commit.subject) is not None
    if kind == "feature" and not is_named and shapes and not any(one.is_source for one in shapes):
        kind = "change"
    yield Draft(
        rule=RULE, type=kind,
        title=one_line(commit.subject, TITLE_MAX), narrative=clipped(commit.body, NARRATIVE_MAX),
        facts=facts_of(facts), concepts=("what-changed",), evidence=evidence,
        prompt=event.prompt, time_ms=event.time_ms, value=4.0,
    )  # fmt: skip
    reason = next((one for one in sentences(commit.body) if _REASON.search(one)), "")
    if reason:
        yield Draft(
            rule=DECISION, type="decision", title=one_line(reason, TITLE_MAX),
            subtitle=one_line(commit.subject, TITLE_MAX),
            narrative=clipped(commit.body, NARRATIVE_MAX), facts=facts_of(facts[:2]),
            concepts=("why-it-exists", "trade-off"), evidence=evidence, prompt=event.prompt,
            time_ms=event.time_ms, value=4.0,
        )  # fmt: skip


def sentences(text: str) -> list[str]:
    """Return the sentences of a text whose lines are wrapped; a list's items are sentences."""
    joined = re.sub(r"\n(?![ \t]*(?:[-*]|\d+\.)\s|\n)", " ", text)
    parts = re.split(r"(?<=[.!?])\s+|\n+", joined)
    return [part.strip().lstrip("-* ") for part in parts if part.strip()]


def _message(command: str) -> str:
    """Return the message that a commit command gives: of here documents, or of its -m options."""
    document = _HEREDOC.search(command)
    if document:
        return document["text"]
    parts = []
    at = command.find("commit")
    for option in _MESSAGE.finditer(command, max(at, 0)):
        text = option["single"]
        parts.append(re.sub(r"\\([\"\\$`])", r"\1", option["double"]) if text is None else text)
    return "\n\n".join(parts)


def _without_last(drafts: list[Draft]) -> list[Draft]:
    """Return the drafts without those of the last commit, which was amended."""
    while drafts and drafts[-1].rule == DECISION:
        drafts.pop()
    return drafts[:-1]
