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
├── BackendFailure       BACKEND_FAILURE      a backend failed; another may answer
├── FallbackFailure      FALLBACK_FAILURE     the last backend failed too
├── StateUnwritable      STATE_UNWRITABLE     the state folder cannot be written
├── StateCorrupt         STATE_CORRUPT        a database of the state folder is damaged
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
    """Stable name of the cause, part of the interface: the name of the direct subclass."""
    retryable = False
    """Whether the same call may succeed later without a change by the caller."""
    next_step = ""
    """What a person at the command line can do, one sentence; instances may carry a better one."""
    tool_step = ""
    """What an agent that has called a tool can do, in words of tools and arguments; "" if that is
    `next_step`. An instance with a `next_step` of its own has no other `tool_step` than its own."""

    def __init_subclass__(cls) -> None:
        if TriseekError in cls.__bases__:
            words = "".join(f"_{char}" if char.isupper() else char for char in cls.__name__)
            cls.code = words[1:].upper()

    def __init__(self, message: str, *, next_step: str | None = None, tool_step: str = "") -> None:
        super().__init__(message)
        if next_step is not None:
            self.next_step = next_step
        if next_step is not None or tool_step:
            self.tool_step = tool_step

    @property
    def message(self) -> str:
        """One line naming what is wrong."""
        return str(self)


class InvalidQuery(TriseekError):
    """The pattern or a filter cannot be understood."""

    next_step = "Correct the pattern, or pass -F to search for it literally."
    tool_step = 'Correct the argument, or pass mode: "literal".'


class InvalidRequest(TriseekError):
    """A flag or argument makes no sense, alone or beside another."""

    next_step = "See `triseek --help`."
    tool_step = "Correct the argument."


class RepoNotDetected(TriseekError):
    """The folder to search does not exist or is not a folder."""

    next_step = "Pass the path of an existing folder."
    tool_step = "The server's folder is not there: have the server started in an existing one."


class IndexUnavailable(TriseekError):
    """There is no index for this root."""

    retryable = True
    next_step = "Run `triseek build`."
    tool_step = "Call the `reindex` tool or run `triseek build <PATH>`"  # the contract's example


class IndexStale(TriseekError):
    """The index no longer says what the tree holds."""

    retryable = True
    next_step = "Run `triseek update`."
    tool_step = "Call the `reindex` tool."


class IndexCorrupt(TriseekError):
    """A byte of the index is not the byte that was written."""

    next_step = "Run `triseek reindex` to build it anew."
    tool_step = 'Call the `reindex` tool with mode: "full".'


class FormatTooNew(TriseekError):
    """The index was written by a later version of triseek."""

    next_step = "Upgrade triseek, or run `triseek reindex` to replace the index."
    tool_step = 'Call the `reindex` tool with mode: "full", or have triseek upgraded.'


class Unwatchable(TriseekError):
    """The file system does not tell what changes below a root; answers take a sweep."""

    next_step = "Answers are as right, and slower. See docs/guides/troubleshooting.md."


class BackendFailure(TriseekError):
    """One backend failed; another may answer."""

    retryable = True
    tool_step = "Call it again; if the error persists, do without this tool."


class FallbackFailure(TriseekError):
    """Every backend failed."""

    tool_step = "Call the `reindex` tool, or have ripgrep installed."


class StateUnwritable(TriseekError):
    """The state folder cannot be created or written."""

    next_step = "Point TRISEEK_HOME at a folder you may write."


class StateCorrupt(TriseekError):
    """A database of the state folder is damaged, or is none of ours."""

    next_step = "Move the file away, or put the backup beside it in its place."


class Busy(TriseekError):
    """Another process holds what this one needs."""

    retryable = True
    next_step = "Wait for the other process, or end it."


class Cancelled(TriseekError):
    """Nobody waits for the answer any more."""

    retryable = True
    next_step = "Ask again."


class OutOfTime(TriseekError):
    """The request took longer than it may."""

    next_step = "Search with a shorter pattern, or in fewer files (a path, a glob or a type)."


class PackRejected(TriseekError):
    """A pack is damaged, of another schema, or holds what no pack of ours does."""

    next_step = "Nothing was imported. Have it exported again with `triseek pack export`."
    tool_step = "Nothing was imported. Have the pack exported again."


class DaemonUnreachable(TriseekError):
    """No daemon answers, or this process may not talk to it."""

    retryable = True
    next_step = "See `triseek daemon status` and `triseek daemon logs`."
    tool_step = "Do without this tool: it needs triseek's daemon, which does not answer."


class VersionMismatch(TriseekError):
    """The daemon belongs to another version of triseek."""

    retryable = True
    next_step = "Run `triseek daemon restart`."
    tool_step = "Call it again."


class ConfigWriteFailed(TriseekError):
    """An agent's config cannot be edited; nothing has been changed."""

    next_step = "Mend the file, or edit it by hand, and run the command again."


class ClientNotInstalled(TriseekError):
    """The agent to install into is not on PATH."""

    next_step = "Install it first, or put its program on PATH."


def named(code: str, message: str, *, next_step: str, tool_step: str) -> TriseekError:
    """Return an error reported by another process, as an instance of the class with its code.

    A code that no class has is kept, on a plain `TriseekError`.
    """
    kinds = {kind.code: kind for kind in TriseekError.__subclasses__()}
    error = kinds.get(code, TriseekError)(message, next_step=next_step, tool_step=tool_step)
    error.code = code
    return error
