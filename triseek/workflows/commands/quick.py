"""`triseek workflow list`, `show` and `run`: without Typer, in the daemon if there is one."""

from __future__ import annotations

import json as json_module
import stat
from typing import TYPE_CHECKING, Annotated, Any

from triseek.errors import Cancelled, InvalidRequest, RepoNotDetected
from triseek.terminal import plain_words, report_text, status
from triseek.terminal.plain_words import Argument, Json, Option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from triseek.terminal.command_context import CommandContext
    from triseek.workflows.running import Run, Workflows

_SCRIPT_MAX = 1 << 20
"""Bytes of a script that are read; the longest that is run has fewer."""
_opens: list[Callable[[CommandContext, str], AbstractContextManager[Workflows]]] = []


def provide(opens: Callable[[CommandContext, str], AbstractContextManager[Workflows]]) -> None:
    """Set what returns, for a command and a folder, what runs workflows there.

    It joins the wing with what it does not know.
    """
    _opens[:] = [opens]


def show_all(
    context: CommandContext,
    query: Annotated[str, Argument("[WORDS]", "Only what matches.")] = "",
    json: Json = False,
) -> int:
    """List workflows, and functions that scripts can call.

    Examples: triseek workflow list · triseek workflow list "find callers"
    """
    from triseek.workflows.catalog.search import LIMIT_MAX, search

    hits = search(query, LIMIT_MAX)
    if json:
        documents = [
            {"id": hit.id, "kind": hit.kind, "summary": hit.summary, "arguments": hit.schema()}
            for hit in hits
        ]
        context.print(report_text.as_json(documents))
    elif hits:
        width = max(len(hit.id) for hit in hits)
        context.print("\n".join(f"{hit.id:{width}}  {hit.summary}" for hit in hits))
    else:
        context.err("No workflow matches.")
    return status.FOUND if hits else status.NOTHING


def show(
    context: CommandContext,
    name: Annotated[str, Argument("ID", "As `workflow list` has it.")],
    json: Json = False,
) -> int:
    """Show how to call a workflow: arguments, examples, limits, result.

    Example: triseek workflow show symbol_usage
    """
    from triseek.workflows.catalog import pages
    from triseek.workflows.catalog.search import read

    capability = read(name)
    if capability is None:
        raise InvalidRequest(
            f"there is no workflow {name[:80]!r}", next_step="See `triseek workflow list`."
        )
    if json:
        document = {
            "id": capability.id, "kind": capability.kind, "summary": capability.summary,
            "description": capability.description, "arguments": capability.schema(),
            "examples": list(capability.examples), "constraints": list(capability.constraints),
            "output": dict(capability.output),
        }  # fmt: skip
        context.print(report_text.as_json(document))
    else:
        context.print(report_text.readable(pages.document(capability)))
    return status.FOUND


def run(
    context: CommandContext,
    words: Annotated[
        list[str] | None, Argument("ID [--FLAG VALUE]…", "A workflow and its arguments.")
    ] = None,
    code: Annotated[str, Option("FILE", "A script to run; - is standard input.")] = "",
    args: Annotated[str, Option("JSON", "An object that the script gets.")] = "{}",
    timeout: Annotated[int, Option("SECONDS", "Time limit; 0: the setting.")] = 0,
    in_: Annotated[str, Option("PATH", "The folder to work in; here if none.")] = ".",
    json: Json = False,
) -> int:
    """Run a workflow, or a script of your own with --code. The exit status is its own.

    The options below go before the workflow's id; --json may stand behind it, too.

    Examples: triseek workflow run symbol_usage --query "ProcessOrder lang:go" --limit 8 ·
    triseek workflow run --code trace.py --args '{"names": ["ProcessOrder"]}'
    """
    from triseek.workflows import rendering

    command = [word for word in words or () if word != "--json"]
    json = json or len(command) < len(words or ())
    if code and command:
        raise InvalidRequest(
            f"--code runs a script: {command[0]!r} has no meaning beside it",
            next_step="Pass the script's arguments by --args.",
        )
    if not stat.S_ISDIR(_mode(context, in_)):
        raise RepoNotDetected(f"{in_}: no such folder")
    if not _opens:
        raise InvalidRequest("this process runs no workflows")
    with _opens[0](context, context.folder(in_)) as workflows:
        finished = _finished(context, workflows, command, code, args, timeout)
    if json:
        context.print(report_text.as_json(rendering.as_json(finished.result, finished.notes)))
    else:
        context.print(report_text.readable(finished.markdown))
    return finished.result.exit_code & 0xFF


VERBS: dict[str, Callable[..., int]] = {"list": show_all, "show": show, "run": run}
"""`app.wings.QUICK` has the same names."""


def perform(words: Sequence[str], context: CommandContext) -> int | None:
    """Run a verb with its arguments; return None if they are left to Typer.

    Raises:
        NeedsClient: A daemon cannot run the command.
        TriseekError: As the verb.
    """
    command = VERBS[words[0]]
    values = plain_words.read(command, words[1:], options_first=command is run)
    return None if values is None else command(context, **values)


def _finished(
    context: CommandContext,
    workflows: Workflows,
    command: list[str],
    code: str,
    args: str,
    timeout: int,
) -> Run:
    """Run a command or a script; it ends if nobody waits for the answer."""

    def cancelled() -> bool:
        try:
            context.check()
        except (BrokenPipeError, Cancelled):
            return True
        return False

    if code:
        script, values = _script(context, code), _arguments(args)
        return workflows.run_code(script, values, timeout, cancelled)
    return workflows.run_command(command, timeout, cancelled)


def _script(context: CommandContext, path: str) -> str:
    try:
        data = context.read_stdin()[:_SCRIPT_MAX] if path == "-" else _head(context, path)
        return data.decode("utf-8")
    except OSError as error:
        raise InvalidRequest(f"{path}: {error.strerror}", next_step="Name a file.") from None
    except UnicodeDecodeError:
        raise InvalidRequest(f"{path}: it is not UTF-8", next_step="Save it as UTF-8.") from None
    except ValueError:
        raise InvalidRequest("the name of a file holds a NUL", next_step="Name a file.") from None


def _head(context: CommandContext, path: str) -> bytes:
    context.stat(path)  # a pipe is read by the process that has it
    with open(context.at(path), "rb") as file:
        return file.read(_SCRIPT_MAX)


def _mode(context: CommandContext, path: str) -> int:
    """Return the mode of a typed path; 0 if there is none. Raises `NeedsClient`."""
    try:
        return context.stat(path).st_mode
    except (OSError, ValueError):
        return 0


def _arguments(text: str) -> dict[str, Any]:
    try:
        document = json_module.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise InvalidRequest(
            "--args takes a JSON object", next_step="""Try --args '{"name": "value"}'."""
        )
    return document
