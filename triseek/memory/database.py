"""Opens the memory database."""

from __future__ import annotations

from pathlib import Path

from triseek import paths, private
from triseek.errors import Busy, StateUnwritable
from triseek.memory.schema import MIGRATIONS
from triseek.store.sqlite import Database

NAME = "memory.db"
BUSY_S = 30.0
"""Seconds to wait for another process's transaction: several processes may write at once."""


def scrub(database: Database) -> bool:
    """Remove what deleted rows have left in the database's files.

    Returns:
        False if another process uses the database: its log may hold them until that is done.
    """
    with database.write() as connection:
        connection.execute("INSERT INTO drawers_fts (drawers_fts) VALUES ('optimize')")
    try:
        database.rewrite()
    except Busy:
        return False
    return True


def open_database(folder: str = "") -> Database:
    """Open the memory database, creating it if need be.

    folder: Where it lies; "" for the state folder's.

    Raises: as `Database`.
    """
    where = folder or paths.memory()
    try:
        private.make(where)
    except OSError as error:
        raise StateUnwritable(f"cannot create the folder {where}: {error.strerror}") from error
    return Database(Path(where, NAME), MIGRATIONS, busy_s=BUSY_S, trusts_schema=True)
