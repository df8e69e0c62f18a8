"""Gemini CLI's files."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from tests.agents.places import PROGRAM, place, plant
from triseek.agents.gemini import Gemini
from triseek.agents.install.hook_entries import command


@pytest.fixture
def here(tmp_path):
    return place(tmp_path)


@pytest.fixture
def folder(here):
    return here.folder / "home" / ".gemini"


@pytest.fixture
def settings(here, folder):
    here.install(Gemini(), "user")
    return json.loads((folder / "settings.json").read_text())


def test_every_hook_runs_the_shim_of_its_event(settings):
    for event, [group] in settings["hooks"].items():
        [hook] = group["hooks"]
        assert hook["command"] == command(PROGRAM, event, "gemini")
        assert (hook["type"], hook["timeout"]) == ("command", 5000)


def test_what_was_used_is_told_and_only_our_own_tools_are_asked_about(settings):
    [asked], [told] = settings["hooks"]["BeforeTool"], settings["hooks"]["AfterTool"]

    assert re.fullmatch(asked["matcher"], "mcp_triseek_memo_check")
    assert not re.search(asked["matcher"], "read_file")
    assert re.fullmatch(told["matcher"], "read_file")


def test_other_hooks_stay_where_they_are(here, folder):
    theirs = {"matcher": "write_.*", "hooks": [{"type": "command", "command": "lint"}]}
    told = {"hooks": {"AfterTool": [theirs]}}
    plant(str(folder / "settings.json"), json.dumps(told).encode())

    here.install(Gemini(), "user")

    [first, _] = json.loads((folder / "settings.json").read_text())["hooks"]["AfterTool"]
    assert first == theirs


def test_the_command_holds_its_arguments(here, folder):
    here.install(Gemini(), "user")

    told = tomllib.loads((folder / "commands" / "triseek.toml").read_text())

    assert "{{args}}" in told["prompt"]
    assert told["description"]
    assert "!{" not in told["prompt"]  # which would run it
    assert "@{" not in told["prompt"]


def test_its_folder_follows_the_variable(tmp_path):
    there = place(tmp_path, GEMINI_CLI_HOME=str(tmp_path / "elsewhere"))

    [settings, _] = there.install(Gemini(), "user")

    assert settings.path == str(tmp_path / "elsewhere" / ".gemini" / "settings.json")
