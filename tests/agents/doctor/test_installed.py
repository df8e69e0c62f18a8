"""Settings that were installed, and what became of them."""

from __future__ import annotations

import os

import pytest

from triseek.agents import registry
from triseek.agents.base import InstallPlace
from triseek.agents.doctor.installed import scopes, settings
from triseek.agents.install import apply


@pytest.fixture
def here(home, tmp_path, triseek):
    (tmp_path / "project").mkdir()
    return InstallPlace(triseek, str(home), str(tmp_path / "project"), {"PATH": ""})


def install(client, here, scope):
    owner = apply.owner_of(client.name, scope, here.cwd)
    apply.install(client.plan(scope, here), owner)


def looked(client, here):
    return list(settings(client, here, list(scopes(client, here))))


@pytest.mark.parametrize("client", registry.AGENTS, ids=lambda client: client.name)
def test_what_was_installed_is_found_and_what_was_not_is_not(client, here):
    assert looked(client, here) == []

    for scope in client.scopes:
        install(client, here, scope)

    found = looked(client, here)
    assert [finding.level for finding in found] == ["ok"] * len(client.scopes)
    assert [finding.detail.split()[1].rstrip(":") for finding in found] == [*client.scopes]


@pytest.mark.parametrize("client", registry.AGENTS, ids=lambda client: client.name)
def test_a_file_that_was_changed_since_is_told_of(client, here):
    scope = client.scopes[0]
    install(client, here, scope)
    victim = client.plan(scope, here)[-1].path
    os.unlink(victim)

    (said,) = looked(client, here)

    assert (said.level, said.mend) == ("warn", f"triseek install {client.name}")
    assert victim in said.detail


@pytest.mark.parametrize("client", registry.AGENTS, ids=lambda client: client.name)
def test_a_program_that_is_gone_fails_whoever_looks(client, here, programs, tmp_path):
    install(client, here, client.scopes[0])
    away = tmp_path / "elsewhere"
    os.rename(here.program, away)

    (said,) = looked(client, InstallPlace(str(away), here.home, here.cwd, here.environ))

    assert (said.level, said.mend) == ("fail", f"triseek install {client.name}")
    assert here.program in said.detail


@pytest.mark.parametrize("client", registry.AGENTS, ids=lambda client: client.name)
def test_another_triseeks_settings_are_worth_a_word(client, here, programs):
    install(client, here, client.scopes[0])
    other = programs("triseek.exe", "exit 0")

    (said,) = looked(client, InstallPlace(other, here.home, here.cwd, here.environ))

    assert said.level == "info"
    assert here.program in said.detail


def test_the_scope_is_in_the_command_that_mends(here):
    client = registry.by_name("claude-code")
    assert client is not None
    install(client, here, "project")
    os.unlink(client.plan("project", here)[0].path)

    (said,) = looked(client, here)

    assert said.mend == "triseek install claude-code --scope project"
