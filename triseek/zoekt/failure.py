"""Why one host gave no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triseek.model.code_search import HostState


class HostFailure(Exception):
    """A host gave no answer, or one that cannot be used; others may answer.

    `str()` is a line that says what went wrong, without the host's name.
    """

    def __init__(self, state: HostState, detail: str) -> None:
        super().__init__(detail)
        self.state = state
