"""wings: the table of the verbs is that of the commands themselves."""

from __future__ import annotations

from importlib import import_module

import pytest
import typer

from triseek.app.registry import WINGS as DECLARED
from triseek.app.wings import COMMANDS, TOOLSETS

_QUICK = {"search", "find-files"}
"""Verbs of the search wing that `cli.command_tree` declares: they run without Typer."""


@pytest.mark.parametrize("module", COMMANDS)
def test_a_wing_registers_the_verbs_that_the_table_names(module):
    app = typer.Typer()

    import_module(module).register(app)

    commands = {
        command.name or command.callback.__name__.replace("_", "-")
        for command in app.registered_commands
    }
    groups = {group.name or group.typer_instance.info.name for group in app.registered_groups}
    assert commands | groups == set(COMMANDS[module]) - _QUICK


def test_the_wings_are_in_the_order_of_the_table():
    assert tuple(wing.toolset for wing in DECLARED) == TOOLSETS
