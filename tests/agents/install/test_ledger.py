"""What installs remember."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from triseek.agents.install import ledger
from triseek.agents.install.entries import JsonDefault, JsonMember
from triseek.agents.install.hook_entries import HookItem
from triseek.agents.install.ledger import InstalledFile, Ledger, OwnedEdit
from triseek.agents.install.own_files import OwnFile
from triseek.agents.install.toml_edits import TomlTable

RECORDS = [
    (
        JsonMember("/f", ("a", "b"), {"command": "x"}, "bare"),
        {"kind": "member", "path": "/f", "keys": ["a", "b"], "value": {"command": "x"},
         "dialect": "bare"},
    ),
    (
        JsonDefault("/f", ("version",), 1),
        {"kind": "default", "path": "/f", "keys": ["version"], "value": 1, "dialect": "jsonc"},
    ),
    (
        HookItem("/f", ("hooks", "Stop"), {"hooks": [{"command": "x"}]}, "json"),
        {"kind": "hook", "path": "/f", "keys": ["hooks", "Stop"],
         "item": {"hooks": [{"command": "x"}]}, "dialect": "json"},
    ),
    (
        TomlTable("/f", ("mcp_servers", "triseek"), {"args": ["mcp"]}),
        {"kind": "toml", "path": "/f", "keys": ["mcp_servers", "triseek"],
         "value": {"args": ["mcp"]}},
    ),
    (OwnFile("/f", "text"), {"kind": "file", "path": "/f", "text": "text"}),
]  # fmt: skip


def stored() -> list[dict]:
    """The edits as the file on disk has them."""
    document = json.loads(Path(ledger.folder(), "ledger.json").read_text())
    return document["files"]["/f"]["entries"]


def saved(*entries: OwnedEdit) -> Ledger:
    made = Ledger({"/f": InstalledFile(False, "", "", "d", list(entries))}, ["/folder"])
    ledger.save(made)
    return made


@pytest.mark.parametrize(("edit", "record"), RECORDS)
def test_an_edit_is_stored_with_its_owner_and_loaded_again(edit, record):
    made = saved(OwnedEdit("pi:user", edit))

    assert [list(entry.items()) for entry in stored()] == [[*record.items(), ("owner", "pi:user")]]
    assert ledger.load() == made
    assert ledger.load().files["/f"].of("pi:user") == [edit]
    assert ledger.load().files["/f"].of_others("pi:user") == []


def test_an_edit_of_a_later_version_is_kept_as_it_is_and_changes_nothing():
    saved(OwnedEdit("pi:user", RECORDS[0][0]))
    path = Path(ledger.folder(), "ledger.json")
    document = json.loads(path.read_text())
    later = {"kind": "yaml", "path": "/f", "anchors": {"a": [1]}, "owner": "pi:user"}
    document["files"]["/f"]["entries"].append(later)
    path.write_text(json.dumps(document))

    loaded = ledger.load()
    ledger.save(loaded)

    unknown = loaded.files["/f"].entries[1].edit
    assert unknown.stands("text")
    assert unknown.apply(None, loaded.files["/f"].traces) is None
    assert unknown.remove("text", loaded.files["/f"].traces) == "text"
    assert stored()[1] == later


def test_fields_of_a_later_version_in_a_known_kind_are_ignored():
    saved(OwnedEdit("pi:user", RECORDS[4][0]))
    path = Path(ledger.folder(), "ledger.json")
    path.write_text(path.read_text().replace('"text": "text"', '"text": "text", "mode": 7'))

    assert ledger.load().files["/f"].of("pi:user") == [RECORDS[4][0]]


def test_a_backup_is_kept_until_it_is_forgotten():
    name = ledger.keep("/f", b"content")

    assert ledger.kept(name) == b"content"
    ledger.forget(name)
    assert ledger.kept(name) is None
    assert ledger.kept("") is None
