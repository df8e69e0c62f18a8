"""Declaration of the workflows wing: prebuilt workflows, and scripts that agents write."""

from triseek.model.tool import Wing
from triseek.workflows.context import WorkflowContext
from triseek.workflows.tools import TOOLS

WING = Wing(
    toolset="workflows",
    tools=TOOLS,
    context=WorkflowContext,
    is_default=False,
)
"""The workflow tools, as agents are offered them."""
