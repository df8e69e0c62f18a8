"""In which form a client gets the results of tools: lean or full.

The full form is the contract's: a few lines of text, and the whole envelope as structured content.
Some agents show their model the structured content instead of the text, at several times the
tokens, or both; and which of them an agent shows has changed between its versions. Agents whose
model sees the text where nothing else is sent get the lean form: the text alone, and tools listed
without an output schema, because the protocol demands structured content where one is declared.
"""

from __future__ import annotations

import functools

from triseek.agents import registry


@functools.lru_cache(maxsize=64)  # asked on every call
def is_lean(client: str | None, setting: str) -> bool:
    """Return whether a client gets the lean form.

    Args:
        client: The name the client gives itself; None if it gives none.
        setting: The setting `mcp.structured`.
    """
    if setting == "full" or client is None:
        return False
    agent = registry.by_client(client)
    return agent is not None and agent.shown_form is not None
