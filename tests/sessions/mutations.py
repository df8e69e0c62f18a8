"""Documents that were valid before somebody's hand slipped: in their values, or in their bytes."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 1.5, -0.0, 1e308, 1 << 53, (1 << 63) - 1, 1 << 63, -(1 << 64),
    10**300, "", "x", "../../etc/passwd", "/etc/passwd", ".", "..", "a/../b", "a\0b", "\n",
    "\x1b[2J", "é", "\ud800", "\udcff", "\u202e", "\ufeff", "\U0001d4b3", "x" * 200,
    "x" * 5_000, "x" * 70_000, "1",
    [], {}, [[]], [{}], [None], {"a": 1}, {"": None}, {"schema_version": 1}, {"__proto__": {}},
    ["x"] * 300, "a" * 64, "A" * 64, "snap_1", "open", "asked", "-", float("inf"), float("nan"),
)  # fmt: skip


def mutated(held: bytes, chance: random.Random) -> bytes:
    """The document, changed in one to four places."""
    if chance.random() < 0.3:
        return _in_bytes(held, chance)
    if chance.random() < 0.1:
        return json.dumps(_value(chance)).encode()
    body = copy.deepcopy(json.loads(held))
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        _in_values(body, chance)
    # What JSON has for a lone half of a pair, and what no JSON should have, are both written.
    made = json.dumps(body, ensure_ascii=chance.random() < 0.7, allow_nan=True)
    return made.encode("utf-8", "surrogatepass" if chance.random() < 0.5 else "replace")


def _value(chance: random.Random) -> Any:
    value = copy.deepcopy(chance.choice(JUNK))
    if chance.random() < 0.05:
        for _ in range(chance.choice([5, 31, 33, 60, 100])):
            value = [value] if chance.random() < 0.5 else {"a": value}
    return value


def _in_values(body: Any, chance: random.Random) -> None:
    """Change one value somewhere in the document."""
    holder = _somewhere(body, chance)
    if isinstance(holder, dict):
        key: Any = chance.choice([*holder, "new"])
        match chance.randint(0, 5):
            case 0:
                holder.pop(key, None)
            case 1:
                holder[chance.choice(["new", "", "schema_version", "é"])] = holder.pop(key, None)
            case 2:
                holder[key] = [holder.get(key)]
            case 3:
                holder[key] = holder.get(chance.choice([*holder, "none"]))
            case _:
                holder[key] = _value(chance)
    elif isinstance(holder, list):
        match chance.randint(0, 3):
            case 0 if holder:
                holder.pop(chance.randrange(len(holder)))
            case 1 if holder:
                holder += [copy.deepcopy(chance.choice(holder))] * chance.choice([1, 3])
            case 2 if holder:
                holder[chance.randrange(len(holder))] = _value(chance)
            case _:
                holder.append(_value(chance))


def _somewhere(body: Any, chance: random.Random) -> Any:
    """A list or an object in the document, the outermost as likely as any."""
    holder = body
    while chance.random() < 0.6:
        below = holder.values() if isinstance(holder, dict) else holder
        inner = [each for each in below if isinstance(each, (dict, list))]
        if not inner:
            break
        holder = chance.choice(inner)
    return holder


def _in_bytes(held: bytes, chance: random.Random) -> bytes:
    made = bytearray(held)
    for _ in range(chance.choice([1, 1, 2, 5])):
        at = chance.randrange(len(made) + 1)
        match chance.randint(0, 4):
            case 0 if made:
                made[at % len(made)] = chance.randint(0, 255)
            case 1:
                made[at:at] = chance.choice(
                    [b"\xff", b"\0", b",", b"{", b"]", b'"', b"\\", b"\\ud800", b"1e999",
                     b"\xc0\x80", b"NaN", b"Infinity", b"[" * 2_000, b"9" * 5_000, b" " * 50,
                     b"\xef\xbb\xbf"]
                )  # fmt: skip
            case 2:
                del made[at : at + chance.randint(1, 30)]
            case 3:
                del made[at:]
            case _:
                made[at:at] = made[: chance.randint(0, 60)]
    return bytes(made)
