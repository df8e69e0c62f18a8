"""Declaration of the memo wing: what agents have been shown."""

from triseek.memo.handlers import MemoContext
from triseek.memo.tools import TOOLS
from triseek.model.tool import Wing

WING = Wing(
    toolset="memo",
    tools=TOOLS,
    context=MemoContext,
    needs_daemon=True,
)
