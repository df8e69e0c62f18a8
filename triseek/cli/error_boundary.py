"""Error boundary of a command: an error becomes one line and a status, a bug a log file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triseek.errors import Cancelled, TriseekError
from triseek.model.plain_text import visible
from triseek.terminal import status
from triseek.terminal.command_context import NeedsClient

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def settled(work: Callable[[], int], say: Callable[[str], None], words: Sequence[str]) -> int:
    """Run `work` and return its exit status, or the status of the error that it raised.

    Raises:
        BrokenPipeError: Nobody reads the output any more.
        Cancelled: Nobody waits for the output any more.
        NeedsClient: The work must be done by the process that the user started.
    """
    try:
        return work()
    except (BrokenPipeError, Cancelled, NeedsClient):
        raise
    except TriseekError as error:
        say(visible(f"triseek: {_one_line(error)}"))
        return status.ERROR
    except MemoryError:
        say("triseek: not enough memory; search fewer files, or ask for less with -m or -c")
        return status.ERROR
    except Exception:  # noqa: BLE001 - a bug becomes a log and a status
        return _bug(say, words)


def _one_line(error: TriseekError) -> str:
    """Return the message and the next step of an error, on one line."""
    message = " ".join(error.message.split("\n")).rstrip()
    if not error.next_step:
        return message
    stop = "" if message.endswith((".", "!", "?", ":")) else "."
    return f"{message}{stop} {error.next_step}"


def _bug(say: Callable[[str], None], words: Sequence[str]) -> int:
    """Write the traceback to the log folder or to standard error, and say where it is."""
    import time
    import traceback

    from triseek import paths, private
    from triseek.redaction import redact

    report = traceback.format_exc()
    name = os.path.join(paths.logs(), f"crash-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.log")
    try:
        private.make(paths.logs())
        with open(
            name, "w", encoding="utf-8", errors="backslashreplace", opener=private.opener
        ) as file:
            file.write(redact(f"triseek {' '.join(words)}\n\n{report}"))
    except OSError:
        say(visible(report))
        name = "standard error"
    last = report.rstrip().rsplit("\n", 1)[-1]
    say(visible(f"triseek: a bug: {last}. The traceback is in {name}; please report it."))
    return status.BUG
