"""Entry point: a search goes straight to work, the other verbs go through Typer.

Nothing is imported before it is needed: a search that the daemon answers loads no module of any
weight (`cli.fast`), and one that is done here neither Typer nor rich nor pyarrow.
"""

from __future__ import annotations

import os
import sys

from triseek.cli import status
from triseek.cli.quick import COMPLETION, HELP, HOOKS, is_quick, perform

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from triseek.cli.fast import Left
    from triseek.cli.world import World


def main() -> NoReturn:
    """Run the command line and leave the process."""
    _reopen_closed_streams()
    words = sys.argv[1:]
    try:
        if words and words[0] in HOOKS and words[1:] not in HELP:
            # All is written; an interpreter that tidies up takes a tenth of the time of a hook.
            os._exit(_hook(words))
        sys.exit(_quick(words) if is_quick(words) else run(words))
    except KeyboardInterrupt:
        sys.exit(status.INTERRUPTED)


def _reopen_closed_streams() -> None:
    """Point standard streams that were closed at the null device, as ripgrep's runtime does.

    Otherwise a file opened later gets their number, and Python prints errors on standard output.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)
            # Open until the process ends, as the stream it stands for.
            stream = open(descriptor, "w" if descriptor else "r", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, stream)


def _quick(words: Sequence[str]) -> int:
    """Have the daemon do it; do here what it does not do, then see to it that there is one."""
    from triseek.cli import fast

    try:
        answer = fast.ask(words)
    except OSError as error:
        return _unwritable(error, words)
    if isinstance(answer, int):
        return answer
    code = _resume(words, answer) if answer.begun else run(words)
    if code != status.INTERRUPTED:
        _follow_up(answer)
    return code


def _hook(words: Sequence[str]) -> int:
    """Tell the daemon what an agent did. An agent is never disturbed by it: always 0."""
    from triseek.cli import fast

    try:
        answer = fast.ask(words)
    except OSError:
        return status.FOUND
    if not isinstance(answer, int) and answer.follow_up:
        from triseek.ipc import aside

        aside.behind("replace" if answer.follow_up == "replace" else "behind")
    return status.FOUND


def _follow_up(left: Left) -> None:
    """See to it that there is a daemon next time."""
    if left.follow_up:
        from triseek.ipc import spawn

        spawn.replace_behind() if left.follow_up == "replace" else spawn.behind()


def _resume(words: Sequence[str], left: Left) -> int:
    from triseek.cli.resume import Resumed

    resumed = Resumed(left)
    return resumed.finish(run(words, resumed.world()))


def _unwritable(error: OSError, words: Sequence[str]) -> int:
    """Standard output takes no more, as on a full disk: said as a search done here says it."""
    from triseek.cli.edge import settled
    from triseek.cli.world import to_stderr

    def fail() -> int:
        raise error

    return settled(fail, to_stderr, words)


def run(words: Sequence[str], world: World | None = None) -> int:
    """Run one command in this process and return its exit status. Never raises."""
    try:
        from triseek.cli.edge import settled
        from triseek.cli.world import World, to_stderr

        def work() -> int:
            code = _dispatch(words, world or World.here())
            sys.stdout.flush()
            return code

        code = settled(work, world.err if world else to_stderr, words)
    except BrokenPipeError:
        _forget_stdout()
        return status.FOUND
    except KeyboardInterrupt:
        return status.INTERRUPTED
    if code == status.BUG:
        _forget_stdout()  # what is left in its buffer may be what could not be written
    return code


def _dispatch(words: Sequence[str], world: World) -> int:
    if not words and COMPLETION not in os.environ:
        from triseek.cli.help import short

        world.err(short().rstrip())
        return status.ERROR
    if words and words[0] in ("--version", "-V"):
        from triseek.cli.search_verb import version

        return version(world)
    if words[:2] == ["mcp", "serve"]:
        from triseek.cli import mcp_verb

        served = mcp_verb.serve_from_words(words[2:])
        if served is not None:
            return served
    code = perform(words, world) if is_quick(words) else None
    if code is None:
        from triseek.cli.app import run_app

        return run_app(words)
    return code


def _forget_stdout() -> None:
    """Whoever read our output has left: let nothing be written when the interpreter closes."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return  # standard output was no file to begin with
