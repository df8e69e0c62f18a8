"""Handlers of the workflow tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.workflows.catalog import pages
from triseek.workflows.catalog.capability import unknown
from triseek.workflows.catalog.search import LIMIT_MAX, read, search

if TYPE_CHECKING:
    from triseek.model.call import Call
    from triseek.workflows import requests
    from triseek.workflows.context import WorkflowContext
    from triseek.workflows.results import MarkdownAnswer


def search_capabilities(
    _context: WorkflowContext, request: requests.SearchCapabilitiesRequest, _call: Call
) -> MarkdownAnswer:
    """Search the catalog."""
    hits = search(request.query, request.limit)
    return {"result": pages.hits(request.query, hits)}


def list_capabilities(
    _context: WorkflowContext, _request: requests.ListCapabilitiesRequest, _call: Call
) -> MarkdownAnswer:
    """List the whole catalog."""
    return {"result": pages.hits("", search("", LIMIT_MAX))}


def read_capability(
    _context: WorkflowContext, request: requests.ReadCapabilityRequest, _call: Call
) -> MarkdownAnswer:
    """Return the page of one capability; of kind `error` if there is none with this id."""
    name = request.capability_id
    return {"result": pages.document(read(name) or unknown(name[: pages.QUERY_MAX]))}


def run_workflow_cli(
    context: WorkflowContext, request: requests.RunWorkflowCliRequest, call: Call
) -> MarkdownAnswer:
    """Run a prebuilt workflow."""
    run = context.workflows.run_command(request.command, request.timeout_seconds, call.cancelled)
    return {"result": run.markdown}


def run_custom_workflow_code(
    context: WorkflowContext, request: requests.RunCustomWorkflowCodeRequest, call: Call
) -> MarkdownAnswer:
    """Run a script of an agent."""
    run = context.workflows.run_code(
        request.code, request.args, request.timeout_seconds, call.cancelled
    )
    return {"result": run.markdown}
