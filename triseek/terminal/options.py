"""Arguments and options shared by several verbs."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from triseek.errors import RepoNotDetected
from triseek.terminal import plain_words

Folder = Annotated[str, typer.Argument(metavar="PATH", help="The folder; here if not given.")]
Json = Annotated[bool, typer.Option("--json", help=plain_words.JSON.help)]
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


def existing_folder(path: str) -> str:
    """Return the canonical path of an existing folder.

    Raises:
        RepoNotDetected: `path` is not a folder.
    """
    if not os.path.isdir(path):
        raise RepoNotDetected(f"{path}: no such folder")
    return os.path.realpath(path)
