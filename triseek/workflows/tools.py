"""The table of the workflow tools: the four of zoekt-mcp, and an alias that is not listed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from triseek.model.tool import Tool
from triseek.workflows import handlers, requests, results

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def digest(_tool: str, _arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the page: these tools answer with markdown."""
    yield answer["result"]


_page = partial(
    Tool, toolset="workflows", results=(results.MarkdownAnswer,), listed="result", digest=digest,
)  # fmt: skip

TOOLS: tuple[Tool, ...] = (
    _page(
        name="search_capabilities", title="Find workflows", kind="search_capabilities",
        request=requests.SearchCapabilitiesRequest, answer=handlers.search_capabilities,
    ),
    _page(
        name="read_capability", title="How to call a workflow", kind="read_capability",
        request=requests.ReadCapabilityRequest, answer=handlers.read_capability,
    ),
    _page(
        name="run_workflow_cli", title="Run a workflow", kind="run_workflow_cli",
        request=requests.RunWorkflowCliRequest, answer=handlers.run_workflow_cli,
    ),
    _page(
        name="run_custom_workflow_code", title="Run a script", kind="run_custom_workflow_code",
        request=requests.RunCustomWorkflowCodeRequest, answer=handlers.run_custom_workflow_code,
    ),
    _page(
        name="list_capabilities", title="All workflows", kind="list_capabilities",
        request=requests.ListCapabilitiesRequest, answer=handlers.list_capabilities,
        is_listed=False,
    ),
)  # fmt: skip
"""In the order in which they are listed."""
