"""Declaration of the toolset history-work; its commands are those of the history wing."""

from triseek.history.context import HistoryContext
from triseek.history.work.tools import TOOLS
from triseek.model.tool import Wing

WING = Wing(
    toolset="history-work",
    tools=TOOLS,
    context=HistoryContext,
    needs_daemon=True,
    is_default=False,
)
