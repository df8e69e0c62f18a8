"""`triseek memory serve`: the stdio loop of the memory, and what runs beside it.

Its common arguments are parsed without Typer, as those of `triseek mcp serve`.
"""

from __future__ import annotations

import os
import signal

from triseek.terminal import status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import Event

    from triseek.memory.service import Memory

USUAL = {"palace": "", "http": ""}
"""Options of `triseek memory serve`, and their defaults."""


def serve(palace: str, http: str) -> int:
    """Serve a client by standard streams until it has left; the process ends with it.

    Args:
        palace: Of calls that name none, made if it does not exist; "" if each must name one.
        http: HOST:PORT at which the memory is served by HTTP, too; "" for nowhere.

    Raises:
        InvalidRequest: `palace` is not a palace's name, or `http` not a loopback address.
    """
    from triseek.memory.profile import serving

    if http:
        from triseek.loopback.address import Address

        Address.parse(http)  # raises; the server starts later

    def beside(memory: Memory, cancelled: Event) -> None:
        if not http:
            _dream(memory, cancelled)
            return
        from triseek.cli.error_boundary import settled
        from triseek.terminal.command_context import to_stderr

        code = settled(lambda: _serve_http(http, memory, cancelled), to_stderr, ["memory", "serve"])
        if code:
            os._exit(code)

    serving.serve(palace, beside)
    os._exit(status.FOUND)  # a normal exit would wait for threads in the background


def _serve_http(http: str, memory: Memory, cancelled: Event) -> int:
    from triseek.ui.memory import companion

    def end() -> None:  # as the end of the input ends the server
        os.kill(os.getpid(), signal.SIGTERM)

    server = companion.start(http, memory, end)
    try:
        _dream(memory, cancelled)
    finally:
        server.stop()
    return status.FOUND


def _dream(memory: Memory, cancelled: Event) -> None:
    """Consolidate the memory while nobody uses it, if that is set, until `cancelled` is set."""
    from triseek import config
    from triseek.errors import TriseekError
    from triseek.memory.dreaming import idle

    try:
        dreams = config.read().memory_dream
    except TriseekError:  # calls say what is wrong with the settings
        dreams = False
    if dreams:
        idle.run(memory, cancelled)
    else:
        cancelled.wait()
