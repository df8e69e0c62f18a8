"""What the memory tools of one agent work on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from triseek.memory.project import project_root

if TYPE_CHECKING:
    from triseek.memory.service import Memory


class Host(Protocol):
    """What the tools need of a `ToolHost`."""

    @property
    def root(self) -> str:
        """The folder of the agent, absolute."""

    def daemon_service(self, toolset: str) -> Any:  # noqa: ANN401 - each wing knows its own
        """Return what is kept for a toolset."""


class MemoryContext:
    """What the memory tools of one agent work on."""

    def __init__(self, host: Host) -> None:
        """Work on the root of `host`."""
        self._host = host

    @property
    def memory(self) -> Memory:
        """What the daemon keeps. Raises as `ToolHost.daemon_service`."""
        memory: Memory = self._host.daemon_service("memory")
        return memory

    def palace(self, name: str, *, creates: bool = False) -> str:
        """Return the palace that a call is about; "" if none is named and the project has none.

        Args:
            name: The palace that the call names; "" for that of the project.
            creates: Whether to make the project's palace if need be.

        Raises: as `memory` and `Memory.palace_of`.
        """
        return name or self.memory.palace_of(project_root(self._host.root), creates=creates)
