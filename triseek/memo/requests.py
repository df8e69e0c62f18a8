"""What agents ask of the memo tools.

The docstring of a class is its tool's description, the one under a field that argument's: agents
read the sentences developers do. They are bought with an agent's context, so they are short, and
each tool says what it is for, when it beats grep, and gives one example.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from triseek.model.tool import STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoStatusRequest:
    """Say of files whether you have read them in this session and they are unchanged since.

    Use before reading several files again: those that are `fresh` are in your context as they are
    now, unless `primed`: those are as a resumed session knew them.
    Example: {"files": ["src/auth/router.rs"]}.
    """

    __pydantic_config__: ClassVar = STRICT

    files: tuple[str, ...]
    """Paths, absolute or below the root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoSessionRequest:
    """List the files you have read in this session, and the tokens saved by not re-reading them."""

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoCheckRequest:
    """Say whether a file you have read has to be read again; call it before you do.

    `skip_reread`: it is in your context as it is now. `reread_with_diff`: `diff` says what has
    changed since. `reread`: read it. Example: {"path": "src/auth/router.rs"}.
    """

    __pydantic_config__: ClassVar = STRICT

    path: str
    """The file, absolute or below the root."""
