"""`triseek memory serve`: the stdio loop of the memory, and what runs beside it.

Its common arguments are parsed without Typer, as those of `triseek mcp serve`.
"""

from __future__ import annotations

import os

from triseek.terminal import status

USUAL = {"palace": "", "http": ""}
"""Options of `triseek memory serve`, and their defaults."""


def serve(palace: str, http: str) -> int:  # noqa: ARG001
    """Serve a client by standard streams until it has left; the process ends with it.

    Args:
        palace: Of calls that name none, made if it does not exist; "" if each must name one.
        http: HOST:PORT at which the memory is served by HTTP, too; "" for nowhere.

    Raises:
        InvalidRequest: `palace` is not a palace's name.
    """
    from triseek.memory.profile import serving

    serving.serve(palace)
    os._exit(status.FOUND)  # a normal exit would wait for threads in the background
