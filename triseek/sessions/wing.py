"""The declaration of the sessions wing: work that is handed from one agent to another."""

from triseek.model.tool import Wing
from triseek.sessions.handlers import SessionContext
from triseek.sessions.tools import TOOLS

WING = Wing(
    toolset="session",
    tools=TOOLS,
    context=SessionContext,
    needs_daemon=True,
)
