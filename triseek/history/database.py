"""Opens the history database."""

from __future__ import annotations

from pathlib import Path

from triseek import paths, private
from triseek.errors import StateUnwritable
from triseek.history.schema import MIGRATIONS
from triseek.store.sqlite import Database

NAME = "history.db"


def open_database(folder: str | None = None) -> Database:
    """Open the history database, creating it if need be.

    folder: Where it lies; None for the state folder's.

    Raises: as `Database`.
    """
    where = folder if folder is not None else paths.history()
    try:
        private.make(where)
    except OSError as error:
        raise StateUnwritable(f"cannot create the folder {where}: {error.strerror}") from error
    return Database(Path(where, NAME), MIGRATIONS, trusts_schema=True)
