"""The Typer app: every verb, its help, and completion. `cli.main` runs searches without it."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from triseek.app import workflow_runs
from triseek.app.wings import COMMANDS
from triseek.cli import daemon_verb, mcp_verb, memory_verb, quick, workflows_verb
from triseek.cli.commands import audit, brief, doctor, install, ui
from triseek.cli.commands import serve as serve_verb
from triseek.cli.find_words import FindWords
from triseek.cli.flags import FLAGS
from triseek.errors import InvalidRequest
from triseek.history.commands import calling
from triseek.memory.commands import serve as serving
from triseek.model.plain_text import visible_line
from triseek.search import pack_memory
from triseek.terminal import options, report_text, status
from triseek.terminal.command_context import CommandContext
from triseek.workflows.commands import serving as workflow_serving

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.history.own_sessions import OwnSessions
    from triseek.model.project_memory import ProjectMemory

# Typer has bundled click since 0.2x; its exceptions are reached through a class that Typer exports,
# so that both kinds work: BadParameter < UsageError < ClickException.
USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[2]


class SearchCommand(TyperCommand):
    """The search verb in help and completion; its arguments are parsed by `cli.args`."""

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:  # noqa: ANN401, ARG002 - click's
        """Complete flags from the flag table, and values as files."""
        item = _completion_item()
        if not incomplete.startswith("-"):
            return [item(incomplete, type="file")]
        return [
            item(f"--{flag.long}", help=flag.help)
            for flag in FLAGS
            if not flag.refusal and f"--{flag.long}".startswith(incomplete)
        ]


def search(context: typer.Context) -> int:
    """Search file contents: triseek [search] [FLAGS] PATTERN [PATH…]."""
    return quick.search(context.args, CommandContext.here())


def find_files(
    query: Annotated[str, typer.Argument(help="Words the path contains, or a glob.")],
    path: Annotated[str, typer.Argument(metavar="PATH", help="The folder; here if none.")] = "",
    limit: Annotated[int | None, typer.Option("--limit", min=0, help="At most so many.")] = None,
    json: options.Json = False,
    null: Annotated[bool, typer.Option("--null", "-0", help="NUL after each path.")] = False,
    by_path: Annotated[
        bool, typer.Option("--by-path", help="In path order, not most used first.")
    ] = False,
    no_daemon: Annotated[  # noqa: ARG001 - what gets here is done in this process anyway
        bool, typer.Option("--no-daemon", help="Do it in this process, ask no daemon.")
    ] = False,
) -> int:
    """Find files by their path: all words must be in it, in any order; or a glob.

    Files that were chosen (see frecency-select) or found lately come first.

    Examples: triseek find-files 'router auth' · triseek find-files '*.proto' src
    """
    from triseek.cli.commands import find_files as finding

    words = FindWords(query, path, limit, as_json=json, null=null, by_path=by_path)
    return finding.find_files(words, CommandContext.here())


Harness = Annotated[
    str,
    typer.Option("--harness", metavar="NAME", help="Whose hook it is; else told by the payload."),
]
Repo = Annotated[
    str, typer.Option("--repo", metavar="PATH", help="The repository, if not the agent's folder's.")
]


def hook(
    event: Annotated[str, typer.Argument(help="The agent's name of what happened.")] = "",  # noqa: ARG001
    harness: Harness = "",  # noqa: ARG001
    repo: Repo = "",  # noqa: ARG001
) -> int:
    """Tell the daemon what an agent does: its hook's JSON on standard input.

    What was read is remembered for that context, and a read of what it still has is refused, once,
    where the agent can be told. Otherwise silent; always status 0, also without a daemon.

    Example: triseek hook PostToolUse --harness claude-code < payload.json
    """
    return status.FOUND  # `cli.main` has done the work: what gets here asked for nothing


def memo_observe(
    event: Annotated[  # noqa: ARG001
        str, typer.Option("--event", metavar="EVENT", help="The agent's name of what happened.")
    ] = "",
    harness: Harness = "",  # noqa: ARG001
    repo: Repo = "",  # noqa: ARG001
) -> int:
    """The older name of hook.

    Example: triseek memo-observe --event post-tool-use < payload.json
    """
    return status.FOUND  # likewise


stats = typer.Typer(help="Figures about an index.", no_args_is_help=True, add_completion=False)
mcp = typer.Typer(
    help="The server by which coding agents search: the Model Context Protocol.",
    no_args_is_help=True,
)


@stats.callback()
@mcp.callback()
def group() -> None:
    """Make a group of a Typer that has one verb."""


@stats.command()
def export(
    path: options.Folder = ".",
    format: Annotated[  # noqa: A002 - the flag's name
        str, typer.Option("--format", help="arrow, parquet or json.")
    ] = "arrow",
    out: Annotated[str, typer.Option("--out", help="Folder to write the tables to.")] = ".",
    json: options.Json = False,
) -> int:
    """Write the tables of an index: per file, per trigram, per language.

    Example: triseek stats export --format parquet --out tables
    """
    from triseek.engine.service import Service
    from triseek.stats.export import FORMATS, export_tables

    if format not in FORMATS:
        raise typer.BadParameter(f"give one of {', '.join(FORMATS)}", param_hint="--format")
    with Service() as service:
        written = export_tables(service.engine(options.existing_folder(path)), out, format)
    names = [str(name) for name in written]
    print(report_text.as_json({"written": names}) if json else "\n".join(map(visible_line, names)))
    return status.FOUND


@mcp.command()
def serve(
    repo: Annotated[
        str,
        typer.Option(
            "--repo",
            metavar="PATH",
            help="The folder to answer for; else TRISEEK_REPO_ROOT, CLAUDE_PROJECT_DIR, or the "
            "repository around the working folder.",
        ),
    ] = mcp_verb.USUAL["repo"],
    toolsets: Annotated[
        str, typer.Option("--toolsets", metavar="NAMES", help="Which tools, separated by commas.")
    ] = mcp_verb.USUAL["toolsets"],
    http: Annotated[
        str,
        typer.Option(
            "--http",
            metavar="HOST:PORT",
            help="Serve by HTTP on a loopback address, port 0 for any free one, instead of by "
            "standard input and output. Clients need the bearer token: TRISEEK_MCP_TOKEN, or the "
            "content of the file that TRISEEK_MCP_TOKEN_FILE names, or one that is made and kept "
            "in a file, which the server names when it starts.",
        ),
    ] = mcp_verb.USUAL["http"],
) -> int:
    """Serve an agent until it leaves. Agents start it themselves; logs go to standard error.

    Examples: triseek mcp serve · triseek mcp serve --repo ~/src/linux ·
    triseek mcp serve --http 127.0.0.1:0
    """
    return mcp_verb.serve(repo, toolsets, http)


def _own_sessions() -> OwnSessions:
    from triseek.app.session_history import SessionHistory

    return SessionHistory()


def _remembered(root: str, goal: str, budget_tokens: int) -> ProjectMemory:
    from triseek.app.project_memory import remembered
    from triseek.memory.service import Memory

    memory = Memory()
    try:
        return remembered(memory, root, goal, budget_tokens)
    finally:
        memory.close()


calling.provide(_own_sessions)
serving.provide(memory_verb.serve)
pack_memory.provide(_remembered)
workflow_serving.provide(workflows_verb.serve)
workflow_runs.provide()


@cache
def app(modules: tuple[str, ...] = tuple(COMMANDS)) -> typer.Typer:
    """Return the app.

    modules: Keys of `wings.COMMANDS`, whose verbs it has; by default all of them.
    """
    tree = typer.Typer(
        name="triseek",
        help="Code search: ripgrep's flags and answers, from an index when there is one.\n\n"
        "`triseek PATTERN [PATH…]` searches; no verb is needed.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    tree.command(
        cls=SearchCommand,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )(search)
    tree.command("find-files")(find_files)
    tree.command("hook")(hook)
    tree.command("memo-observe")(memo_observe)
    for module in modules:
        import_module(module).register(tree)
    for verb in (
        install.install, install.uninstall, doctor.doctor, ui.ui, serve_verb.serve, audit.audit,
        brief.brief,
    ):  # fmt: skip
        tree.command()(verb)
    tree.add_typer(stats, name="stats")
    tree.add_typer(daemon_verb.app, name="daemon")
    tree.add_typer(mcp, name="mcp")
    return tree


def run_app(words: Sequence[str]) -> int:
    """Run a verb and return its exit status.

    Raises:
        InvalidRequest: The arguments are invalid; the message is Typer's.
    """
    try:
        command = _command(_modules(words[0] if words else ""))
        outcome = command.main(args=list(words), prog_name="triseek", standalone_mode=False)
    except USAGE_ERROR as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message(), file=sys.stderr)  # type: ignore[attr-defined]
            return status.ERROR
        raise InvalidRequest(_message(error), next_step=_help_step(error, words)) from None
    return outcome if isinstance(outcome, int) else status.FOUND


def _help_step(error: Any, words: Sequence[str]) -> str:  # noqa: ANN401 - click's
    """Return where the help is of the command that the error is about, a verb of a verb's too."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "triseek " + " ".join(words[:1])
    step = f"See `{command.strip()} --help`."
    takes_query = context is not None and "query" in {p.name for p in context.command.params}
    option = getattr(error, "option_name", "")
    if takes_query and option[:1] == "-" and option[:2] != "--":
        step += " A query that begins with - goes behind --."
    return step


def _modules(verb: str) -> tuple[str, ...]:
    """Return the module of a wing's verb; those of all wings for any other word."""
    return tuple(module for module, verbs in COMMANDS.items() if verb in verbs) or tuple(COMMANDS)


@cache  # Typer reads the signature of every verb: a process that runs many verbs does it once
def _command(modules: tuple[str, ...]) -> Any:  # noqa: ANN401 - click's, wherever it lives
    return typer.main.get_command(app(modules))


def _message(error: Any) -> str:  # noqa: ANN401 - click's
    """Return click's message without its initial capital and its full stop."""
    formatted: str = error.format_message()
    return formatted[:1].lower() + formatted[1:].rstrip(".")


def _completion_item() -> Any:  # noqa: ANN401 - click's, wherever it lives
    try:
        return typer.core.CompletionItem  # type: ignore[attr-defined]
    except AttributeError:
        from click.shell_completion import CompletionItem

        return CompletionItem
