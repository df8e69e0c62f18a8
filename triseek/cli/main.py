"""Entry point: a search goes straight to work, the other verbs go through Typer.

Nothing is imported before it is needed: `triseek PATTERN` loads neither Typer nor rich nor
pyarrow. This is also the one place that turns errors into exit statuses.
"""

from __future__ import annotations

import os
import sys

from triseek.cli import status
from triseek.errors import TriseekError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

VERBS = frozenset(
    (
        "search", "find-files", "build", "update", "reindex", "index-status", "measure", "check",
        "stats", "warmup", "daemon",
    )
)  # fmt: skip
"""First words that are not patterns. `triseek search build` searches for the word build."""
APP_OPTIONS = frozenset(("-h", "--help", "--install-completion", "--show-completion"))
COMPLETION = "_TRISEEK_COMPLETE"
"""The variable by which a shell asks for completions."""


def main() -> NoReturn:
    """Run the command line and leave the process."""
    sys.exit(run(sys.argv[1:]))


def run(words: Sequence[str]) -> int:
    """Run one command and return its exit status. Never raises."""
    try:
        code = _dispatch(words)
        sys.stdout.flush()
    except TriseekError as error:
        _say(f"triseek: {_one_line(error)}")
        return status.ERROR
    except BrokenPipeError:
        _forget_stdout()
        return status.FOUND
    except KeyboardInterrupt:
        return status.INTERRUPTED
    except Exception:  # noqa: BLE001 - the outermost edge: a bug becomes a log and a status
        return _bug()
    return code


def _dispatch(words: Sequence[str]) -> int:
    if not words and COMPLETION not in os.environ:
        from triseek.cli.help import short

        _say(short().rstrip())
        return status.ERROR
    first = words[0] if words else ""
    if first in ("--version", "-V"):
        from triseek.cli.search_verb import version

        return version()
    if COMPLETION in os.environ or first in APP_OPTIONS or first in VERBS - {"search"}:
        from triseek.cli.app import run_app

        return run_app(words)
    from triseek.cli.search_verb import search

    return search(words[1:] if first == "search" else words)


def _one_line(error: TriseekError) -> str:
    """What is wrong and what to do, on one line."""
    message = " ".join(error.message.split("\n")).rstrip()
    if not error.next_step:
        return message
    stop = "" if message.endswith((".", "!", "?", ":")) else "."
    return f"{message}{stop} {error.next_step}"


def _say(message: str) -> None:
    try:
        print(message.encode(errors="replace").decode(), file=sys.stderr)
    except OSError:
        return  # nobody listens; the status still speaks


def _forget_stdout() -> None:
    """Whoever read our output has left: let nothing be written when the interpreter closes."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return  # standard output was no file to begin with


def _bug() -> int:
    """Write the traceback where it can be found, and say where."""
    import time
    import traceback

    from triseek import paths

    report = traceback.format_exc()
    name = os.path.join(paths.logs(), f"crash-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.log")
    try:
        os.makedirs(paths.logs(), exist_ok=True)
        with open(name, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"triseek {' '.join(sys.argv[1:])}\n\n{report}")
    except OSError:
        _say(report)
        name = "standard error"
    last = report.rstrip().rsplit("\n", 1)[-1]
    _say(f"triseek: a bug: {last}. The traceback is in {name}; please report it.")
    return status.BUG
