"""A context whose daemon's sessions are real."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.app.worked import Worked
from triseek.app.tool_context import ToolContext
from triseek.engine.tool_host import ToolHost
from triseek.model.call import Call

if TYPE_CHECKING:
    from pathlib import Path


class Asked:
    """A root that is worked in."""

    def __init__(self, folder: Path) -> None:
        self.worked = Worked(folder)
        self.root = self.worked.root
        keeping = self.worked.keeping
        host = ToolHost(
            service=self.worked.service, root=self.root, services={"session": keeping.operations}
        )
        self.context = ToolContext(host, keeping.recorder.of_tools, keeping.resuming)
        self.call = Call(connection="stdio", who={"harness": "claude-code"})

    def noted(self, session_id: str) -> list[dict[str, Any]]:
        """The payloads of a session's entries."""
        return [payload for _, payload in self.worked.entries(session_id)]
