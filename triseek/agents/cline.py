"""Cline: an MCP server entry for its program and for its VS Code extension."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from triseek.agents.base import NAME, Agent
from triseek.agents.cline_transcripts import ClineTranscripts
from triseek.agents.install.entries import JsonMember
from triseek.agents.listing import Listed, document
from triseek.agents.vscode import editions

if TYPE_CHECKING:
    from triseek.agents.base import Edit, InstallPlace, Scope
    from triseek.agents.listing import Ran

RULES, OUR_RULE = ".clinerules", "triseek.md"
"""Cline's rules, a file or a folder of Markdown files; and our file in that folder."""
_FILE = ("settings", "cline_mcp_settings.json")
_EXTENSION = ("globalStorage", "saoudrizwan.claude-dev")


class Cline(Agent):
    """The program `cline`, and the VS Code extension: each has its own settings file."""

    name = "cline"
    title = "Cline"
    scopes = ("user",)
    programs = ("cline",)
    question_words = ("cline", "config", "mcp", "--json")
    client_names = ("cline", "@cline")
    transcripts = ClineTranscripts()
    shown_form = "both"
    shown_form_evidence = "3.0.65"
    handoff_name = "cline"
    paste = "Call session_resume of the MCP server triseek with snapshot_id {id}"
    after_install = (
        "`cline config mcp` lists the server; in VS Code, Cline's MCP Servers page does.",
    )

    def data_folders(self, here: InstallPlace) -> list[str]:
        """Return the folders where the program and the extension store data."""
        return [_home(here), *_extensions(here)]

    def plan(self, scope: Scope, here: InstallPlace) -> list[Edit]:  # noqa: ARG002 - there is only one
        """Return the edits for the server, in each settings file that is read here."""
        paths = [os.path.join(folder, *_FILE) for folder in _extensions(here)]  # noqa: PTH118
        if not paths or here.first_found(self.programs, [_home(here)]):
            paths.insert(0, _settings(here))
        return [JsonMember(path, ("mcpServers", NAME), here.server(), "bare") for path in paths]

    def listed(self, ran: Ran) -> Listed:
        """Read `cline config mcp --json`, which does not try the servers."""
        servers = document(ran.out)
        if not isinstance(servers, list):
            return Listed("absent" if "No MCP settings" in ran.out + ran.err else "unclear")
        for server in servers:
            if isinstance(server, dict) and server.get("name") == NAME:
                return Listed("off" if server.get("disabled") else "known")
        return Listed("absent")

    def project_file(self, root: str) -> str:
        """Return the rules file, or our own file in the rules folder."""
        rules = Path(root, RULES)
        return RULES if rules.is_file() else f"{RULES}/{OUR_RULE}"


def _home(here: InstallPlace) -> str:
    return here.folder("CLINE_DIR", ".cline")


def _settings(here: InstallPlace) -> str:
    """Return the program's settings file, by the variables that it reads."""
    path = here.environ.get("CLINE_MCP_SETTINGS_PATH", "").strip()
    if path:
        return os.path.join(here.cwd, path)  # noqa: PTH118
    data = here.environ.get("CLINE_DATA_DIR", "").strip()
    folder = os.path.join(here.cwd, data) if data else os.path.join(_home(here), "data")  # noqa: PTH118
    return os.path.join(folder, *_FILE)  # noqa: PTH118


def _extensions(here: InstallPlace) -> list[str]:
    """Return the folder where the extension stores data, for each edition of VS Code."""
    folders = [os.path.join(user, *_EXTENSION) for user in editions(here)]  # noqa: PTH118
    return [folder for folder in folders if os.path.isdir(folder)]  # noqa: PTH112


AGENT = Cline()
