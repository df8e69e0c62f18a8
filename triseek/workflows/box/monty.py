"""The runner `monty`: an interpreter that has no system calls, in a process that can be killed.

It comes with the extra `monty`. It starts in milliseconds and knows a part of Python: no
`asyncio.to_thread`, no `sys.exit`, few modules. Scripts need a function `run`.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

from triseek.workflows.box import results
from triseek.workflows.box.functions import Caller, CallRejected
from triseek.workflows.box.names import TOOLS
from triseek.workflows.box.output import MAX_OUTPUT_BYTES, Output
from triseek.workflows.execution import MARKER, OUT_OF_MEMORY, TIMED_OUT, ExecutionResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.workflows.execution import Functions, Limits, Script

_TICK_S = 0.05
_MAX_CALLS = 5000
_FAILED, _KILLED = 1, 137
_UNUSED = "triseek_unused"
_ARGUMENTS = "triseek_arguments"


def run(
    script: Script,
    args: dict[str, Any],
    functions: Functions,
    limits: Limits,
    cancelled: Callable[[], bool],
) -> ExecutionResult:
    """Run a script in a worker of its own, which ends with it."""
    try:
        import pydantic_monty
    except ImportError:
        return results.not_started("monty is not installed: pip install 'triseek[monty]'")
    caller = Caller(functions)
    execution = _Execution(limits, cancelled)
    try:
        with (
            pydantic_monty.Monty(
                min_processes=1, max_processes=1, checkout_timeout=limits.seconds
            ) as pool,
            pool.checkout(
                script_name="custom_workflow_code.py",
                limits={"max_memory": limits.memory_bytes, "max_suspensions": _MAX_CALLS},
                external_modules={"runtime": _runtime(functions, caller)},
            ) as session,
            execution.watching(session.worker_pid),
        ):
            exit_code = execution.run(session, script.source, args)
    except (OSError, TimeoutError) as error:
        return results.not_started(f"runner failed to start subprocess: {error}")
    result = results.finished(
        execution.stdout, execution.stderr, exit_code, "monty", limits, execution.notes
    )
    result.calls = caller.records
    return result


def _runtime(functions: Functions, caller: Caller) -> Any:  # noqa: ANN401
    """The package `runtime` as the script imports it."""
    from pydantic_monty import ExternalModule

    def tool(name: str) -> Callable[..., Any]:
        def call(*positional: object, **keywords: object) -> Any:  # noqa: ANN401
            try:
                return caller.call(name, caller.bind(name, positional, keywords))
            except CallRejected as error:
                raise RuntimeError(str(error)) from None

        return call

    tools = {name: tool(name) for name in functions} | {_UNUSED: None}
    return ExternalModule({"zoekt_tools": ExternalModule(tools)})


class _Execution:
    """One run: what it prints, and what ends it."""

    def __init__(self, limits: Limits, cancelled: Callable[[], bool]) -> None:
        self._deadline = time.monotonic() + limits.seconds
        self._cancelled = cancelled
        self._over = threading.Event()
        self._ended_with: int | None = None
        """The exit code of a run that was ended from outside."""
        self.stdout = Output("stdout", limits.stdout_bytes, limits.result_bytes)
        self.stderr = Output("stderr", limits.stderr_bytes)
        self.notes: list[str] = []

    @contextlib.contextmanager
    def watching(self, worker: int | None) -> Any:  # noqa: ANN401
        """Kill the worker at the deadline, when nobody waits any more, or after too much output."""
        watcher = threading.Thread(target=self._watch, args=(worker,), name="box-monty")
        watcher.start()
        try:
            yield
        finally:
            self._over.set()
            watcher.join()

    def run(self, session: Any, source: str, args: dict[str, Any]) -> int:  # noqa: ANN401
        """Run the source, then its entry point; return the exit code."""
        import pydantic_monty

        try:
            source, names = _without_exception(source)
            for name in names:
                session.feed_run(f"{name} = RuntimeError")
            session.feed_run(source, print_callback=self._print)
            if not (call := _entry_call(source)):
                return 0
            result = session.feed_run(call, inputs={_ARGUMENTS: args}, print_callback=self._print)
            return self._finish(result)
        except pydantic_monty.MontyCrashedError as error:
            if self._ended_with is None:
                self.notes.append(f"the interpreter ended: {error}")
            return _KILLED if self._ended_with is None else self._ended_with
        except pydantic_monty.MontyError as error:
            return self._fail(error)

    def _finish(self, result: object) -> int:
        if isinstance(result, int) and not isinstance(result, bool):
            self.stdout.feed(f"\n{MARKER}null\n".encode())
            return result & 255
        try:
            text = json.dumps(result, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            self.notes.append(f"the result is no JSON: {error}")
            return _FAILED
        self.stdout.feed(f"\n{MARKER}{text}\n".encode())
        return 0

    def _fail(self, error: Any) -> int:  # noqa: ANN401
        cause = error.exception()
        if isinstance(cause, SystemExit):
            return (cause.code if isinstance(cause.code, int) else _FAILED) & 255
        self.notes.append(error.display())
        return OUT_OF_MEMORY if isinstance(cause, MemoryError) else _FAILED

    def _print(self, stream: str, text: str) -> None:
        output = self.stdout if stream == "stdout" else self.stderr
        output.feed(text.encode("utf-8", "replace"))

    def _watch(self, worker: int | None) -> None:
        while not self._over.wait(min(_TICK_S, max(0.0, self._deadline - time.monotonic()))):
            if time.monotonic() >= self._deadline:
                self._ended_with = TIMED_OUT
            elif self.stdout.bytes_seen + self.stderr.bytes_seen > MAX_OUTPUT_BYTES:
                self.notes.append(f"ended after {MAX_OUTPUT_BYTES} bytes of output")
                self._ended_with = _KILLED
            elif self._cancelled():
                self.notes.append("cancelled")
                self._ended_with = _FAILED
            if self._ended_with is not None:
                if worker is not None:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(worker, signal.SIGKILL)
                return


def _without_exception(source: str) -> tuple[str, list[str]]:
    """Take `ZoektRuntimeError` out of imports; return the names that it is to have.

    An exception class of ours cannot cross. What functions of the host raise is a RuntimeError
    in the script. Lines keep their numbers.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source, []
    lines = source.encode().splitlines(keepends=True)
    names = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.module != TOOLS:
            continue
        for alias in reversed(node.names):  # from the right: columns to the left stay true
            if alias.name == "ZoektRuntimeError" and alias.lineno == alias.end_lineno:
                line = lines[alias.lineno - 1]
                names.append(alias.asname or alias.name)
                lines[alias.lineno - 1] = (
                    line[: alias.col_offset] + _UNUSED.encode() + line[alias.end_col_offset :]
                )
    return b"".join(lines).decode(), names


def _entry_call(source: str) -> str:
    """The expression that calls the script's `run`; "" if it has none."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return f"run({_ARGUMENTS})"
    for node in body:
        if isinstance(node, ast.AsyncFunctionDef) and node.name == "run":
            return f"await run({_ARGUMENTS})"
        if isinstance(node, ast.FunctionDef) and node.name == "run":
            return f"run({_ARGUMENTS})"
    return ""
