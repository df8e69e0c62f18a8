"""Which folders are indexed without being asked for, and which repository a folder belongs to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import plant
from triseek import errors
from triseek.files.tree import index_policy
from triseek.files.tree.index_policy import refusal, repository


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A home folder with a project in it."""
    folder = Path(os.path.realpath(tmp_path))
    (folder / "home/me/project/src").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder / "home/me"))
    return folder


def test_the_file_system_is_not_indexed_by_itself(place):
    assert "whole file system" in refusal("/").reason


@pytest.mark.parametrize(("folder", "verb"), [("home/me", "is"), ("home", "holds"), ("", "holds")])
def test_the_home_folder_and_those_above_it_are_not(place, folder, verb):
    root = str(place / folder).rstrip("/")
    refused = refusal(root)

    assert f"{verb} the home folder" in refused.reason
    assert f"triseek build {root}" in refused.next_step


def test_they_are_not_although_git_keeps_them(place):
    (place / "home/me/.git").mkdir()
    (place / "home/.git").mkdir()

    assert refusal(str(place / "home/me"))
    assert refusal(str(place / "home"))


def test_the_home_folder_is_known_by_its_real_path(place, monkeypatch):
    (place / "link").symlink_to(place / "home/me")
    monkeypatch.setenv("HOME", str(place / "link"))

    assert refusal(str(place / "home/me"))


@pytest.mark.parametrize("folder", ["home/me2", "home/me/project", "home/m", "other"])
def test_a_folder_beside_or_below_it_is(place, folder):
    (place / folder).mkdir(exist_ok=True)

    assert refusal(str(place / folder)) is None


def test_a_folder_without_git_is_up_to_a_number_of_files(place, monkeypatch):
    monkeypatch.setenv("TRISEEK_INDEX_AUTO_MAX_FILES", "12")
    root = place / "other"
    plant(place, {f"other/{number}": "x\n" for number in range(10)})
    assert refusal(str(root)) is None

    plant(place, {"other/a/b/one": "x\n", "other/a/c/two": "x\n"})
    refused = refusal(str(root))

    assert "in no git repository and holds more than 12 files" in refused.reason
    (root / ".git").mkdir()
    assert refusal(str(root)) is None


def test_what_is_ignored_does_not_count(place, monkeypatch):
    monkeypatch.setenv("TRISEEK_INDEX_AUTO_MAX_FILES", "5")
    plant(place, {f"other/built/{number}": "x\n" for number in range(10)})
    plant(place, {"other/.ignore": "built/\n"})

    assert refusal(str(place / "other")) is None


def test_counting_ends_soon_after_the_limit(place, monkeypatch):
    monkeypatch.setenv("TRISEEK_INDEX_AUTO_MAX_FILES", "20")
    for number in range(2_000):
        (place / f"other/{number}").mkdir(parents=True)
    listed, scandir = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(path) or scandir(path))

    assert refusal(str(place / "other"))
    assert len(listed) < 30


def test_a_folder_that_takes_long_to_count_is_large(place, monkeypatch):
    monkeypatch.setattr(index_policy, "COUNT_S", 0.0)
    plant(place, {"other/one": "x\n"})

    assert refusal(str(place / "other"))


def test_a_folder_that_is_gone_is_an_error(place):
    with pytest.raises(errors.RepoNotDetected):
        refusal(str(place / "gone"))


@pytest.mark.parametrize("above", ["home/me", "home", ""])
def test_a_repository_at_the_home_folder_or_above_it_is_not_that_of_a_project(place, above):
    (place / above / ".git").mkdir()

    assert repository(str(place / "home/me/project/src")) is None
    assert repository(str(place / above)) is None


def test_the_nearest_repository_is(place):
    (place / "home/me/.git").mkdir()
    (place / "home/me/project/.git").mkdir()

    assert repository(str(place / "home/me/project/src")) == str(place / "home/me/project")


@pytest.mark.parametrize("home", ["", "relative", "/"])
def test_without_a_home_folder_only_the_file_system_is_refused(place, monkeypatch, home):
    monkeypatch.setenv("HOME", home)

    assert refusal("/")
    assert refusal(str(place / "home/me")) is None
