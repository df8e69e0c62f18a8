"""Every client's files in every state: edited and given back."""

from __future__ import annotations

import json
import os
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents import configs
from tests.agents.places import place, plant
from triseek.agents.codex import Codex
from triseek.agents.install import apply, jsonc, ledger
from triseek.agents.install.entries import JsonMember
from triseek.agents.install.hook_entries import HookItem
from triseek.agents.install.own_files import OwnFile
from triseek.agents.install.toml_edits import TomlTable
from triseek.agents.registry import AGENTS
from triseek.errors import ConfigWriteFailed

if TYPE_CHECKING:
    from tests.agents.places import Place
    from triseek.agents.base import Edit

ABOUT_SERVERS = ("servers are a list", "servers are null", "somebody's entry")
MORE_THAN_COMMENTS = ("trailing commas", "comment after comma", "slashes in text", "CRLF")
"""Of those with comments: the states that have a comma too many as well."""
WHERE = [(client, scope) for client in AGENTS for scope in client.scopes]
NAMES = [f"{client.name}-{scope}" for client, scope in WHERE]


@pytest.fixture(autouse=True)
def unsynced(monkeypatch):
    """These are thousands of files that need not outlast a power cut."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def here(tmp_path):
    return place(tmp_path / "place")


def json_files(plan: list[Edit]) -> dict[str, tuple[str, str]]:
    """The JSON files of a plan: the member that holds servers there, and what the client reads."""
    found: dict[str, tuple[str, str]] = {}
    for edit in plan:
        if isinstance(edit, (JsonMember, HookItem)):
            servers = edit.keys[-2] if isinstance(edit, JsonMember) else "mcpServers"
            found.setdefault(edit.path, (servers, edit.dialect))
    return found


def readable(servers: str, dialect: str) -> dict[str, bytes | None]:
    """The states that a client reads itself."""
    found = configs.plain(servers)
    if dialect in ("jsonc", "json"):
        found |= configs.lenient(servers)
    if dialect in ("jsonc", "commented"):
        found |= {f"{name} ": text for name, text in configs.commented(servers).items()}
    if dialect == "commented":
        found = {name: text for name, text in found.items() if name[:-1] not in MORE_THAN_COMMENTS}
    return found


def some(states, client, scope):
    """All states for a client's first scope, and a third of them for the others."""
    return list(states.items())[:: 1 if scope == client.scopes[0] else 3]


def unreadable(servers: str, dialect: str) -> dict[str, bytes]:
    found = configs.broken(servers)
    if dialect == "bare":
        found |= configs.lenient(servers)
        del found["BOM alone"]
    if dialect == "commented":
        found |= {name: configs.commented(servers)[name] for name in MORE_THAN_COMMENTS}
        found |= {name: configs.lenient(servers)[name] for name in ("BOM", "BOM and CRLF")}
    elif dialect != "jsonc":
        found |= {name: text for name, text in configs.commented(servers).items() if b"{" in text}
    return found


def without_ours(content: bytes | None, plan: list[Edit], path: str) -> Any:
    """What a file says to its client, our entries apart, and what is empty without them."""
    if content is None:
        return {}
    text = content.decode()
    if path.endswith(".toml"):
        told = tomllib.loads(text.removeprefix("\ufeff"))
        told.get("mcp_servers", {}).pop("triseek", None)
        return pruned(told)
    node = jsonc.parse(text)
    told = json.loads(json.dumps(node.value)) if node else {}
    for edit in plan:
        if edit.path != path:
            continue
        at = told
        for key in edit.keys[:-1]:
            at = at.get(key, {})
        if isinstance(edit, HookItem):
            kept = [item for item in at.get(edit.keys[-1], []) if "triseek" not in str(item)]
            at[edit.keys[-1]] = kept
        else:
            at.pop(edit.keys[-1], None)
    return pruned(told)


def pruned(value: Any) -> Any:
    if isinstance(value, dict):
        value = {name: pruned(inner) for name, inner in value.items()}
        return {name: inner for name, inner in value.items() if inner not in ({}, [])}
    return value


def go_there_and_back(here: Place, client, scope) -> None:
    plan = client.plan(scope, here.here)
    before = here.snapshot()
    contents = {edit.path: content(edit.path) for edit in plan}

    changes = here.install(client, scope)

    assert apply.lacking(plan) == []
    own = [edit.path for edit in plan if isinstance(edit, OwnFile)]
    for change in changes:
        if change.path not in own:
            after = without_ours(change.after, plan, change.path)
            assert after == without_ours(contents[change.path], plan, change.path)
    installed = here.snapshot()
    assert here.install(client, scope) == []
    assert here.snapshot() == installed

    here.uninstall(client, scope)

    assert here.snapshot() == before
    assert ledger.load() == ledger.Ledger()
    if not any("triseek" in str(text) for text in contents.values()):
        assert here.uninstall(client, scope) == []


