"""Finds the project of a folder, whose memory is one palace."""

from __future__ import annotations

from triseek.engine.roots import project
from triseek.files.tree.root import main_tree


def project_root(folder: str) -> str:
    """Return the folder that a palace belongs to; a working tree has that of its repository."""
    return main_tree(project(folder))
