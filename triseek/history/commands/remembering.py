"""`triseek history remember|supersede|pin`: observations, as the tools of that name do."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from triseek.errors import InvalidRequest
from triseek.history.commands.calling import call
from triseek.terminal import options, report_text, status

Observation = Annotated[
    str, typer.Argument(metavar="ID", help="The observation's number, as 12 or #12.")
]


def remember(
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="What to keep.")],
    title: Annotated[
        str, typer.Option(metavar="LINE", help="The beginning of the text if none.")
    ] = "",
    type_: Annotated[
        str,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="decision, bugfix, feature, refactor, discovery (the default) or change.",
        ),
    ] = "discovery",
    concept: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A tag; may be given several times."),
    ] = None,
    file: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="A file that it is about; several times, too."),
    ] = None,
    project: Annotated[
        str, typer.Option(metavar="NAME", help="Its project; that of this folder if none.")
    ] = "",
    pin: Annotated[bool, typer.Option("--pin", help="Begin sessions with it.")] = False,
    json: options.Json = False,
) -> int:
    """Keep a decision, a finding or a trap for later sessions.

    Example: triseek history remember 'Prices are in cents' --type decision --file src/cart.py
    """
    params = {
        "text": " ".join(text), "title": title, "type": type_, "concepts": concept or [],
        "files": file or [], "project": project, "pin": pin,
    }  # fmt: skip
    _print("remember", params, as_json=json)
    return status.FOUND


def supersede(
    old: Observation,
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="What holds now.")],
    title: Annotated[
        str, typer.Option(metavar="LINE", help="By default the text's beginning.")
    ] = "",
    json: options.Json = False,
) -> int:
    """Replace an observation that is not true any more; it is not shown from then on.

    Example: triseek history supersede 12 'Prices are in cents since October'
    """
    params = {"id": _number(old), "text": " ".join(text), "title": title}
    _print("supersede", params, as_json=json)
    return status.FOUND


def pin(
    observation: Observation,
    off: Annotated[bool, typer.Option("--off", help="Unpin it.")] = False,
    json: options.Json = False,
) -> int:
    """Pin an observation, so that sessions begin with it.

    Examples: triseek history pin 12 · triseek history pin 12 --off
    """
    _print("pin", {"id": _number(observation), "on": not off}, as_json=json)
    return status.FOUND


def _number(name: str) -> int:
    digits = name.removeprefix("#")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
        raise InvalidRequest(
            f"{name!r:.40} is not the number of an observation",
            next_step="`triseek history search --by observation --json` names them.",
        )
    return int(digits)


def _print(name: str, params: dict[str, Any], *, as_json: bool) -> None:
    """Call an operation and print what it returns."""
    reply = call(name, {**params, "root": os.getcwd()})
    answer = report_text.as_json(reply["answer"])
    print(answer if as_json else report_text.readable(reply["text"]))
