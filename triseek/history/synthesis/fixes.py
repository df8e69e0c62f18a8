"""Rule: a check that failed, was followed by edits of the code and then passed, is a fixed bug.

A check is a test, a build or a type check. It need not pass with the same words: a run of more
tests, or of just those that failed, shows as much. These failures are no bugs:

- The change was not finished: after edits that are not committed the code did not compile.
- No test is named that failed, and the person did not report a problem.
- The machine is at fault: a missing program or module, a sandbox, the network.
- The code did not change, only tests: they were adapted to what was intended.
- The tests were written with the change that they check, unless the person reported a problem.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.history.errors import plain
from triseek.history.synthesis.commits import commit_of
from triseek.history.synthesis.draft import TITLE_MAX, Draft, DraftEvidence, facts_of, one_line
from triseek.history.synthesis.edit_shape import is_source_path, shapes_of
from triseek.history.synthesis.prompts import reports_problem

if TYPE_CHECKING:
    from triseek.history.commands_run import Run
    from triseek.history.synthesis.edit_shape import FileShape
    from triseek.history.synthesis.session_events import EventFile, SessionEvent, SessionView

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
    re.compile(r"^rspec (\./\S+)", re.MULTILINE),
    re.compile(r"^not ok \d+ -? ?(\S.*)$", re.MULTILINE),
    re.compile(r"^\(fail\) (\S.*?)(?: \[[\d.]+ ?ms\])?$", re.MULTILINE),
    re.compile(r"^[ \t]*Failed (\S+) \[[\d<> ]+m?s\]", re.MULTILINE),
    re.compile(r"^\d+\) ([\w\\]+::\w+)", re.MULTILINE),
)
_FAILING_FILES = (
    re.compile(r"❯ (\S+\.(?:test|spec)\.\w+) \(\d+ tests? \| \d+ failed"),
    re.compile(r"^[ \t]*FAIL[ \t]+(\S+\.(?:test|spec)\.\w+)", re.MULTILINE),
)
_ENVIRONMENT = re.compile(
    r"command not found|operation not permitted|permission denied|sandbox|exec_command failed"
    r"|no such file or directory|setup failed|missing go\.sum entry|cannot find main module"
    r"|no module named|module not found|cannot find (?:module|package)|missing script"
    r"|connection refused|could not resolve|network is unreachable|ENOTFOUND|ECONNREFUSED"
    r"|EACCES|EPERM|no space left|not installed|timed? ?out waiting for",
    re.IGNORECASE,
)
"""What systems say of a machine on which a check cannot run."""
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
    """Return the tests that an output names as failing, else their files; in order, each once."""
    text = plain(output)
    return _names(text, _FAILING_TESTS) or _names(text, _FAILING_FILES)


def _names(text: str, patterns: tuple[re.Pattern[str], ...]) -> list[str]:
    names: dict[str, None] = {}
    for pattern in patterns:
        names.update(dict.fromkeys(match[1].strip() for match in pattern.finditer(text)))
    return list(names)[:50]


def fixes(view: SessionView) -> list[Draft]:
    """Return a draft for each pass of tests that failed before, if edits of the code made it."""
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
        if is_new and _changes_code(edits) and _shows_fault(view, group):
            drafts.append(_draft(group, edits, view.events[passed], known))
    return drafts


def covered_edits(drafts: list[Draft]) -> set[int]:
    """Return the ids of the events whose edits these drafts already tell."""
    return {event.id for draft in drafts for event in draft.evidence.events if event.edits}


def _changes_code(edits: list[SessionEvent]) -> bool:
    """Whether edits leave a file changed that is no test; what was put back does not count."""
    texts: dict[str, tuple[EventFile, EventFile]] = {}
    for event in edits:
        for use in event.edits:
            texts[use.path] = (texts.get(use.path, (use, use))[0], use)
    return any(
        _lines(first.before) != _lines(last.after) or not first.is_whole
        for path, (first, last) in texts.items()
        if is_source_path(path)
    )


def _lines(text: str) -> list[str]:
    """Return what a text says, whatever the order and the layout of its lines."""
    return sorted("".join(text.split(" ")).replace("\t", "").splitlines())


def _shows_fault(view: SessionView, group: list[Episode]) -> bool:
    """Whether a failure is one of the code that was there, and not of an unfinished change."""
    failures = [event for episode in group for event in episode.failures]
    first = min(episode.first for episode in group)
    pending = _uncommitted(view, first)
    no_fault = (_ENVIRONMENT, _NOT_COMPILED) if pending else (_ENVIRONMENT,)
    if all(any(it.search(event.error.line) for it in no_fault) for event in failures):
        return False
    is_reported = reports_problem(view, view.events[first].prompt)
    tests = [test for episode in group for test in episode.tests]
    if not tests:
        return is_reported and not pending and any(event.error.line for event in failures)
    return is_reported or not all(_is_written(test, pending) for test in tests)


def _uncommitted(view: SessionView, at: int) -> list[EventFile]:
    """Return the edits before a position that were not committed before it."""
    edits: list[EventFile] = []
    for event in reversed(view.events[:at]):
        if event.command and commit_of(event) is not None:
            break
        edits += event.edits
    return edits


def _is_written(test: str, edits: list[EventFile]) -> bool:
    """Whether edits have added a test; by its own name, without folder, class and parameters."""
    name = re.split(r"::|/|[ >]+ ", test.split("[", maxsplit=1)[0].split(" (", maxsplit=1)[0])[-1]
    return any(name in use.after and name not in use.before for use in edits)


def _is_of_check(event: SessionEvent, run: Run) -> bool:
    """Whether it is the check that failed, and not what a command runs after it."""
    return event.runs[-1] == run or bool(failing_tests(event.output))


def _fail(open_ones: list[Episode], run: Run, at: int, event: SessionEvent) -> None:
    tests = failing_tests(event.output) if run.is_test else []
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
    best = max(shapes, key=lambda shape: (shape.is_source, shape.added + shape.removed))
    return f"{best.path}:{best.touched[0]}" if len(best.touched) == 1 else best.path
