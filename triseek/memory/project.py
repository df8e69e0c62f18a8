"""Finds the project of a folder, whose memory is one palace."""

from __future__ import annotations

from triseek.engine.roots import project
from triseek.files.tree.index_policy import repository
from triseek.files.tree.root import main_tree


def project_root(folder: str) -> str:
    """Return the folder that a palace belongs to; a working tree has that of its repository."""
    top = repository(folder)  # none if a home folder's dotfiles are in git, unlike `main_tree`
    return project(folder) if top is None else main_tree(top)
