"""Configs as people have them, and what must hold whatever client they are of."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from triseek.errors import ConfigWriteFailed
from triseek.harness import apply, jsonc
from triseek.harness.base import Here
from triseek.harness.registry import client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.harness.base import Scope
    from triseek.harness.writing import Change

PROGRAM = "/opt/my tools/bin/triseek"
STRICT = [
    "absent", "empty", "blank", "nothing", "other keys", "other servers", "no servers", "one line",
    "crlf", "tabs", "four spaces", "no last line end", "bom", "beyond ASCII", "escapes", "large",
    "nested names",
]  # fmt: skip
COMMENTED = ["line comment", "block comment", "trailing commas", "only a comment", "comment last"]
BROKEN = ["cut off", "two objects", "a list", "servers are a list", "not UTF-8", "prose", "NUL"]


def config(kind: str, servers: str, other: dict[str, object]) -> bytes | None:
    """A config of a kind; None: there is none.

    servers: the member that holds servers. other: somebody else's server.
    """
    filled = {"$schema": "https://x/y", "theme": "dark", servers: {"other": other}, "last": [1, 2]}
    made: dict[str, str | bytes | None] = {
        "absent": None,
        "empty": "",
        "blank": "\n  \n",
        "nothing": "{}",
        "other keys": json.dumps({"$schema": "https://x/y", "a": {"b": None}}, indent=2) + "\n",
        "other servers": json.dumps(filled, indent=2) + "\n",
        "no servers": json.dumps({"$schema": "https://x/y", servers: {}}, indent=2) + "\n",
        "one line": json.dumps(filled) + "\n",
        "crlf": json.dumps(filled, indent=2).replace("\n", "\r\n") + "\r\n",
        "tabs": json.dumps(filled, indent="\t") + "\n",
        "four spaces": json.dumps(filled, indent=4) + "\n",
        "no last line end": json.dumps(filled, indent=2),
        "bom": "\ufeff" + json.dumps(filled, indent=2),
        "beyond ASCII": json.dumps({**filled, "ключ": "值🙂"}, indent=2, ensure_ascii=False),
        "escapes": json.dumps({**filled, 'q"\\/\n': "\u2028\ud83d\ude42 // no comment"}, indent=2),
        "large": json.dumps({**filled, "many": {f"k{n}": "x" * 50 for n in range(300)}}, indent=1),
        "nested names": json.dumps({"a": {servers: {"triseek": 1}}, servers: {"x": other}}),
        "line comment": '// mine\n{\n  // theirs\n  "a": 1, // "b"\n  "c": {} // end\n}\n',
        "block comment": f'/* {{ */ {{ "a": 1, /* , */ "{servers}": {{ /* none */ }} }} /* }} */\n',
        "trailing commas": '{\n  "a": [1, 2,],\n  "b": {"c": 1,},\n}\n',
        "only a comment": "// nothing yet\n",
        "comment last": f'{{\n "{servers}": {{\n  "o": {json.dumps(other)}\n  // more\n }}\n}}',
        "cut off": '{"a": 1,\n "b": {',
        "two objects": "{}{}",
        "a list": "[]",
        "servers are a list": json.dumps({servers: []}),
        "not UTF-8": b'{"a": "\xff\xfe"}',
        "prose": "not json at all",
        "NUL": b'{"a": 1}\x00',
    }
    given = made[kind]
    return given.encode() if isinstance(given, str) else given


class Place:
    """A home and a project, with nothing of the machine's own in them."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.home, self.cwd = folder / "home", folder / "project"
        for made in (self.home, self.cwd):
            made.mkdir(exist_ok=True)
        self.here = Here(PROGRAM, str(self.home), str(self.cwd), {"PATH": "", **environ})

    def install(self, name: str, scope: Scope = "user", *, dry_run: bool = False) -> list[Change]:
        plan = _client(name).plan(scope, self.here)
        return apply.install(plan, apply.owner_of(name, scope, self.here.cwd), dry_run=dry_run)

    def uninstall(self, name: str, scope: Scope = "user") -> list[Change]:
        plan = _client(name).plan(scope, self.here)
        return apply.uninstall(plan, apply.owner_of(name, scope, self.here.cwd))

    def lacking(self, name: str, scope: Scope = "user") -> list[str]:
        return apply.lacking(_client(name).plan(scope, self.here))

    def write(self, path: Path, content: bytes | None) -> None:
        if content is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def everything(self) -> dict[str, bytes | str | None]:
        """All files, links and folders, by path."""
        return dict(self._entries())

    def _entries(self) -> Iterator[tuple[str, bytes | str | None]]:
        for top in (self.home, self.cwd):
            for path in sorted(top.rglob("*")):
                if path.is_symlink():
                    yield str(path), os.readlink(path)
                else:
                    yield str(path), path.read_bytes() if path.is_file() else None


