"""Run workflows and scripts: the one way from a command or a script to its result."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triseek.errors import TriseekError
from triseek.model.call import never
from triseek.workflows import command_line, limits, rendering
from triseek.workflows.catalog.workflows import BY_ID
from triseek.workflows.execution import BAD_ARGUMENTS, NOT_STARTED, ExecutionResult, Script
from triseek.workflows.runtime.zoekt_tools import ZoektTools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from triseek.model.code_search import CodeSource
    from triseek.workflows.runtime.references import ParsedBy

SCRIPTS = Path(__file__).with_name("scripts")
CODE_MAX = 256 << 10
"""Most characters of a script."""
ARGS_MAX = 1 << 20
"""Most characters of its arguments as JSON."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run that has ended, or did not begin."""

    title: str
    """Above the answer, if it is not that of a prebuilt workflow."""
    result: ExecutionResult
    workflow: str = ""
    """The id of the prebuilt workflow."""
    notes: list[str] = field(default_factory=list)

    @property
    def markdown(self) -> str:
        """The answer for an agent."""
        if self.workflow:
            return rendering.workflow(self.workflow, self.result, self.notes)
        return rendering.custom(self.result, self.notes, self.title)


class Workflows:
    """Runs workflows over one source of code."""

    def __init__(
        self,
        source: Callable[[], CodeSource],
        symbols: ParsedBy,
        environ: Mapping[str, str],
    ) -> None:
        """Run workflows.

        Args:
            source: Returns what is searched. Raises `TriseekError`s.
            symbols: Returns the definitions of a file.
            environ: The environment variables that hold settings.
        """
        self._source = source
        self._symbols = symbols
        self._environ = environ

    def run_command(
        self,
        command: str | Sequence[str],
        timeout_seconds: float = 0,
        cancelled: Callable[[], bool] = never,
    ) -> Run:
        """Run a prebuilt workflow.

        Args:
            command: `<workflow_id> [--flag value]...`, or its words.
            timeout_seconds: Time limit; 0 or less for the default.
            cancelled: Returns whether nobody waits for the result any more.
        """
        title = rendering.COMMAND_TITLE
        try:
            parse = command_line.parse if isinstance(command, str) else command_line.parse_words
            workflow, values = parse(command)  # type: ignore[arg-type]
        except command_line.Misunderstood as error:
            return Run(title, rendering.failure(str(error), BAD_ARGUMENTS))
        source = (SCRIPTS / f"{workflow.id}.py").read_text("utf-8")
        script = Script(name=workflow.id, source=source, trusted=True)
        return self._run(title, script, values, timeout_seconds, cancelled)

    def run_code(
        self,
        code: str,
        args: Mapping[str, Any],
        timeout_seconds: float = 0,
        cancelled: Callable[[], bool] = never,
    ) -> Run:
        """Run a script of an agent, with `args` as the argument of its `run`.

        The other parameters are those of `run_command`.
        """
        title = rendering.CODE_TITLE
        problem = _problem(code, args)
        if problem:
            message = f"{command_line.PREFIX}{problem}"
            return Run(title, rendering.failure(message, BAD_ARGUMENTS))
        script = Script(name="custom_workflow_code", source=code)
        return self._run(title, script, dict(args), timeout_seconds, cancelled)

    def _run(
        self,
        title: str,
        script: Script,
        args: dict[str, Any],
        timeout_seconds: float,
        cancelled: Callable[[], bool],
    ) -> Run:
        from triseek.workflows.box.runner import run

        workflow = script.name if script.trusted else ""
        try:
            settings = limits.read(self._environ)
            tools = ZoektTools(self._source(), self._symbols)
        except TriseekError as error:
            message = f"{error.message}. {error.tool_step or error.next_step}".rstrip(". ") + "."
            return Run(title, rendering.failure(message, NOT_STARTED), workflow)
        result = run(
            script,
            args,
            tools.functions(),
            settings.limits(timeout_seconds),
            # Prebuilt workflows use asyncio.to_thread, which only the python runner has.
            runner="python" if script.trusted else settings.runner,  # type: ignore[arg-type]
            weakest=settings.weakest_tier,  # type: ignore[arg-type]
            cancelled=cancelled,
        )
        return Run(title, result, workflow, [*tools.notes, *_more(workflow, tools.cut)])


def _more(workflow: str, cut: str) -> list[str]:
    """Return a line that says what is cut and how to see more, if the caller can ask for more."""
    if not (cut and workflow):
        return [f"Note: {cut}; a larger limit shows more"] if cut else []
    limits = [name for name in BY_ID[workflow].arguments if name.endswith("limit")]
    flags = " or ".join(f"`--{name.replace('_', '-')}`" for name in limits)
    return [f"Note: {cut}; {flags} shows more"] if flags else []


def _problem(code: str, args: Mapping[str, Any]) -> str:
    """Return what is wrong with a script or its arguments; "" if nothing is."""
    if not code.strip():
        return "code must not be empty"
    if len(code) > CODE_MAX:
        return f"code has {len(code):,} characters, {CODE_MAX:,} are allowed"
    try:
        size = len(json.dumps(dict(args), allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return "args must be a JSON object, without NaN and Infinity"
    if size > ARGS_MAX:
        return f"args has {size:,} characters as JSON, {ARGS_MAX:,} are allowed"
    return ""
