"""Recorded payloads as fixtures: small, and without anything of the machine they come from."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.agents.place import Place

FOLDER = Path(__file__).parent / "fixtures"
_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_LONG = 4000
"""Texts beyond this are not of use to a reader of fixtures."""


def recorded(folder: Path) -> list[tuple[str, Any]]:
    """Events and payloads that `recorder.py` kept in a folder, oldest first."""
    found = []
    for path in sorted(folder.glob("*.json")):
        event = path.stem.split("-", 2)[2]
        found.append((event, json.loads(path.read_bytes())))
    return found


def witnessed(folder: Path) -> list[tuple[str, Any]]:
    """The same of what `witness.py` kept."""
    told = [json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))]
    return [(one["event"], json.loads(one["payload"])) for one in told]


def write(
    client: str, version: str, place: Place, payloads: Iterable[tuple[str, Mapping[str, Any]]]
) -> int:
    """Replace the recorded fixtures of a client; returns how many there are now."""
    folder = FOLDER / client
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        if json.loads(old.read_text()).get("source") == "recorded":
            old.unlink()
    names: dict[str, str] = {}
    number = 0
    for number, (event, payload) in enumerate(payloads, 1):
        text = json.dumps(_shortened(payload))
        text = _UUID.sub(lambda found: _named(found[0], names), text)
        for path, name in ((place.tree, "/work/repo"), (place.home, "/home/you")):
            text = text.replace(str(path), name).replace(_dashed(str(path)), _dashed(name))
        kept = {
            "client": client,
            "version": version,
            "source": "recorded",
            "event": event,
            "payload": json.loads(text),
        }
        path = folder / f"{number:02}-{_what(event, payload)}.json"
        path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    return number


def _what(event: str, payload: Mapping[str, Any]) -> str:
    detail = next(
        (str(payload[name]) for name in ("tool_name", "source", "trigger") if payload.get(name)), ""
    )
    asked = payload.get("tool_input")
    command = str(asked.get("command", "")) if isinstance(asked, dict) else ""
    words = "-".join(filter(None, (event, detail, *command.split()[:1])))
    return re.sub(r"[^A-Za-z0-9_]+", "-", words).strip("-").lower()


def _dashed(path: str) -> str:
    """As Claude Code names a folder for a path."""
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def _named(uuid: str, names: dict[str, str]) -> str:
    return names.setdefault(uuid, f"00000000-0000-4000-8000-{len(names) + 1:012}")


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONG else value[:_LONG] + "…"
    if isinstance(value, list):
        return [_shortened(one) for one in value]
    if isinstance(value, dict):
        return {name: _shortened(one) for name, one in value.items()}
    return value
