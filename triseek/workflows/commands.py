"""The `triseek workflow` commands list, show and run, and `triseek workflows serve`."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triseek.errors import InvalidRequest
from triseek.terminal import options, report_text, status
from triseek.workflows import rendering
from triseek.workflows.catalog import pages
from triseek.workflows.catalog.search import LIMIT_MAX, read, search
from triseek.workflows.running import CODE_MAX

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from triseek.workflows.running import Run, Workflows

_EXTRA = {"allow_extra_args": True, "allow_interspersed_args": False}
"""What follows the id is the workflow's, whatever it looks like."""
SSE_PORT, HTTP_PORT = 8000, 8080

group = typer.Typer(
    help="Prebuilt workflows over code in one or many repositories.", no_args_is_help=True
)
servers = typer.Typer(help="A server of the workflow tools.", no_args_is_help=True)
_provided: dict[str, Any] = {}


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.add_typer(group, name="workflow")
    app.add_typer(servers, name="workflows")


def provide(
    workflows: Callable[[str], AbstractContextManager[Workflows]],
    serve: Callable[[str, str, int, int], int],
) -> None:
    """Set what runs and serves workflows: it joins the wing with what it does not know.

    Args:
        workflows: Returns, for a folder, what runs workflows there.
        serve: `serve(repo, host, sse_port, http_port)` returns the exit status.
    """
    _provided.update(workflows=workflows, serve=serve)


@group.command("list")
def show_all(
    query: Annotated[str, typer.Argument(metavar="[WORDS]", help="Only what matches.")] = "",
    json: options.Json = False,
) -> int:
    """List workflows, and functions that scripts can call.

    Examples: triseek workflow list · triseek workflow list "find callers"
    """
    hits = search(query, LIMIT_MAX)
    if json:
        documents = [
            {"id": hit.id, "kind": hit.kind, "summary": hit.summary, "arguments": hit.schema()}
            for hit in hits
        ]
        print(report_text.as_json(documents))
        return status.FOUND if hits else status.NOTHING
    width = max((len(hit.id) for hit in hits), default=0)
    for hit in hits:
        print(f"{hit.id:{width}}  {hit.summary}")
    if not hits:
        print("No workflow matches.", file=sys.stderr)
    return status.FOUND if hits else status.NOTHING


@group.command("show")
def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="As `workflow list` has it.")],
    json: options.Json = False,
) -> int:
    """Show how to call a workflow: arguments, examples, limits, result.

    Example: triseek workflow show symbol_usage
    """
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
        print(report_text.as_json(document))
    else:
        print(report_text.readable(pages.document(capability)))
    return status.FOUND


@group.command("run", context_settings=_EXTRA)
def run(
    context: typer.Context,
    code: Annotated[
        str, typer.Option("--code", metavar="FILE", help="A script to run; - is standard input.")
    ] = "",
    args: Annotated[
        str, typer.Option("--args", metavar="JSON", help="An object that the script gets.")
    ] = "{}",
    timeout: Annotated[
        int, typer.Option("--timeout", metavar="SECONDS", help="Time limit; 0: the setting.")
    ] = 0,
    root: Annotated[
        str, typer.Option("--in", metavar="PATH", help="The folder to work in; here if none.")
    ] = ".",
    json: options.Json = False,
) -> int:
    """Run a workflow, or a script of your own with --code. The exit status is its own.

    The options below go before the workflow's id; --json may stand behind it, too.

    Examples: triseek workflow run symbol_usage --query "ProcessOrder lang:go" --limit 8 ·
    triseek workflow run --code trace.py --args '{"names": ["ProcessOrder"]}'
    """
    folder = options.existing_folder(root)
    words = [word for word in context.args if word != "--json"]
    json = json or len(words) < len(context.args)
    if code and words:
        raise InvalidRequest(
            f"--code runs a script: {words[0]!r} has no meaning beside it",
            next_step="Pass the script's arguments by --args.",
        )
    with _needed("workflows")(folder) as workflows:
        if code:
            finished: Run = workflows.run_code(_script(code), _arguments(args), timeout)
        else:
            finished = workflows.run_command(words, timeout)
    if json:
        print(report_text.as_json(rendering.as_json(finished.result, finished.notes)))
    else:
        print(report_text.readable(finished.markdown))
    return finished.result.exit_code


def _script(path: str) -> str:
    try:
        data = sys.stdin.buffer.read(4 * CODE_MAX) if path == "-" else _head(Path(path))
        return data.decode("utf-8")
    except OSError as error:
        raise InvalidRequest(f"{path}: {error.strerror}", next_step="Name a file.") from None
    except UnicodeDecodeError:
        raise InvalidRequest(f"{path}: it is not UTF-8", next_step="Save it as UTF-8.") from None


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4 * CODE_MAX)


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


@servers.callback()
def servers_group() -> None:
    """Make a group of a Typer that has one verb."""


def _port(name: str, metavar: str, variable: str) -> Any:  # noqa: ANN401 - an option
    return typer.Option(name, metavar="PORT", envvar=variable, min=0, max=65_535, help=metavar)


@servers.command()
def serve(
    repo: Annotated[
        str,
        typer.Option("--repo", metavar="PATH", help="The folder to answer for; as `mcp serve`."),
    ] = "",
    sse_port: Annotated[
        int, _port("--sse-port", "Port of the SSE transport; 0: any.", "MCP_SSE_PORT")
    ] = SSE_PORT,
    http_port: Annotated[
        int,
        _port("--http-port", "Port of streamable HTTP; 0: any.", "MCP_STREAMABLE_HTTP_PORT"),
    ] = HTTP_PORT,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="A loopback address.")
    ] = "127.0.0.1",
) -> int:
    """Serve the workflow tools by MCP: SSE at /zoekt/sse and streamable HTTP at /zoekt/mcp.

    Clients need the bearer token that the server names when it starts. By standard streams:
    `triseek mcp serve --toolsets workflows`.

    Examples: triseek workflows serve · triseek workflows serve --sse-port 0 --http-port 0
    """
    exit_status: int = _needed("serve")(repo, host, sse_port, http_port)
    return exit_status


def _needed(name: str) -> Any:  # noqa: ANN401 - a function that `provide` has set
    if name not in _provided:
        raise InvalidRequest("this process runs no workflows")
    return _provided[name]
