"""What only the daemon can answer, asked on behalf of an agent's tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.errors import (
    BackendFailure,
    DaemonUnreachable,
    InvalidQuery,
    InvalidRequest,
    RepoNotDetected,
    TriseekError,
)
from triseek.ipc import address, client

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.model.tool import Toolset


def ask(toolset: Toolset, verb: str, params: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
    """Ask the daemon and return its result.

    Args:
        toolset: Which tools need the daemon, for the message that none runs.
        verb: One of the daemon's JSON verbs.
        params: The verb's parameters.
        timeout_s: How long the answer may take, in seconds.

    Raises:
        InvalidRequest, InvalidQuery, RepoNotDetected: The daemon refuses the parameters.
        BackendFailure: No daemon runs, it does not answer, or it fails.
    """
    try:
        return client.ask(verb, params, timeout_s=timeout_s)
    except (InvalidRequest, InvalidQuery, RepoNotDetected):
        raise
    except DaemonUnreachable as error:
        message = str(error)
        if isinstance(error.__cause__, address.Absent):
            message = (
                f"TriSeek daemon is not running; {toolset} tools require `triseek daemon start`"
            )
        raise BackendFailure(message) from error
    except TriseekError as error:
        raise BackendFailure(f"daemon RPC {verb} failed ({error.code}): {error}") from error
