"""Parameters from outside: what is taken, and what is refused in one clear line."""

from __future__ import annotations

import os

import pytest

from triseek.daemon import params
from triseek.errors import InvalidRequest


def test_a_missing_text_is_empty():
    assert params.text({}, "goal") == params.text({"goal": None}, "goal") == ""


@pytest.mark.parametrize("value", [1, ["a"], {}, True, "x" * 9])
def test_a_text_is_a_string_of_bounded_length(value):
    with pytest.raises(InvalidRequest, match="goal has to be a text of at most 8 characters"):
        params.text({"goal": value}, "goal", most=8)


@pytest.mark.parametrize("folder", [None, 1, "", "src", "./src", "/a\0b", ["/"]])
def test_a_root_is_an_absolute_path(folder):
    with pytest.raises(InvalidRequest, match="target_root has to be an absolute path"):
        params.target_root({"target_root": folder})


def test_a_folder_belongs_to_the_repository_around_it(tmp_path):
    root = os.path.realpath(tmp_path)
    os.makedirs(f"{root}/.git")
    os.mkdir(f"{root}/src")

    assert params.repository({"target_root": f"{root}/src"}) == root


def test_who_asks_is_what_the_request_says():
    asked = params.asker({"session": "s1", "harness": "codex", "target_root": "/"}, "who")

    assert (asked.session, asked.harness, asked.agent, asked.call) == ("s1", "codex", "", "")
