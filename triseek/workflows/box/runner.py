"""Runs a script in a box and returns what came of it. `run` is the entry point of the package."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import triseek
from triseek.workflows.box import bubblewrap, results, safety, tasks, tiers
from triseek.workflows.box.channel import BrokenProtocol, Channel
from triseek.workflows.box.folder import MAX_BYTES, MAX_ENTRIES, Folder
from triseek.workflows.box.functions import Caller, describe
from triseek.workflows.box.names import TOOL_NAMES
from triseek.workflows.box.output import MAX_OUTPUT_BYTES, Output
from triseek.workflows.execution import TIMED_OUT, ExecutionResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.workflows.box.tiers import Boundaries, WeakestTier
    from triseek.workflows.execution import Functions, Limits, Script, Tier

_KEPT_VARIABLES = ("LANG", "LC_ALL", "LC_CTYPE", "PATH", "TZ")
_START = (
    "import sys; sys.path.append({root!r}); "
    "from triseek.workflows.box.child.launch import main; sys.exit(main({channel}, {root!r}))"
)
_TICK_S = 0.05
_END_S = 3.0
"""How long the box's first process may take to end all others."""
_CPU_TIME_OVER, _TOO_MUCH, _FAILED = 128 + int(signal.SIGXCPU), 137, 1


def run(
    script: Script,
    args: dict[str, Any],
    functions: Functions,
    limits: Limits,
    *,
    runner: Literal["python", "monty"] = "python",
    weakest: WeakestTier = "kernel",
    cancelled: Callable[[], bool] = lambda: False,
    validate: bool = True,
    boundaries: Boundaries | None = None,
) -> ExecutionResult:
    """Run a script to its end, or to that of its limits.

    Args:
        script: what to run. It is checked first, unless it is trusted.
        args: the argument of its entry point; JSON.
        functions: the functions of `runtime.zoekt_tools`. They run in threads of this process.
        limits: seconds, bytes of output, bytes of memory.
        runner: `python`, or `monty`: an interpreter without system calls.
        weakest: the weakest tier in which a script that is not trusted may run.
        cancelled: asked every 50 ms; True ends the script.
        validate: whether the safety policy is asked. Tests of the boundary leave it out.
        boundaries: what the machine has; tests take parts away.

    Raises:
        TypeError, ValueError: `args` is not JSON, or a function has positional parameters.
    """
    began = time.monotonic()
    if validate and not script.trusted:
        rejections = safety.check(script.source, functions or TOOL_NAMES)
        if rejections:
            return results.rejected(rejections)
    if runner == "monty":
        from triseek.workflows.box import monty

        result = monty.run(script, args, functions, limits, cancelled)
    else:
        have = tiers.boundaries() if boundaries is None else boundaries
        try:
            tier = tiers.choose(have, weakest, trusted=script.trusted)
        except tiers.NoTier as error:
            return results.not_started(str(error))
        result = _run(script, args, functions, limits, tier, have, cancelled)
    result.timing_ms = round((time.monotonic() - began) * 1000)
    return result


def _run(
    script: Script,
    args: dict[str, Any],
    functions: Functions,
    limits: Limits,
    tier: Tier,
    have: Boundaries,
    cancelled: Callable[[], bool],
) -> ExecutionResult:
    caller = Caller(functions)
    with Folder() as folder:
        start = {
            "source": script.source,
            "trusted": script.trusted,
            "arguments": args,
            "functions": describe(functions),
            "seconds": limits.seconds,
            "memory_bytes": limits.memory_bytes,
            "landlock": bool(have.landlock),
            "seccomp": have.seccomp,
            "limit_processes": tier == "process" and not have.seccomp,
            "folder": bubblewrap.FOLDER if tier == "bubblewrap" else folder.path,
        }
        frame = json.dumps(start, allow_nan=False).encode()
        ours, theirs = socket.socketpair()
        with contextlib.closing(Channel(ours, caller)) as channel:
            try:
                process = _start(
                    folder.path, theirs, have.bubblewrap if tier == "bubblewrap" else ""
                )
            except OSError as error:
                return results.not_started(f"runner failed to start subprocess: {error}")
            finally:
                theirs.close()
            with process:
                execution = _Execution(process, channel, limits, folder)
                ours.settimeout(limits.seconds)
                channel.send(frame)
                ours.settimeout(None)
                exit_code = execution.wait(cancelled)
            ended = exit_code == TIMED_OUT or bool(execution.notes)
            if not (channel.ready or ended):
                return results.not_started(execution.failure())
            result = results.finished(
                execution.stdout, execution.stderr, exit_code, tier, limits, execution.notes
            )
            result.calls = caller.records
            return result


