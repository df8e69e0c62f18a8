"""Where VS Code and the editors made of it keep what belongs to a person."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triseek.harness.base import Here

_EDITIONS = ("Code", "Code - Insiders", "VSCodium")


def applications(here: Here) -> str:
    """The folder in which applications keep their settings, as the system has it."""
    if sys.platform == "darwin":
        return here.in_home("Library", "Application Support")
    if sys.platform == "win32":
        return here.folder("APPDATA", "AppData", "Roaming")
    return here.folder("XDG_CONFIG_HOME", ".config")


def editions(here: Here) -> list[str]:
    """The user folder of each edition of VS Code that is there."""
    base = applications(here)
    folders = [os.path.join(base, name, "User") for name in _EDITIONS]  # noqa: PTH118
    return [folder for folder in folders if os.path.isdir(folder)]  # noqa: PTH112


def first_edition(here: Here) -> str:
    """VS Code's own user folder, whether it is there or not."""
    return os.path.join(applications(here), _EDITIONS[0], "User")  # noqa: PTH118
