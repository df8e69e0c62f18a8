"""Zed: a context server entry for its agent, in `settings.json`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from triseek.agents.base import NAME, Agent
from triseek.agents.install.entries import JsonMember
from triseek.agents.zed_transcripts import ZedTranscripts

if TYPE_CHECKING:
    from triseek.agents.base import Edit, InstallPlace, Scope


class Zed(Agent):
    """The editor `zed`. Its settings are JSON with comments and trailing commas."""

    name = "zed"
    title = "Zed"
    programs = ("zed", "zeditor", "zed-editor")
    project_folder = ".zed"
    client_names = ("zed",)
    transcripts = ZedTranscripts()
    shown_form = "text"
    shown_form_evidence = "its source: zed-industries/zed, context_server_registry.rs of 00400088"
    after_install = (
        "Zed starts it at once; the agent panel's settings show a green dot beside it.",
    )

    def user_folder(self, here: InstallPlace) -> str:
        """Return the folder of the person's settings."""
        if sys.platform == "win32":
            return os.path.join(here.folder("APPDATA", "AppData", "Roaming"), "Zed")  # noqa: PTH118
        if sys.platform == "darwin":
            return here.in_home(".config", "zed")
        return os.path.join(here.folder("XDG_CONFIG_HOME", ".config"), "zed")  # noqa: PTH118

    def plan(self, scope: Scope, here: InstallPlace) -> list[Edit]:
        """Return the edit for the server."""
        server = {**here.server(), "env": {}}
        path = self.path(scope, here, "settings.json")
        return [JsonMember(path, ("context_servers", NAME), server)]


AGENT = Zed()