def content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


@pytest.mark.parametrize(("client", "scope"), WHERE, ids=NAMES)
def test_json_in_every_state_is_edited_and_given_back(client, scope, tmp_path):
    files = json_files(client.plan(scope, place(tmp_path / "shape").here))
    for number, (path, (servers, dialect)) in enumerate(files.items()):
        for name, text in some(readable(servers, dialect), client, scope):
            there = place(tmp_path / f"{number} {name}")
            moved = path.replace(str(tmp_path / "shape"), str(tmp_path / f"{number} {name}"))
            plant(moved, text)
            try:
                go_there_and_back(there, client, scope)
            except (AssertionError, ConfigWriteFailed) as error:
                raise AssertionError(f"{name}: {path}") from error


@pytest.mark.parametrize(("client", "scope"), WHERE, ids=NAMES)
def test_json_that_cannot_be_edited_stops_the_whole_install(client, scope, tmp_path):
    files = json_files(client.plan(scope, place(tmp_path / "shape").here))
    for number, (path, (servers, dialect)) in enumerate(files.items()):
        for name, text in some(unreadable(servers, dialect), client, scope):
            there = place(tmp_path / f"{number} {name}")
            moved = path.replace(str(tmp_path / "shape"), str(tmp_path / f"{number} {name}"))
            plant(moved, text)
            before = there.snapshot()
            places = [e.keys[0] for e in client.plan(scope, there.here) if e.path == moved]
            if servers not in places and name in ABOUT_SERVERS and "hooks" not in places:
                continue
            with pytest.raises(ConfigWriteFailed) as error:
                there.install(client, scope)

            assert moved in str(error.value), name
            assert "\n" not in str(error.value)
            assert there.snapshot() == before, name
            assert ledger.load() == ledger.Ledger()


TOML_WHERE = [(client, scope) for client, scope in WHERE if client.name == "codex"]


@pytest.mark.parametrize("name", configs.TOML)
@pytest.mark.parametrize(("client", "scope"), TOML_WHERE, ids=["user", "project"])
def test_toml_in_every_state_is_edited_and_given_back(client, scope, name, here):
    path = next(e.path for e in client.plan(scope, here.here) if isinstance(e, TomlTable))
    plant(path, configs.TOML[name])

    go_there_and_back(here, client, scope)


@pytest.mark.parametrize("name", configs.TOML_BROKEN)
def test_toml_that_cannot_be_edited_stops_the_whole_install(name, here):
    client = Codex()
    path = next(e.path for e in client.plan("user", here.here) if isinstance(e, TomlTable))
    plant(path, configs.TOML_BROKEN[name])
    before = here.snapshot()

    with pytest.raises(ConfigWriteFailed):
        here.install(client, "user")

    assert here.snapshot() == before


@pytest.mark.parametrize(("client", "scope"), WHERE, ids=NAMES)
def test_what_somebody_adds_meanwhile_stays(client, scope, here):
    plan = client.plan(scope, here.here)
    files = json_files(plan)
    for path, (servers, _) in files.items():
        told = {"$schema": "x", servers: {"other": configs.OTHER}, "n": 1}
        plant(path, configs.pretty(told).encode())
    before = here.snapshot()
    here.install(client, scope)
    for path in files:
        told = json.loads(content(path) or b"")
        told["added"] = {"later": True}
        plant(path, json.dumps(told, indent=4).encode())

    here.uninstall(client, scope)

    for path in files:
        old = json.loads(before[path][1])
        assert json.loads(content(path) or b"") == old | {"added": {"later": True}}
        plant(path, before[path][1])
    assert here.snapshot() == before
    assert ledger.load() == ledger.Ledger()


@pytest.mark.parametrize(("client", "scope"), WHERE, ids=NAMES)
def test_without_a_ledger_our_entries_are_found_by_what_they_are(client, scope, here):
    plan = client.plan(scope, here.here)
    files = json_files(plan)
    for path, (servers, _) in files.items():
        text = {servers: {"other": configs.OTHER}, "hooks": {"x": []}}
        plant(path, configs.pretty(text).encode())
    here.install(client, scope)
    ledger.save(ledger.Ledger())

    here.uninstall(client, scope)

    text = str(list(here.snapshot().values())).replace(str(here.folder), "")  # may name a user
    assert "triseek" not in text


@pytest.mark.parametrize(("client", "scope"), WHERE, ids=NAMES)
def test_a_dry_run_says_what_changes_and_writes_nothing(client, scope, here, home):
    before = here.snapshot()

    changes = here.install(client, scope, dry_run=True)

    assert here.snapshot() == before
    assert not list(home.iterdir())
    assert [(one.path, one.after) for one in here.install(client, scope)] == [
        (one.path, one.after) for one in changes
    ]