def _client(name: str):
    found = client(name)
    assert found is not None
    return found


def value(path: Path):
    """What a config says, comments or not."""
    root = jsonc.parse(path.read_text("utf-8"))
    return None if root is None else root.value


def comes_and_goes(place: Place, name: str, path: Path, scope: Scope = "user") -> None:
    """Install, twice, and uninstall: all is said once, everything else stays, nothing is left."""
    before = place.everything()
    old = value(path) if path.exists() else None

    planned = place.install(name, scope, dry_run=True)
    assert place.everything() == before
    done = place.install(name, scope)
    assert [change.path for change in done] == [change.path for change in planned] != []
    assert place.lacking(name, scope) == []
    _keeps(old or {}, value(path))

    installed = place.everything()
    assert place.install(name, scope) == []
    assert place.everything() == installed

    place.uninstall(name, scope)
    assert place.everything() == before
    assert place.uninstall(name, scope) == []


def _keeps(old, new) -> None:
    """Whether all that was said is said still."""
    if isinstance(old, dict):
        assert list(old) == list(new)[: len(old)]
        for name, inner in old.items():
            _keeps(inner, new[name])
    else:
        assert old == new


def stays_with_additions(place: Place, name: str, path: Path, servers: str) -> None:
    """What somebody adds after the install is there after the uninstall, and nothing of ours."""
    place.install(name)
    told = value(path)
    told[servers]["later"] = {"command": "x"}
    path.write_text(json.dumps(told, indent=2), encoding="utf-8")

    place.uninstall(name)

    assert value(path)[servers] == {"later": {"command": "x"}}
    assert "triseek" not in path.read_text("utf-8")


def is_refused(place: Place, name: str, path: Path) -> None:
    """A config that cannot be understood stays, and so does all else."""
    before = place.everything()

    with pytest.raises(ConfigWriteFailed, match=path.name):
        place.install(name)

    assert place.everything() == before


def behind_links(place: Place, name: str, path: Path) -> None:
    """A config that is a link stays one; the file behind it is edited, and restored."""
    real = place.home / "dotfiles" / path.name
    place.write(real, b'{\n  "a": 1\n}\n')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(os.path.relpath(real, path.parent))

    comes_and_goes(place, name, path)


def refuses_a_foreign_triseek(place: Place, name: str, path: Path, servers: str) -> None:
    """An entry of our name that starts something else is not ours to replace."""
    place.write(path, json.dumps({servers: {"triseek": {"command": "/bin/else"}}}).encode())

    is_refused(place, name, path)


def replaces_an_older_entry(
    place: Place, name: str, path: Path, servers: str, old: dict[str, object]
) -> None:
    """An entry that starts triseek from another place becomes this one."""
    place.write(path, json.dumps({servers: {"triseek": old}}).encode())

    place.install(name)

    assert PROGRAM in json.dumps(value(path)[servers]["triseek"])
    shutil.rmtree(place.home)
