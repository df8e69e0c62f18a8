"""Every error triseek can raise. This module imports nothing.

TriseekError
├── InvalidQuery         INVALID_QUERY        the pattern or a filter cannot be understood
├── InvalidRequest       INVALID_REQUEST      a flag or argument makes no sense
├── RepoNotDetected      REPO_NOT_DETECTED    the folder to search is not there
├── IndexUnavailable     INDEX_UNAVAILABLE    no index for this root
├── IndexStale           INDEX_STALE          the index is older than the tree
├── IndexCorrupt         INDEX_CORRUPT        a byte of the index is not what was written
├── FormatTooNew         FORMAT_TOO_NEW       the index was written by a later triseek
├── Unwatchable          UNWATCHABLE          the file system does not tell what changes here
├── BackendFailure       BACKEND_FAILURE      a road failed; another may answer
├── FallbackFailure      FALLBACK_FAILURE     the last road failed too
├── StateUnwritable      STATE_UNWRITABLE     the state folder cannot be written
├── Busy                 BUSY                 another process holds what this one needs
├── Cancelled            CANCELLED            nobody waits for the answer any more
├── OutOfTime            OUT_OF_TIME          the request took longer than it may
├── PackRejected         PACK_REJECTED        a pack is not what it should be
├── DaemonUnreachable    DAEMON_UNREACHABLE   no daemon answers, or none may be asked from here
├── VersionMismatch      VERSION_MISMATCH     the daemon is another triseek's
├── ConfigWriteFailed    CONFIG_WRITE_FAILED  an agent's config cannot be edited; it is as it was
└── ClientNotInstalled   CLIENT_NOT_INSTALLED the agent to install into is not here
"""


class TriseekError(Exception):
    """The root of every error triseek raises on purpose."""

    code = "INTERNAL"
    """Stable name of the cause, part of the interface."""
    retryable = False
    """Whether the same call may succeed later without a change by the caller."""
    next_step = ""
    """What the user can do, one sentence; instances may carry a better one."""

    def __init__(self, message: str, *, next_step: str | None = None) -> None:
        super().__init__(message)
        if next_step is not None:
            self.next_step = next_step

    @property
    def message(self) -> str:
        """One line naming what is wrong."""
        return str(self)


class InvalidQuery(TriseekError):
    """The pattern or a filter cannot be understood."""

    code = "INVALID_QUERY"
    next_step = "Correct the pattern, or pass -F to search for it literally."


class InvalidRequest(TriseekError):
    """A flag or argument makes no sense, alone or beside another."""

    code = "INVALID_REQUEST"
    next_step = "See `triseek --help`."


class RepoNotDetected(TriseekError):
    """The folder to search does not exist or is not a folder."""

    code = "REPO_NOT_DETECTED"
    next_step = "Pass the path of an existing folder."


class IndexUnavailable(TriseekError):
    """There is no index for this root."""

    code = "INDEX_UNAVAILABLE"
    retryable = True
    next_step = "Run `triseek build`."


class IndexStale(TriseekError):
    """The index no longer says what the tree holds."""

    code = "INDEX_STALE"
    retryable = True
    next_step = "Run `triseek update`."


class IndexCorrupt(TriseekError):
    """A byte of the index is not the byte that was written."""

    code = "INDEX_CORRUPT"
    next_step = "Run `triseek reindex` to build it anew."


class FormatTooNew(TriseekError):
    """The index was written by a later version of triseek."""

    code = "FORMAT_TOO_NEW"
    next_step = "Upgrade triseek, or run `triseek reindex` to replace the index."


class Unwatchable(TriseekError):
    """The file system does not tell what changes below a root; answers take a sweep."""

    code = "UNWATCHABLE"
    next_step = "Answers are as right, and slower. See docs/guides/troubleshooting.md."


class BackendFailure(TriseekError):
    """One road failed; another may answer."""

    code = "BACKEND_FAILURE"
    retryable = True


class FallbackFailure(TriseekError):
    """Every road failed."""

    code = "FALLBACK_FAILURE"


class StateUnwritable(TriseekError):
    """The state folder cannot be created or written."""

    code = "STATE_UNWRITABLE"
    next_step = "Point TRISEEK_HOME at a folder you may write."


class Busy(TriseekError):
    """Another process holds what this one needs."""

    code = "BUSY"
    retryable = True
    next_step = "Wait for the other process, or end it."


class Cancelled(TriseekError):
    """Nobody waits for the answer any more."""

    code = "CANCELLED"
    retryable = True
    next_step = "Ask again."


class OutOfTime(TriseekError):
    """The request took longer than it may."""

    code = "OUT_OF_TIME"
    next_step = "Search with a shorter pattern, or in fewer files (a path, a glob or a type)."


class PackRejected(TriseekError):
    """A pack is damaged, of another schema, or holds what no pack of ours does."""

    code = "PACK_REJECTED"
    next_step = "Nothing was imported. Have it exported again with `triseek pack export`."


class DaemonUnreachable(TriseekError):
    """No daemon answers, or this process may not talk to it."""

    code = "DAEMON_UNREACHABLE"
    retryable = True
    next_step = "See `triseek daemon status` and `triseek daemon logs`."


class VersionMismatch(TriseekError):
    """The daemon belongs to another version of triseek."""

    code = "VERSION_MISMATCH"
    retryable = True
    next_step = "Run `triseek daemon restart`."


class ConfigWriteFailed(TriseekError):
    """An agent's config cannot be edited; nothing has been changed."""

    code = "CONFIG_WRITE_FAILED"
    next_step = "Mend the file, or edit it by hand, and run the command again."


class ClientNotInstalled(TriseekError):
    """The agent to install into is not on PATH."""

    code = "CLIENT_NOT_INSTALLED"
    next_step = "Install it first, or put its program on PATH."


def named(code: str, message: str, *, next_step: str) -> TriseekError:
    """The error that another process told of, as the class that has its code.

    A code that no class has is kept, on the root of them all.
    """
    kinds = {kind.code: kind for kind in TriseekError.__subclasses__()}
    error = kinds.get(code, TriseekError)(message, next_step=next_step)
    error.code = code
    return error
