"""Entry point: a search goes straight to work, the other verbs go through Typer.

Nothing is imported before it is needed: a search that the daemon answers loads no module of any
weight (`cli.fast`), and one that is done here neither Typer nor rich nor pyarrow.
"""

from __future__ import annotations

import os
import sys

from triseek.cli import status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from triseek.cli.fast import Left
    from triseek.cli.world import World
    from triseek.service.service import Service

VERBS = frozenset(
    (
        "search", "find-files", "build", "update", "reindex", "index-status", "measure", "check",
        "stats", "warmup", "daemon", "frecency-select",
    )
)  # fmt: skip
"""First words that are not patterns. `triseek search build` searches for the word build."""
APP_OPTIONS = frozenset(("-h", "--help", "--install-completion", "--show-completion"))
COMPLETION = "_TRISEEK_COMPLETE"
"""The variable by which a shell asks for completions."""


def main() -> NoReturn:
    """Run the command line and leave the process."""
    words = sys.argv[1:]
    try:
        sys.exit(_quick(words) if is_quick(words) else run(words))
    except KeyboardInterrupt:
        sys.exit(status.INTERRUPTED)


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
    if answer.follow_up and code != status.INTERRUPTED:
        from triseek.ipc import spawn

        spawn.replace() if answer.follow_up == "replace" else spawn.behind()
    return code


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


def is_quick(words: Sequence[str]) -> bool:
    """Whether the words are a search or find-files, as far as a glance at them tells."""
    first = words[0] if words else "--help"
    return not (
        COMPLETION in os.environ
        or first in APP_OPTIONS
        or first in ("--version", "-V")
        or first in VERBS - {"search", "find-files"}
    )


def run(words: Sequence[str], world: World | None = None) -> int:
    """Run one command in this process and return its exit status. Never raises."""
    try:
        from triseek.cli.edge import settled
        from triseek.cli.world import World, to_stderr

        def work() -> int:
            code = _dispatch(words, world or World.here())
            sys.stdout.flush()
            return code

        return settled(work, world.err if world else to_stderr, words)
    except BrokenPipeError:
        _forget_stdout()
        return status.FOUND
    except KeyboardInterrupt:
        return status.INTERRUPTED


def _dispatch(words: Sequence[str], world: World) -> int:
    if not words and COMPLETION not in os.environ:
        from triseek.cli.help import short

        world.err(short().rstrip())
        return status.ERROR
    if words and words[0] in ("--version", "-V"):
        from triseek.cli.search_verb import version

        return version(world)
    if not is_quick(words):
        from triseek.cli.app import run_app

        return run_app(words)
    return perform(words, world)


def perform(words: Sequence[str], world: World, service: Service | None = None) -> int:
    """Do a search or find-files; with a service, in a daemon's thread for somebody else.

    Raises:
        NeedsClient: a daemon cannot do it.
    """
    if words[0] == "find-files":
        return _find_files(words, world, service)
    from triseek.cli.search_verb import search

    return search(words[1:] if words[0] == "search" else words, world, service)


def _find_files(words: Sequence[str], world: World, service: Service | None) -> int:
    from triseek.cli.find_words import read

    plain = read(words[1:])
    if plain is not None:
        from triseek.cli.commands.find_files import find_from_words

        return find_from_words(plain, world, service)
    if service is not None:
        from triseek.cli.world import NeedsClient

        raise NeedsClient("words")  # a daemon has no Typer
    from triseek.cli.app import run_app

    return run_app(words)


def _forget_stdout() -> None:
    """Whoever read our output has left: let nothing be written when the interpreter closes."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return  # standard output was no file to begin with
