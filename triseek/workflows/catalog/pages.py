"""The pages of the catalog as markdown: hits of a search, and one capability in full."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from triseek.workflows.markdown import code, fenced

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.workflows.catalog.capability import Capability

LEGEND = (
    "### Capability Types",
    "- `workflow`: prebuilt analysis flows invoked with `run_workflow_cli`.",
    "- `runtime_tool`: Python helpers available in custom code as `runtime.zoekt_tools.*`.",
    "- `execution_pattern`: guidance capabilities for execution interfaces (prefix `execution.*`).",
)
_NO_HITS = (
    "No capabilities matched.",
    "",
    "Try a broader query:",
    "- Use 2-5 keywords instead of a sentence.",
    "- Start with intent words: `repo discovery`, `symbol definition`, `file context`.",
    "- Drop stack traces and literals.",
)
QUERY_MAX = 300
"""Characters of a query that are repeated in an answer."""


def hits(query: str, capabilities: Sequence[Capability]) -> str:
    """Return the answer to a search."""
    return "\n".join(_hit_lines(query, capabilities)).rstrip()


def _hit_lines(query: str, capabilities: Sequence[Capability]) -> Iterator[str]:
    shown = query if len(query) <= QUERY_MAX else query[: QUERY_MAX - 3] + "..."
    yield from ("## Capability Search Results", "", f"- Query: {code(shown)}")
    yield from (f"- Hits: `{len(capabilities)}`", "", *LEGEND, "")
    if not capabilities:
        yield from _NO_HITS
    for number, capability in enumerate(capabilities, 1):
        yield f"### {number}. `{capability.id}`"
        yield f"- Kind: `{capability.kind}`"
        yield f"- Summary: {capability.summary}"
        yield f"- When to use: {capability.when_to_use}"
        yield f"- Required args: `{', '.join(capability.required) or '(none)'}`"
        yield f"- Example: `{capability.example}`"
        yield ""


def document(capability: Capability) -> str:
    """Return all that the catalog has of a capability."""
    constraints = [f"- {constraint}" for constraint in capability.constraints] or ["- (none)"]
    lines = [
        f"## Capability: {code(capability.id)}", "", f"- Kind: `{capability.kind}`", "",
        *LEGEND, "",
        "### Description", capability.description, "",
        "### Arg Schema", *fenced(_sorted(capability.schema()), "json"), "",
        "### Examples",
        *fenced(json.dumps(list(capability.examples), indent=2), "json"), "",
        "### Constraints", *constraints, "",
        "### Expected Output Shape", *fenced(_sorted(dict(capability.output)), "json"),
    ]  # fmt: skip
    return "\n".join(lines)


def _sorted(document: object) -> str:
    return json.dumps(document, indent=2, sort_keys=True)
