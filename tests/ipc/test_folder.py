"""The daemon's folder is its owner's alone."""

from __future__ import annotations

import os
import stat

import pytest

from triseek import paths
from triseek.errors import StateUnwritable
from triseek.ipc import folder


def test_the_folder_is_made_for_its_owner_only(home, monkeypatch):
    monkeypatch.setenv("TRISEEK_HOME", str(home / "not" / "yet"))

    assert stat.S_IMODE(os.stat(folder.ensure()).st_mode) == 0o700


def test_a_folder_open_to_others_is_closed(home):
    os.mkdir(paths.daemon(), 0o755)
    os.chmod(paths.daemon(), 0o777)

    assert stat.S_IMODE(os.stat(folder.ensure()).st_mode) == 0o700


def test_a_link_is_refused_wherever_it_leads(home, tmp_path):
    os.symlink(tmp_path, paths.daemon())

    with pytest.raises(StateUnwritable, match="is a link"):
        folder.ensure()


def test_a_file_is_refused(home):
    (home / "daemon").write_text("")

    with pytest.raises(StateUnwritable, match="is no folder"):
        folder.ensure()


@pytest.mark.root
def test_a_folder_of_another_user_is_refused_and_left_as_it_is(home):
    os.mkdir(paths.daemon(), 0o777)
    os.chown(paths.daemon(), 65534, 65534)
    before = os.stat(paths.daemon())

    with pytest.raises(StateUnwritable, match="belongs to another user"):
        folder.ensure()
    assert os.stat(paths.daemon()).st_mode == before.st_mode


def test_a_home_that_cannot_be_made_is_said(home, monkeypatch):
    (home / "file").write_text("")
    monkeypatch.setenv("TRISEEK_HOME", str(home / "file" / "below"))

    with pytest.raises(StateUnwritable, match="cannot use the folder"):
        folder.ensure()
