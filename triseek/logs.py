"""Logging, set up once per process role; nothing else attaches handlers.

The command line warns on stderr. The daemon writes JSON lines to daemon/daemon.log: `time` (UTC),
`level`, `event`, and where they are known `request`, `verb`, `root`, `ms` and whatever else the
caller put in `extra`. Events are stable names, values are fields. A request's id travels in
`request`, a context variable, so that one person's report leads to its lines.
"""

from __future__ import annotations

import json
import logging
import os
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from triseek import paths
from triseek.errors import InvalidRequest, StateUnwritable

if TYPE_CHECKING:
    from io import TextIOWrapper

NAME = "daemon.log"
SIZE = 5_000_000
"""Bytes of a log file before it is put aside."""
KEPT = 3
"""Files put aside; daemon.log.3 is the oldest."""

request: ContextVar[str] = ContextVar("request", default="")
"""The id of the request this thread serves, "" outside one."""

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}
"""What every record has; the rest came by `extra`."""


def path() -> str:
    """The daemon's log."""
    return os.path.join(paths.daemon(), NAME)


def configure(role: str, level: str = "info") -> None:
    """Attach this process's one handler to the `triseek` logger, in place of an earlier one.

    Args:
        role: `cli` (warnings to stderr), `mcp` (all but debugging to stderr, of which clients keep
            a log) or `daemon` (JSON lines; its folder must be there, and only the holder of the
            daemon's lock may write or rotate it).
        level: the least that the daemon keeps: debug, info, warning, error.

    Raises:
        StateUnwritable: the log file cannot be opened.
    """
    if role not in ("cli", "mcp", "daemon"):
        raise InvalidRequest(f"{role}: no such role")
    logger = logging.getLogger("triseek")
    handler = _to_file() if role == "daemon" else _to_stderr()
    close()
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING if role == "cli" else level.upper())
    logger.propagate = False


def close() -> None:
    """Detach and close what `configure` attached."""
    logger = logging.getLogger("triseek")
    for handler in logger.handlers[:]:
        logger.removeHandler(handler)
        handler.close()
    logger.propagate = True


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line; what JSON does not know is shown as text."""
        document: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        if request.get():
            document["request"] = request.get()
        document |= {
            name: value
            for name, value in vars(record).items()
            if name not in _STANDARD and value is not None
        }
        if record.exc_info:
            document["traceback"] = self.formatException(record.exc_info)
        return json.dumps(document, ensure_ascii=True, default=str)


def _to_stderr() -> logging.Handler:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("triseek: %(message)s"))
    return handler


def _to_file() -> logging.Handler:
    from logging.handlers import RotatingFileHandler

    class Private(RotatingFileHandler):
        """Rotates files that only their owner may read: they say what was searched where."""

        def _open(self) -> TextIOWrapper:
            return open(path(), "a", encoding="utf-8", opener=_private)

    try:
        handler = Private(path(), maxBytes=SIZE, backupCount=KEPT, encoding="utf-8")
    except OSError as error:
        raise StateUnwritable(f"cannot write the log {path()}: {error.strerror}") from error
    handler.setFormatter(JsonLines())
    return handler


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
