"""Gemini CLI's files."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from tests.harness import installing
from tests.harness.installing import Place


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.fixture
def settings(place):
    place.install("gemini")
    return json.loads((place.home / ".gemini" / "settings.json").read_text())


def test_every_hook_runs_the_shim_of_its_event(settings):
    for event, [group] in settings["hooks"].items():
        [hook] = group["hooks"]
        assert hook["command"] == f"'{installing.PROGRAM}' hook {event} --harness gemini"
        assert (hook["type"], hook["timeout"]) == ("command", 5000)


def test_what_was_used_is_told_and_only_our_own_tools_are_asked_about(settings):
    [asked], [told] = settings["hooks"]["BeforeTool"], settings["hooks"]["AfterTool"]

    assert re.fullmatch(asked["matcher"], "mcp_triseek_memo_check")
    assert not re.search(asked["matcher"], "read_file")
    assert re.fullmatch(told["matcher"], "read_file")


def test_other_hooks_stay_where_they_are(place):
    theirs = {"matcher": "write_.*", "hooks": [{"type": "command", "command": "lint"}]}
    path = place.home / ".gemini" / "settings.json"
    place.write(path, json.dumps({"hooks": {"AfterTool": [theirs]}}, indent=2).encode())

    place.install("gemini")

    assert installing.value(path)["hooks"]["AfterTool"][0] == theirs
    assert len(installing.value(path)["hooks"]["AfterTool"]) == 2
    place.uninstall("gemini")
    assert installing.value(path) == {"hooks": {"AfterTool": [theirs]}}


def test_the_command_holds_its_arguments(place, settings):
    told = tomllib.loads((place.home / ".gemini" / "commands" / "triseek.toml").read_text())

    assert "{{args}}" in told["prompt"]
    assert told["description"]
    assert "!{" not in told["prompt"]  # which would run it
    assert "@{" not in told["prompt"]


def test_its_folder_follows_the_variable(tmp_path):
    place = Place(tmp_path, GEMINI_CLI_HOME=str(tmp_path / "elsewhere"))

    [settings, _] = place.install("gemini")

    assert settings.path == str(tmp_path / "elsewhere" / ".gemini" / "settings.json")
