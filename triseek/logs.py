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
import select
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

from triseek import paths, private
from triseek.errors import InvalidRequest, StateUnwritable

if TYPE_CHECKING:
    from io import TextIOWrapper

NAME = "daemon.log"
SIZE = 5_000_000
"""Bytes of a log file before it is put aside."""
KEPT = 3
"""Files put aside; daemon.log.3 is the oldest."""

PIECE = getattr(select, "PIPE_BUF", 512) // 4
"""Characters, of four bytes at most, that a pipe takes at once if it is ready."""

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
    handler = _to_file() if role == "daemon" else _to_stderr(waits=role == "cli")
    close()
    logger.addHandler(handler)
    if role == "mcp":  # what the protocol's packages warn of, which would else wait for a reader
        logging.getLogger().addHandler(handler)
    logger.setLevel(logging.WARNING if role == "cli" else level.upper())
    logger.propagate = False


def close() -> None:
    """Detach and close what `configure` attached."""
    logger = logging.getLogger("triseek")
    for handler in logger.handlers[:]:
        logger.removeHandler(handler)
        logging.getLogger().removeHandler(handler)
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


class Passing(logging.StreamHandler[TextIO]):
    """Says what there is a reader for; waits for nobody.

    A client that starts a server and never reads its standard error would have it stand still when
    the pipe is full.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, as far as somebody reads."""
        try:
            text = self.format(record) + self.terminator
            for start in range(0, len(text), PIECE):
                if not _is_ready(self.stream):
                    return
                self.stream.write(text[start : start + PIECE])
                self.flush()
        except Exception:  # noqa: BLE001 - as every handler: no log is worth a failure
            self.handleError(record)


def _is_ready(stream: TextIO) -> bool:
    """Whether a stream takes a piece without waiting."""
    try:
        poll = select.poll()
        poll.register(stream, select.POLLOUT)
        return bool(poll.poll(0))
    except (AttributeError, OSError, ValueError):  # no poll, or nothing to ask it of
        return True


def _to_stderr(*, waits: bool) -> logging.Handler:
    handler = logging.StreamHandler() if waits else Passing()
    handler.setFormatter(logging.Formatter("triseek: %(message)s"))
    return handler


def _to_file() -> logging.Handler:
    from logging.handlers import RotatingFileHandler

    class Private(RotatingFileHandler):
        """Rotates files that only their owner may read: they say what was searched where."""

        def _open(self) -> TextIOWrapper:
            return open(path(), "a", encoding="utf-8", opener=private.opener)

    try:
        handler = Private(path(), maxBytes=SIZE, backupCount=KEPT, encoding="utf-8")
    except OSError as error:
        raise StateUnwritable(f"cannot write the log {path()}: {error.strerror}") from error
    handler.setFormatter(JsonLines())
    return handler
