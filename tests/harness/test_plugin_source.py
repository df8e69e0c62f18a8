"""The TypeScript files as text; real agents load them in `tests/e2e/test_plugins.py`."""

from __future__ import annotations

import json
import re

import pytest

from triseek import __version__
from triseek.harness.plugin_source import plugin
from triseek.harness.slash_command import MARKER

NAMES = ["opencode", "pi"]


@pytest.mark.parametrize("name", NAMES)
def test_it_says_whose_it_is_and_which_version(name):
    first = plugin(name, "/bin/triseek").splitlines()[0]

    assert first == f"// {MARKER}_PLUGIN: harness={name} version={__version__}"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("program", ["/bin/triseek", 'C:\\a "b"\\triseek.exe', "/ü/${x}`/triseek"])
def test_the_program_is_a_string_of_its_own(name, program):
    text = plugin(name, program)

    [written] = re.findall(r"^const PROGRAM: string = (.*);$", text, re.MULTILINE)
    assert json.loads(written) == program
    assert f'const HARNESS: string = "{name}";' in text
    assert "@PROGRAM@" not in text
    assert "@HARNESS@" not in text


@pytest.mark.parametrize("name", NAMES)
def test_it_needs_nothing_but_node(name):
    for line in plugin(name, "/bin/triseek").splitlines():
        if line.startswith("import ") and not line.startswith("import type "):
            assert re.search(r' from "node:[a-z_]+";$', line), line


@pytest.mark.parametrize("name", NAMES)
def test_it_tells_every_moment(name):
    text = plugin(name, "/bin/triseek")

    for event in (
        "PreToolUse", "PostToolUse", "SessionStart", "SessionEnd", "PreCompact",
        "UserPromptSubmit", "ContextChanged",
    ):  # fmt: skip
        assert f'"{event}"' in text
