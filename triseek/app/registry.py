"""The wings, and the tools of all of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from triseek.app import wings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.model.tool import Tool, Wing

WINGS: tuple[Wing, ...] = tuple(
    import_module(f"triseek.{folder}.wing").WING for folder in wings.WINGS
)
TOOLS: tuple[Tool, ...] = tuple(tool for wing in WINGS for tool in wing.tools)
"""In the order in which they are listed."""


def chosen(toolsets: Sequence[str]) -> tuple[Tool, ...]:
    """Return the tools of some toolsets."""
    names = {
        wing.toolset
        for wing in WINGS
        if wing.toolset in toolsets or (wing.is_default and wings.DEFAULT in toolsets)
    }
    return tuple(tool for tool in TOOLS if tool.toolset in names)
