"""Declaration of the memory wing: facts of a project that outlive sessions."""

from triseek.memory.context import MemoryContext
from triseek.memory.tools import TOOLS
from triseek.model.tool import Wing

WING = Wing(
    toolset="memory",
    tools=TOOLS,
    context=MemoryContext,
    needs_daemon=True,
    is_default=False,
)
"""The memory tools, as agents are offered them."""
