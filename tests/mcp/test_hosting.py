"""Which folder a server answers for."""

from __future__ import annotations

import os

import pytest

from triseek.mcp import hosting


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A repository with a folder, in which we are."""
    for name in hosting.ROOT_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "repo/.git").mkdir(parents=True)
    (tmp_path / "repo/below/deep").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "repo/below/deep")
    return tmp_path


def test_what_is_given_comes_first(here, monkeypatch):
    monkeypatch.setenv("TRISEEK_REPO_ROOT", str(here / "repo"))

    assert hosting.choose_root(str(here / "other")) == str(here / "other")


@pytest.mark.parametrize("given", [None, ""])
def test_then_the_variables_in_their_order(here, monkeypatch, given):
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(here / "other"))
    assert hosting.choose_root(given) == str(here / "other")

    monkeypatch.setenv("TRISEEK_REPO_ROOT", str(here / "repo/below"))
    assert hosting.choose_root(given) == str(here / "repo/below")


def test_then_the_repository_around_the_working_folder(here):
    assert hosting.choose_root(None) == str(here / "repo")


def test_a_worktrees_git_file_marks_a_repository_too(here, monkeypatch):
    (here / "other/.git").write_text("gitdir: elsewhere\n")
    monkeypatch.chdir(here / "other")

    assert hosting.choose_root(None) == str(here / "other")


def test_and_at_last_the_working_folder(tmp_path_factory, monkeypatch):
    bare = tmp_path_factory.mktemp("bare")
    monkeypatch.chdir(bare)

    assert hosting.choose_root(None) == os.path.realpath(bare)


def test_every_spelling_is_one_root(here, monkeypatch):
    os.symlink(here / "repo", here / "link")
    monkeypatch.setenv("HOME", str(here))

    spellings = (f"{here}/link", "~/repo", "../..", f"{here}/repo/")

    assert {hosting.choose_root(text) for text in spellings} == {str(here / "repo")}


def test_a_root_need_not_be_there_yet(here):
    assert hosting.choose_root(str(here / "later")) == str(here / "later")


def test_a_repository_of_dotfiles_is_not_the_root_of_a_project_below_it(here, monkeypatch):
    monkeypatch.setenv("HOME", str(here))
    (here / ".git").mkdir()
    monkeypatch.chdir(here / "other")

    assert hosting.choose_root(None) == str(here / "other")


@pytest.mark.parametrize("home", [True, False])
def test_a_root_that_is_named_is_taken_whatever_it_is(here, monkeypatch, home):
    monkeypatch.setenv("HOME", str(here if home else here / "other"))

    assert hosting.choose_root(str(here)) == str(here)
