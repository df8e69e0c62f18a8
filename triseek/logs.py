"""Configure logging, once per process according to its role. No other module attaches handlers.

The command line writes warnings to stderr. The daemon writes JSON lines to daemon/daemon.log:
`time` (UTC), `level`, `event`, where known `request`, `verb`, `root` and `ms`, and what the caller
put in `extra`. Events are stable names; values are fields. The context variable
`request` holds the id of the current request, so that a user's report can be traced to its lines.
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
"""Bytes of a log file before it is rotated."""
KEPT = 3
"""The number of rotated files; daemon.log.3 is the oldest."""

PIECE = getattr(select, "PIPE_BUF", 512) // 4
"""Characters, each at most four bytes, that a ready pipe accepts in one write."""

request: ContextVar[str] = ContextVar("request", default="")
"""The id of the request that this thread serves; "" outside a request."""

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}
"""Attributes of every log record; the others come from `extra`."""


def path() -> str:
    """Return the path of the daemon's log."""
    return os.path.join(paths.daemon(), NAME)


def configure(role: str, level: str = "info") -> None:
    """Attach this process's one handler to the `triseek` logger, in place of an earlier one.

    Args:
        role: `cli` (warnings to stderr), `mcp` (info and above to stderr, which clients log)
            or `daemon` (JSON lines; its folder must exist, and only the holder of the daemon's
            lock may write or rotate the file).
        level: the lowest level that is logged: debug, info, warning, error. `cli` ignores it.

    Raises:
        StateUnwritable: the log file cannot be opened.
    """
    if role not in ("cli", "mcp", "daemon"):
        raise InvalidRequest(f"{role}: no such role")
    logger = logging.getLogger("triseek")
    if role == "daemon":
        handler = _to_file()
    else:
        handler = logging.StreamHandler() if role == "cli" else Passing()
        handler.setFormatter(logging.Formatter("triseek: %(message)s"))
    close()
    logger.addHandler(handler)
    if role == "mcp":  # warnings of the SDK too: the default handler would block on a full pipe
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


class JsonLogFormatter(logging.Formatter):
    """Formats a record as one JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line, redacted.

        Values that JSON has no type for become strings.
        """
        from triseek.redaction import redact_json  # re2 is too heavy for processes without a log

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
        return json.dumps(redact_json(document), ensure_ascii=True, default=str)


class Passing(logging.StreamHandler[TextIO]):
    """Stream handler that never blocks: it drops what the stream cannot take at once.

    Otherwise a client that starts a server and never reads its standard error would block the
    server once the pipe is full.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, up to the point where the stream is full."""
        try:
            text = self.format(record) + self.terminator
            for start in range(0, len(text), PIECE):
                if not _is_ready(self.stream):
                    return
                self.stream.write(text[start : start + PIECE])
                self.flush()
        except Exception:  # noqa: BLE001 - as every handler: a logging error is no failure
            self.handleError(record)


def _is_ready(stream: TextIO) -> bool:
    """Return whether a stream accepts a piece without blocking."""
    try:
        poll = select.poll()
        poll.register(stream, select.POLLOUT)
        return bool(poll.poll(0))
    except (AttributeError, OSError, ValueError):  # no poll, or no descriptor to poll
        return True


def _to_file() -> logging.Handler:
    from logging.handlers import RotatingFileHandler

    class Private(RotatingFileHandler):
        """Rotates files that only their owner may read, because they contain what was searched."""

        def _open(self) -> TextIOWrapper:
            return open(path(), "a", encoding="utf-8", opener=private.opener)

    try:
        handler = Private(path(), maxBytes=SIZE, backupCount=KEPT, encoding="utf-8")
    except OSError as error:
        raise StateUnwritable(f"cannot write the log {path()}: {error.strerror}") from error
    handler.setFormatter(JsonLogFormatter())
    return handler
