"""The Typer app: every verb, its help, and completion. `cli.main` keeps searches out of here."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from triseek.cli import daemon_verb, status
from triseek.cli.commands import (
    audit,
    brief,
    context_pack,
    doctor,
    frecency,
    handoff,
    index,
    install,
    mcp,
    memo,
    pack,
    replay,
    resume,
    session,
    snapshot,
    stats,
    ui,
)
from triseek.cli.commands import find_files as finding
from triseek.cli.flags import FLAGS
from triseek.cli.world import World
from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

app = typer.Typer(
    name="triseek",
    help="Code search: ripgrep's flags and answers, from an index when there is one.\n\n"
    "`triseek PATTERN [PATH…]` searches; no verb is needed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


# Typer has carried click inside itself since 0.2x; what it raises is found by way of what it
# exports, so that both kinds work: BadParameter < UsageError < ClickException.
USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[2]


class SearchCommand(TyperCommand):
    """The search verb in help and completion; its words are read by `cli.args`."""

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


@app.command(
    cls=SearchCommand,
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
def search(context: typer.Context) -> int:
    """Search file contents: triseek [search] [FLAGS] PATTERN [PATH…]."""
    from triseek.cli import search_verb

    return search_verb.search(context.args, World.here())


@app.command("find-files")
def find_files(
    query: Annotated[str, typer.Argument(help="Words the path contains, or a glob.")],
    path: Annotated[str, typer.Argument(metavar="PATH", help="The folder; here if none.")] = "",
    limit: Annotated[int | None, typer.Option("--limit", min=0, help="At most so many.")] = None,
    json: index.Json = False,
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
    return finding.find_files(
        query,
        path,
        limit=limit,
        as_json=json,
        terminator=b"\0" if null else b"\n",
        by_path=by_path,
        world=World.here(),
    )


Harness = Annotated[
    str,
    typer.Option("--harness", metavar="NAME", help="Whose hook it is; else told by the payload."),
]
Repo = Annotated[
    str, typer.Option("--repo", metavar="PATH", help="The repository, if not the agent's folder's.")
]


@app.command("hook")
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
    return status.FOUND  # `cli.main` has done it: what gets here asked for nothing


@app.command("memo-observe")
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


app.command()(index.build)
app.command()(index.update)
app.command()(index.reindex)
app.command("index-status")(index.index_status)
app.command()(index.measure)
app.command()(index.check)
app.command()(index.warmup)
app.command("context-pack")(context_pack.context_pack)
app.command()(install.install)
app.command()(install.uninstall)
app.command()(doctor.doctor)
app.command()(ui.ui)
app.command()(audit.audit)
app.command()(brief.brief)
app.command()(replay.replay)
app.command("frecency-select")(frecency.select)
app.command()(resume.resume)
app.command()(handoff.handoff)
app.add_typer(session.app, name="session")
app.add_typer(snapshot.app, name="snapshot")
app.add_typer(pack.app, name="pack")
app.add_typer(stats.app, name="stats")
app.add_typer(daemon_verb.app, name="daemon")
app.add_typer(mcp.app, name="mcp")
app.add_typer(memo.app, name="memo")


def run_app(words: Sequence[str]) -> int:
    """Run a verb and return its exit status.

    Raises:
        InvalidRequest: the words make no sense, said in Typer's words.
    """
    command = typer.main.get_command(app)
    try:
        outcome = command.main(args=list(words), prog_name="triseek", standalone_mode=False)
    except USAGE_ERROR as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message(), file=sys.stderr)  # type: ignore[attr-defined]
            return status.ERROR
        verb = f"triseek {words[0]} --help" if words else "triseek --help"
        raise InvalidRequest(_message(error), next_step=f"See `{verb}`.") from None
    return outcome if isinstance(outcome, int) else status.FOUND


def _message(error: Any) -> str:  # noqa: ANN401 - click's
    """What click says of a mistake, without its markup."""
    formatted: str = error.format_message()
    return formatted[:1].lower() + formatted[1:].rstrip(".")


def _completion_item() -> Any:  # noqa: ANN401 - click's, wherever it lives
    try:
        return typer.core.CompletionItem  # type: ignore[attr-defined]
    except AttributeError:
        from click.shell_completion import CompletionItem

        return CompletionItem
