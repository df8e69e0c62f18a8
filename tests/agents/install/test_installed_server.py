"""The toolsets of an install: written for every agent, found again, replaced and removed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from triseek.agents.base import InstallPlace
from triseek.agents.doctor import clients
from triseek.agents.install import apply, installed_server
from triseek.agents.install.entries import JsonMember
from triseek.agents.registry import AGENTS

if TYPE_CHECKING:
    from pathlib import Path

SCOPES = [(agent, scope) for agent in AGENTS for scope in agent.scopes]
each_scope = pytest.mark.parametrize(
    ("agent", "scope"), SCOPES, ids=[f"{agent.name}-{scope}" for agent, scope in SCOPES]
)


@pytest.fixture
def here(tmp_path: Path, home: Path) -> InstallPlace:
    (tmp_path / "project").mkdir()
    return InstallPlace("/opt/triseek", str(home), str(tmp_path / "project"), {})


def files(here: InstallPlace) -> dict[str, bytes]:
    from pathlib import Path

    found = [*Path(here.home).rglob("*"), *Path(here.cwd).rglob("*")]
    kept = [path for path in found if path.is_file() and "install" not in path.parts]
    return {str(path): path.read_bytes() for path in kept}


def installed(agent, scope, here):
    owner = apply.owner_of(agent.name, scope, here.cwd)
    apply.install(agent.plan(scope, here), owner)
    return installed_server.words_of(installed_server.edits_of(agent.name, scope, here.cwd))


@each_scope
def test_toolsets_are_written_replaced_and_removed(agent, scope, here):
    before = files(here)
    plain = installed(agent, scope, here)
    with_history = installed(agent, scope, replace(here, toolsets="default,history"))
    chosen = files(here)
    with_others = installed(agent, scope, replace(here, toolsets="memo"))

    assert with_history == [*plain, "--toolsets", "default,history"]
    assert with_others == [*plain, "--toolsets", "memo"]
    assert installed(agent, scope, replace(here, toolsets="default,history")) == with_history
    assert files(here) == chosen
    assert sum(b"default,history" in content for content in chosen.values()) >= 1
    owner = apply.owner_of(agent.name, scope, here.cwd)
    apply.uninstall(agent.plan(scope, here), owner)
    assert files(here) == before


@each_scope
def test_the_doctor_accepts_toolsets(agent, scope, here):
    installed(agent, scope, replace(here, toolsets="default,history"))

    scopes = {entry.scope: entry for entry in clients.scopes(agent, here)}

    assert (scopes[scope].program, scopes[scope].lacking) == ("/opt/triseek", ())


@pytest.mark.parametrize(
    ("words", "toolsets"),
    [
        ([], ""),
        (["t", "mcp", "serve"], ""),
        (["t", "mcp", "serve", "--toolsets"], ""),
        (["t", "mcp", "serve", "--toolsets", "memo", "--repo", "x"], "memo"),
    ],
)
def test_toolsets_are_what_follows_the_option(words, toolsets):
    assert installed_server.toolsets_of(words) == toolsets


@pytest.mark.parametrize("value", [None, 5, {}, {"command": [7]}, {"command": "", "args": "x"}])
def test_a_server_that_is_none_has_no_words(value):
    assert installed_server.words_of([JsonMember("/x", ("mcpServers",), value)]) == []
