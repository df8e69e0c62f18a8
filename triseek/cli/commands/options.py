"""Options that several verbs have."""

from __future__ import annotations

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Write a JSON document.")]
Repo = Annotated[
    str, typer.Option("--repo", metavar="PATH", help="A folder of the repository; here if none.")
]
Session = Annotated[
    str, typer.Option("--session", metavar="ID", help="Which session; the open one here if none.")
]
Pins = Annotated[
    list[str],
    typer.Option(
        "--pin",
        metavar="PATH:FIRST-LAST",
        help="Quote these lines of a file in the snapshot; may be given several times.",
    ),
]
