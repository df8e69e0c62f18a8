"""`triseek context-pack`: the few files to start a task from."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from triseek.model.context_pack import (
    BUDGET_TOKENS,
    BUDGET_TOKENS_MAX,
    FILES,
    FILES_MAX,
    ContextPackRequest,
)
from triseek.search import pack_memory
from triseek.search.digest import pack_lines
from triseek.terminal import options, report_text, status


def context_pack(
    path: options.Folder = ".",
    goal: Annotated[
        str,
        typer.Option(
            "--goal", help="What is to be done: words, an error, a trace.", show_default=False
        ),
    ] = "",
    intent: Annotated[str, typer.Option("--intent", help="bugfix or review.")] = "bugfix",
    budget_tokens: Annotated[
        int, typer.Option("--budget-tokens", help=f"At most so many, {BUDGET_TOKENS_MAX} at best.")
    ] = BUDGET_TOKENS,
    max_files: Annotated[
        int, typer.Option("--max-files", help=f"At most so many, {FILES_MAX} at best.")
    ] = FILES,
    changed_file: Annotated[
        list[str] | None,
        typer.Option("--changed-file", metavar="FILE", help="One that was edited; again for more."),
    ] = None,
    memory: Annotated[
        bool,
        typer.Option("--memory", help="Add what is remembered of the project, within the budget."),
    ] = False,
    json: options.Json = False,
) -> int:
    """Show the few files and lines to start a task from.

    Files that git says are not committed count as changed too. Exit status 1: none was found.

    Examples: triseek context-pack --goal 'fix auth panic for service accounts' ·
    triseek context-pack --goal 'retry limit' --intent review --changed-file src/net/retry.rs --json
    """
    from triseek.engine.context_pack import pack as engine
    from triseek.engine.service import Service

    request = ContextPackRequest(
        goal=goal,
        intent=intent,
        budget_tokens=budget_tokens,
        max_files=max_files,
        changed_files=tuple(map(_typed, changed_file or ())),
        memory=memory,
    )
    with Service() as service:
        root = service.engine(options.existing_folder(path))
        envelope = pack_memory.packed(
            lambda asked: engine.context_pack(root, asked), request, root.root,
            pack_memory.provided(),
        )  # fmt: skip
    text = report_text.readable("\n".join(pack_lines("context_pack", {}, envelope)))
    print(report_text.as_json(envelope) if json else text)
    return status.FOUND if envelope["items"] else status.NOTHING


def _typed(path: str) -> str:
    """A path as it was typed: from here if it is there, else from the root."""
    return os.path.join(os.path.realpath("."), path) if os.path.lexists(path) else path
