"""Digests of tools by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.app import dispatch
from triseek.app.registry import TOOLS

if TYPE_CHECKING:
    from collections.abc import Mapping

_BY_NAME = {tool.name: tool for tool in TOOLS}


def digest(name: str, arguments: Mapping[str, Any], envelope: Mapping[str, Any]) -> str:
    return dispatch.digest(_BY_NAME[name], arguments, envelope)
