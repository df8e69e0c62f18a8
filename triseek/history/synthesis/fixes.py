"""Rule: a check that failed, was followed by edits and then passed, is a fixed bug.

A check is a test, a build or a type check. It need not pass with the same words: a run of more
tests, or of just those that failed, shows as much.

A check that fails after edits which are not committed may fail because the change is not finished:
the code does not compile yet, or tests expect what was true before. Such failures are no bugs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.history.errors import plain
from triseek.history.synthesis.commits import commit_of
from triseek.history.synthesis.draft import TITLE_MAX, Draft, DraftEvidence, facts_of, one_line
from triseek.history.synthesis.edit_shape import is_test_path, shapes_of

if TYPE_CHECKING:
    from triseek.history.commands_run import Run
    from triseek.history.synthesis.edit_shape import FileShape
    from triseek.history.synthesis.session_events import SessionEvent, SessionView

RULE = "fixed-check"
TESTS_MAX = 5

_FAILING_TESTS = (
    re.compile(r"^(?:FAILED|ERROR) ([\w./\\-]+\.py(?:::\S+)?)", re.MULTILINE),
    re.compile(r"^[ \t]*--- FAIL: (\S+) \(", re.MULTILINE),
    re.compile(r"^test (\S+) \.\.\. FAILED$", re.MULTILINE),
    re.compile(r"^[ \t]*● (\S.*)$", re.MULTILINE),
    re.compile(r"^[ \t]*(?:✕|×|✗) (.+?)(?: \(?\d+ ?ms\)?)?$", re.MULTILINE),
    re.compile(r"^(?:FAIL|ERROR): (\w+ \([\w.]+\))$", re.MULTILINE),
    re.compile(r"^\[ERROR\][ \t]+(\w+\.\w+):\d+", re.MULTILINE),
)
_NOT_COMPILED = re.compile(
    r"\bundefined: |\bundefined \(type |\bis not defined\b|has no (?:attribute|member|field)"
    r"|has no exported|cannot find (?:name|symbol|value|function|type|module|package)"
    r"|\bundeclared\b|cannot import name|No module named|unresolved (?:import|reference)"
    r"|does not exist"
    r"|(?:not enough|too many) (?:arguments|return values)|declared and not used"
    r"|imported and not used|missing (?:return|method)|cannot use .* as |assignment mismatch"
    r"|redeclared|error TS\d+|error\[E\d+\]|[Ss]yntax ?[Ee]rror|does not implement",
    re.IGNORECASE,
)
"""What compilers and interpreters say of code that is not complete."""


@dataclass(slots=True)
class Episode:
    """A check from its first failure until it passes, or to the session's end."""

    run: Run
    first: int
    """Position of the first failure in the session's events."""
    failures: list[SessionEvent]
    tests: list[str]
    """What failed, as the test program names it."""
    passed: int | None = None
    """Position of the pass."""

    @property
    def names(self) -> frozenset[str]:
        """Files and names of the failing tests, as arguments would name them."""
        parts = (test.split("::")[0].split("[")[0] for test in self.tests)
        return frozenset(part for part in parts if part)


def episodes(view: SessionView) -> list[Episode]:
    """Return the failures of checks with what became of them, in order."""
    ended: list[Episode] = []
    open_ones: list[Episode] = []
    for at, event in enumerate(view.events):
        run = event.run
        if run is None or not run.is_check:
            continue
        if event.outcome == "failed" and _is_of_check(event, run):
            _fail(open_ones, run, at, event)
        elif event.outcome == "passed":
            for episode in [one for one in open_ones if run.covers(one.run, one.names)]:
                episode.passed = at
                open_ones.remove(episode)
                ended.append(episode)
    return sorted(ended + open_ones, key=lambda one: one.first)


def failing_tests(output: str) -> list[str]:
    """Return the tests that an output names as failing, in order, each once."""
    text = plain(output)
    names: dict[str, None] = {}
    for pattern in _FAILING_TESTS:
        names.update(dict.fromkeys(match[1].strip() for match in pattern.finditer(text)))
    return list(names)[:50]


