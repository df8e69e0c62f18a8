"""Folders as somebody typed them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from triseek.errors import RepoNotDetected
from triseek.terminal import options

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_has_one_spelling(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)

    assert options.existing_folder(f"{tmp_path}/link/.") == str(tmp_path.resolve())
    with pytest.raises(RepoNotDetected):
        options.existing_folder(str(tmp_path / "none"))