def _start(folder: str, channel: socket.socket, wrapper: str) -> subprocess.Popen[bytes]:
    """Start the box's first process.

    Raises:
        OSError: it cannot be started.
    """
    # Not a virtual environment's link: the box has no packages, only the standard library.
    base = getattr(sys, "_base_executable", None) or sys.executable
    package = Path(triseek.__file__).parent
    code = _START.format(root=str(package.parent), channel=channel.fileno())
    words = [base, "-I", "-S", "-u", "-c", code]
    if wrapper:
        base = words[0] = os.path.realpath(base)
        words = [*bubblewrap.words(wrapper, base, package), *words]
    environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    environment |= {"HOME": folder, "MALLOC_ARENA_MAX": "2"}
    return subprocess.Popen(
        words,
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=(channel.fileno(),),
        start_new_session=True,
        umask=0o077,
        bufsize=0,
    )


class _Execution:
    """A running box: its output is read, its calls are answered, its limits are watched."""

    def __init__(
        self, process: subprocess.Popen[bytes], channel: Channel, limits: Limits, folder: Folder
    ) -> None:
        self._process = process
        self._channel = channel
        self._folder = folder
        self._deadline = time.monotonic() + limits.seconds
        self._selector = selectors.DefaultSelector()
        self.stdout = Output("stdout", limits.stdout_bytes, limits.result_bytes)
        self.stderr = Output("stderr", limits.stderr_bytes)
        self.notes: list[str] = []

    def wait(self, cancelled: Callable[[], bool]) -> int:
        """Wait for the end of the script, or end it; return its exit code."""
        with self._selector, contextlib.ExitStack() as stack:
            self._watch(stack)
            try:
                exit_code = self._loop(cancelled)
            except BrokenProtocol as error:
                self.notes.append(f"ended for what it sent to its host: {error}")
                exit_code = _FAILED
            finally:
                self._end()
            self._drain()
        return TIMED_OUT if exit_code == _CPU_TIME_OVER else exit_code

    def failure(self) -> str:
        """Say why the script was not started."""
        reason = self._channel.refused or self.stderr.text().strip() or "it ended at once"
        return f"runner failed to start subprocess: {reason}"

    def _watch(self, stack: contextlib.ExitStack) -> None:
        for stream, output in (
            (self._process.stdout, self.stdout),
            (self._process.stderr, self.stderr),
        ):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, selectors.EVENT_READ, output)
        self._selector.register(self._channel, selectors.EVENT_READ)
        if hasattr(os, "pidfd_open"):
            with contextlib.suppress(OSError):
                ending = os.pidfd_open(self._process.pid)
                stack.callback(os.close, ending)
                self._selector.register(ending, selectors.EVENT_READ)

    def _loop(self, cancelled: Callable[[], bool]) -> int:
        watched = 0.0
        while (exit_code := self._process.poll()) is None:
            now = time.monotonic()
            if now >= self._deadline:
                return TIMED_OUT
            for key, _ in self._selector.select(min(_TICK_S, self._deadline - now)):
                self._take(key)
            if self.stdout.bytes_seen + self.stderr.bytes_seen > MAX_OUTPUT_BYTES:
                self.notes.append(f"ended after {MAX_OUTPUT_BYTES} bytes of output")
                return _TOO_MUCH
            if now - watched >= _TICK_S:
                watched = now
                if cancelled():
                    self.notes.append("cancelled")
                    return _FAILED
                if tasks.are_too_many(self._process.pid):
                    self.notes.append(
                        f"ended for more than {tasks.MAX_TASKS} threads and processes"
                    )
                    return _TOO_MUCH
                if self._folder.is_full():
                    self.notes.append(
                        "ended after it filled its folder: "
                        f"{MAX_BYTES} bytes or {MAX_ENTRIES} files"
                    )
                    return _TOO_MUCH
        return exit_code if exit_code >= 0 else 128 - exit_code

    def _take(self, key: selectors.SelectorKey) -> None:
        if isinstance(key.data, Output):
            self._read(key.fd, key.data)
        elif key.fileobj is self._channel:
            if not self._channel.wants_more():
                time.sleep(_TICK_S / 50)
            elif not self._channel.read():
                self._selector.unregister(self._channel)

    def _read(self, descriptor: int, output: Output) -> bool:
        """Read what a stream has; return whether it may have more."""
        try:
            data = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return False
        if data:
            output.feed(data)
        else:
            self._selector.unregister(descriptor)
        return bool(data)

    def _end(self) -> None:
        """End the box's processes: its first one does, when its input ends."""
        process = self._process
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _drain(self) -> None:
        """Read what is left in the pipes; a process that has escaped may hold them open."""
        for key in list(self._selector.get_map().values()):
            if isinstance(key.data, Output):
                while key.data.bytes_seen <= MAX_OUTPUT_BYTES and self._read(key.fd, key.data):
                    pass
