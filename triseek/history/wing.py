"""Declaration of the history wing: what was done, said and learned in earlier conversations."""

from triseek.history.context import HistoryContext
from triseek.history.tools import TOOLS
from triseek.model.tool import Wing

WING = Wing(
    toolset="history",
    tools=TOOLS,
    context=HistoryContext,
    needs_daemon=True,
    is_default=False,
)
