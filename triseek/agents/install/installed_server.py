"""How the settings that are installed in an agent start our server: with which words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.agents.base import TOOLSETS_OPTION
from triseek.agents.install import apply, ledger
from triseek.agents.install.entries import JsonMember, mcp_words
from triseek.agents.install.toml_edits import TomlTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triseek.agents.base import Edit, Scope
    from triseek.agents.install.ledger import Ledger


def words_of(edits: Iterable[Edit]) -> list[str]:
    """Return the words of the first server among some edits; empty if there is none."""
    servers = (edit.value for edit in edits if isinstance(edit, (JsonMember, TomlTable)))
    return next((words for server in servers if (words := mcp_words(server)) and words[0]), [])


def toolsets_of(words: Sequence[str]) -> str:
    """Return the toolsets that a server's words name, separated by commas; "" for the default."""
    at = words.index(TOOLSETS_OPTION) + 1 if TOOLSETS_OPTION in words else len(words)
    return words[at] if at < len(words) else ""


def edits_of(
    agent: str, scope: Scope, cwd: str, install_ledger: Ledger | None = None
) -> list[Edit]:
    """Return the edits that the ledger has of an agent, in one scope and folder."""
    owner = apply.owner_of(agent, scope, cwd)
    files = (install_ledger or ledger.load()).files.values()
    return [edit for file in files for edit in file.of(owner)]
