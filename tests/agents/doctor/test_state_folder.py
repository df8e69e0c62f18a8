"""The state folder and the settings."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from tests.agents.doctor.conftest import only
from triseek import paths
from triseek.agents.doctor import state_folder


@pytest.mark.root
def test_another_users_state_folder_fails(host, home):
    os.chown(home, 65533, 65533)

    said = only(state_folder.folder(host()))

    assert said.level == "fail"
    assert f"{home} belongs to another user (uid 65533)" in said.detail


def test_a_state_folder_is_fine_whether_it_is_there_or_not(host, monkeypatch, tmp_path):
    assert only(state_folder.folder(host())).level == "ok"
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path / "not" / "yet"))
    assert only(state_folder.folder(host())).level == "ok"
    assert not (tmp_path / "not").exists()


def test_a_state_folder_that_is_a_file_fails(host, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path / "file"))

    said = only(state_folder.folder(host()))

    assert said.level == "fail"
    assert "TRISEEK_HOME" in said.mend


def test_what_others_may_read_is_told_of_with_the_command_that_ends_it(host):
    memo = Path(paths.daemon(), "memo")
    memo.mkdir(parents=True)
    Path(paths.daemon()).chmod(0o700)
    memo.chmod(0o700)
    kept = memo / "state.json"
    kept.write_text("{}")
    kept.chmod(0o600)
    assert only(state_folder.privacy(host())).level == "ok"

    kept.chmod(0o644)
    said = only(state_folder.privacy(host()))
    subprocess.run(said.mend, shell=True, check=True)

    assert said.level == "warn"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert only(state_folder.privacy(host())).level == "ok"


def test_a_daemons_folder_that_is_a_link_fails(host, tmp_path):
    Path(paths.daemon()).symlink_to(tmp_path)

    assert only(state_folder.privacy(host())).level == "fail"


def test_nothing_kept_is_nothing_to_tell(host, monkeypatch, tmp_path):
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path / "not" / "yet"))
    assert list(state_folder.privacy(host())) == []


def test_settings_that_make_no_sense_fail(host):
    assert only(state_folder.settings(host())).level == "ok"
    Path(paths.config_file()).write_text("[daemon]\nautostart = 3\n")

    said = only(state_folder.settings(host()))

    assert said.level == "fail"
    assert "autostart" in said.detail
