"""Entry point: a search runs directly, the other verbs go through Typer.

Nothing is imported before it is needed: a search that the daemon answers loads no heavy module
(`cli.fast`), and one that runs in this process loads neither Typer nor rich nor pyarrow.
"""

from __future__ import annotations

import os
import sys

from triseek.cli.quick import COMPLETION, HELP, HOOKS, is_quick, perform, version
from triseek.terminal import status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from triseek.cli.fast import Left
    from triseek.terminal.command_context import CommandContext


def main() -> NoReturn:
    """Run the command line and end the process."""
    _reopen_closed_streams()
    words = sys.argv[1:]
    try:
        if words and words[0] in HOOKS and words[1:] not in HELP:
            # All is written; the interpreter's clean-up takes a tenth of the time of a hook.
            os._exit(_hook(words))
        if words[:2] == ["mcp", "serve"]:
            sys.exit(_serve_agent(words))
        if words[:2] == ["memory", "serve"]:
            sys.exit(_serve_memory(words))
        sys.exit(_quick(words) if is_quick(words) else run(words))
    except KeyboardInterrupt:
        sys.exit(status.INTERRUPTED)


def _reopen_closed_streams() -> None:
    """Point closed standard streams at the null device, as ripgrep's runtime does.

    Otherwise a file opened later gets their number, and Python prints errors on standard output.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)
            # It stays open until the process ends, like the stream it stands for.
            stream = open(descriptor, "w" if descriptor else "r", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, stream)


def _quick(words: Sequence[str]) -> int:
    """Have the daemon run a command; do here what it did not do, then start one if needed."""
    from triseek.cli import fast

    try:
        answer = fast.ask(words)
    except OSError as error:
        return _failed(error, words)
    if isinstance(answer, int):
        return answer
    code = _resume(words, answer) if answer.begun else run(words)
    if code != status.INTERRUPTED:
        _follow_up(answer)
    return code


def _hook(words: Sequence[str]) -> int:
    """Send an agent's hook to the daemon. Always returns 0, so that no agent is disturbed."""
    from triseek.cli import fast

    try:
        answer = fast.ask(words)
    except OSError:
        return status.FOUND
    if not isinstance(answer, int) and answer.follow_up:
        from triseek.ipc import aside

        aside.behind("replace" if answer.follow_up == "replace" else "behind")
    return status.FOUND


def _serve_agent(words: Sequence[str]) -> int:
    """Serve an agent through a pipe to the daemon; the pipe imports next to nothing."""
    from triseek.cli import mcp_verb

    plain = mcp_verb.read(words[2:])
    if plain is None:
        return run(words)
    try:
        return mcp_verb.serve(**plain)
    except Exception as error:  # noqa: BLE001 - an edge: said as every command says it
        return _failed(error, words)


def _serve_memory(words: Sequence[str]) -> int:
    """Serve a client of the memory by standard streams."""
    from triseek.cli import mcp_verb, memory_verb

    plain = mcp_verb.read(words[2:], memory_verb.USUAL)
    if plain is None:
        return run(words)
    try:
        return memory_verb.serve(**plain)
    except Exception as error:  # noqa: BLE001 - an edge: said as every command says it
        return _failed(error, words)


def _follow_up(left: Left) -> None:
    """Start or replace the daemon for the next command, if that is needed."""
    if left.follow_up == "replace":  # the old daemon may take seconds to finish its requests
        from triseek.ipc import aside

        aside.behind("replace")
    elif left.follow_up:
        from triseek.ipc import spawn

        spawn.behind()


def _resume(words: Sequence[str], left: Left) -> int:
    from triseek.cli.resume import ResumedCommand

    resumed = ResumedCommand(left)
    return resumed.finish(run(words, resumed.context()))


def _failed(error: Exception, words: Sequence[str]) -> int:
    """Report an error on standard error; return its exit status."""
    from triseek.cli.error_boundary import settled
    from triseek.terminal.command_context import to_stderr

    def fail() -> int:
        raise error

    return settled(fail, to_stderr, words)


def run(words: Sequence[str], context: CommandContext | None = None) -> int:
    """Run one command in this process and return its exit status. Never raises."""
    try:
        from triseek.cli.error_boundary import settled
        from triseek.terminal.command_context import CommandContext, to_stderr

        def work() -> int:
            code = _dispatch(words, context or CommandContext.here())
            sys.stdout.flush()
            return code

        code = settled(work, context.err if context else to_stderr, words)
    except BrokenPipeError:
        _forget_stdout()
        return status.FOUND
    except KeyboardInterrupt:
        return status.INTERRUPTED
    if code == status.BUG:
        _forget_stdout()  # its buffer may still hold what could not be written
    return code


def _dispatch(words: Sequence[str], context: CommandContext) -> int:
    if not words and COMPLETION not in os.environ:
        from triseek.cli.search_help import SHORT

        context.err(SHORT.rstrip())
        return status.ERROR
    if words and words[0] in ("--version", "-V"):
        return version(context)
    code = perform(words, context) if is_quick(words) else None
    if code is None:
        from triseek.cli.command_tree import run_app

        return run_app(words)
    return code


def _forget_stdout() -> None:
    """Point standard output, whose reader has left, at the null device: exit writes nothing."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return  # standard output is not a file
