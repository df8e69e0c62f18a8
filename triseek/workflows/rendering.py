"""Results of runs as markdown for agents."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from triseek.model.plain_text import visible_line
from triseek.workflows.execution import ExecutionResult
from triseek.workflows.markdown import code, fenced
from triseek.workflows.payloads import body

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TEXT_MAX = 20_000
"""Most characters of an answer."""
STREAM_MAX = 6_000
"""Most characters of an output stream in an answer; its end is cut."""
CUT = "... cut: the answer has more than {:,} characters; ask for less."
COMMAND_TITLE = "Workflow CLI Execution"
CODE_TITLE = "Custom Workflow Code Execution"
_DROPPED = re.compile(r"\[std(?:out|err) truncated at \d+ bytes\]\Z")
_NO_PAYLOAD = (
    "No structured workflow payload was produced.",
    "The script ended, but it returned nothing, or its output could not be parsed.",
)


def workflow(name: str, result: ExecutionResult, notes: Sequence[str] = ()) -> str:
    """Return the answer of a prebuilt workflow.

    notes: What the user should know of the result, as hosts that did not answer; a line each.
    """
    return _bounded([f"## Workflow: {code(name)}", "", *_workflow(name, result, notes)])


def _workflow(name: str, result: ExecutionResult, notes: Sequence[str]) -> Iterator[str]:
    yield from _status(result, notes)
    if not result.success:
        yield from _rejections(result)
        yield from _section("Error", result.stderr)
        yield from _section("Stdout", result.stdout)
        return
    if result.result_json is None:
        yield from ("", *_NO_PAYLOAD)
        yield from _section("Parser / Runtime Details", result.stderr)
        yield from _section("Stdout", result.stdout)
        return
    yield from ("", *body(name, result.result_json))
    yield from _section("Stderr", result.stderr)
    yield from _section("Stdout", result.stdout)


def custom(result: ExecutionResult, notes: Sequence[str] = (), title: str = CODE_TITLE) -> str:
    """Return the answer of a script, or of a command that could not be run; as `workflow`."""
    lines = [f"## {title}", "", *_status(result, notes), *_rejections(result)]
    room = TEXT_MAX - sum(map(len, lines)) - min(STREAM_MAX, len(result.stdout) + 400)
    room -= min(STREAM_MAX, len(result.stderr) + 400)
    most = max(room, STREAM_MAX)
    document = _beginning(result.result_json, most)
    lines += ["", "### Result JSON", *fenced(_cut(document, most), "json")]
    lines += [*_section("Stdout", result.stdout), *_section("Stderr", result.stderr)]
    return _bounded(lines)


def _beginning(value: object, least: int) -> str:
    """Return a value as indented JSON; if that is long, its first `least` characters and more.

    Indented, a value may be a hundred times as long.
    """
    pieces, size = [], 0
    for piece in json.JSONEncoder(indent=2).iterencode(value):
        pieces.append(piece)
        size += len(piece)
        if size > least:
            break
    return "".join(pieces)


def output_status(result: ExecutionResult) -> str:
    """Return what became of the result that a script should print."""
    if result.result_json is not None:
        return "parsed"
    stderr = result.stderr.lower()
    if "malformed result marker json" in stderr:
        return "parse_error"
    if "result marker not found" in stderr:
        return "missing_result_marker"
    return "missing_payload" if result.success else "not_available"


def _status(result: ExecutionResult, notes: Sequence[str]) -> Iterator[str]:
    yield f"- Process status: `{'success' if result.success else 'failure'}`"
    yield f"- Output status: `{output_status(result)}`"
    yield f"- Exit code: `{result.exit_code}`"
    yield f"- Timing (ms): `{result.timing_ms}`"
    if result.tier != "none":
        yield f"- Tier: `{result.tier}`"
    for note in notes:
        yield f"- {note}"


def _rejections(result: ExecutionResult) -> Iterator[str]:
    if result.safety_rejections:
        yield f"- Safety rejections: `{len(result.safety_rejections)}`"
        yield from (f"  - {visible_line(rejection)}" for rejection in result.safety_rejections)


def _section(title: str, text: str) -> Iterator[str]:
    if text:
        yield from ("", f"### {title}", *fenced(_cut(text.rstrip("\n"), STREAM_MAX)))


def _cut(text: str, most: int) -> str:
    """Return the beginning of a text, up to the end of a line if there is one, and that it is cut.

    A cut result is not valid JSON, which its last line says. What the box says of output that it
    has dropped stays.
    """
    if len(text) <= most:
        return text
    kept = text[:most]
    kept = kept[: kept.rfind("\n")] if "\n" in kept else kept
    dropped = _DROPPED.search(text)
    return "\n".join([kept, CUT.format(most), *([dropped[0]] if dropped else [])])


def _bounded(lines: Sequence[str]) -> str:
    """Return lines as one text of at most `TEXT_MAX` characters; what is cut off is said.

    An open fence is closed, so that what follows the answer stays outside of it.
    """
    size, fence = 0, ""
    for number, line in enumerate(lines):
        size += len(line) + 1
        if size > TEXT_MAX:
            last = [fence] if fence else []
            return "\n".join([*lines[:number], *last, CUT.format(TEXT_MAX)])
        bare = line.strip()
        if fence:
            fence = "" if bare == fence.strip() else fence
        elif bare.startswith("```"):
            fence = line[: len(line) - len(line.lstrip())] + "`" * (
                len(bare) - len(bare.lstrip("`"))
            )
    return "\n".join(lines)


def failure(message: str, exit_code: int) -> ExecutionResult:
    """Return the result of a run that did not begin."""
    return ExecutionResult(success=False, exit_code=exit_code, tier="none", stderr=message)


def as_json(result: ExecutionResult, notes: Sequence[str]) -> dict[str, Any]:
    """Return a result as the command line prints it with `--json`."""
    return {**asdict(result), "notes": list(notes)}