def fixes(view: SessionView) -> list[Draft]:
    """Return a draft for each check that was made to pass by edits; one pass makes one draft."""
    drafts: list[Draft] = []
    by_pass: dict[int, list[Episode]] = {}
    known = frozenset(use.path for event in view.events for use in event.reads)
    for episode in episodes(view):
        if episode.passed is not None:
            by_pass.setdefault(episode.passed, []).append(episode)
    for passed, group in sorted(by_pass.items()):
        first = min(episode.first for episode in group)
        edits = [event for event in view.between(first, passed) if event.edits]
        is_new = not {event.id for event in edits} <= covered_edits(drafts)
        if edits and is_new and not _is_unfinished(view, group, edits):
            drafts.append(_draft(group, edits, view.events[passed], known))
    return drafts


def covered_edits(drafts: list[Draft]) -> set[int]:
    """Return the ids of the events whose edits these drafts already tell."""
    return {event.id for draft in drafts for event in draft.evidence.events if event.edits}


def _is_unfinished(view: SessionView, group: list[Episode], edits: list[SessionEvent]) -> bool:
    """Whether the checks failed because the change that they check was not finished."""
    first = min(episode.first for episode in group)
    if not _is_edited_since_commit(view, first):
        return False
    failed = [view.events[episode.first] for episode in group]
    if all(_NOT_COMPILED.search(event.error.line) for event in failed):
        return True
    paths = {use.path for event in edits for use in event.edits}
    return all(is_test_path(path) for path in paths)


def _is_edited_since_commit(view: SessionView, at: int) -> bool:
    """Whether there are edits before a position that were not committed before it."""
    for event in reversed(view.events[:at]):
        if event.edits:
            return True
        if commit_of(event) is not None:
            return False
    return False


def _is_of_check(event: SessionEvent, run: Run) -> bool:
    """Whether it is the check that failed, and not what a command runs after it."""
    return event.runs[-1] == run or bool(failing_tests(event.output))


def _fail(open_ones: list[Episode], run: Run, at: int, event: SessionEvent) -> None:
    tests = failing_tests(event.output)
    same = next((one for one in open_ones if one.run[:3] == run[:3]), None)
    if same is None:
        open_ones.append(Episode(run, at, [event], tests))
        return
    same.failures.append(event)
    same.tests += [test for test in tests if test not in same.tests]


def _draft(
    group: list[Episode],
    edits: list[SessionEvent],
    passed: SessionEvent,
    known: frozenset[str],
) -> Draft:
    failures = sorted({e.id: e for one in group for e in one.failures}.values(), key=lambda e: e.id)
    tests = list(dict.fromkeys(test for one in group for test in one.tests))
    error = next((event.error.line for event in failures if event.error.line), "")
    uses = [use for event in edits for use in event.edits]
    shapes = shapes_of(uses, known)
    run = passed.run or group[0].run
    facts = [f"failing test: {test}" for test in tests[:TESTS_MAX]]
    facts += [f"error: {error}"] if error else []
    facts += [shape.fact() for shape in shapes]
    facts.append(f"{run.text}: failed ×{len(failures)}, then passed")
    return Draft(
        rule=RULE, type="bugfix",
        title=one_line(f"Fixed {_subject(tests, error, run)} in {_place(shapes)}", TITLE_MAX),
        subtitle=one_line(error, TITLE_MAX), facts=facts_of(facts),
        concepts=("problem-solution", *(("gotcha",) if len(failures) > 1 else ())),
        evidence=DraftEvidence(
            events=(failures[0], *edits, passed), files=tuple(uses), is_resolved=True
        ),
        prompt=passed.prompt, time_ms=passed.time_ms, value=3.0 + 0.1 * len(edits),
    )  # fmt: skip


def _subject(tests: list[str], error: str, run: Run) -> str:
    if tests:
        more = f" and {len(tests) - 1} more" if len(tests) > 1 else ""
        return one_line(tests[0], 90) + more
    return one_line(error, 90) if error else run.program


def _place(shapes: list[FileShape]) -> str:
    """Return the file, or the definition in it, that was edited most; tests last."""
    best = max(shapes, key=lambda shape: (not shape.is_test, shape.added + shape.removed))
    return f"{best.path}:{best.touched[0]}" if len(best.touched) == 1 else best.path
