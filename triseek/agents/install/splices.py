"""Inserts members and items into JSON texts and removes them again; all other bytes are unchanged.

Inserted text follows the style around it: indentation, line ends, one line or many, a trailing
comma or none. Removing it restores the text from before the insertion.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from triseek.agents.base import Refused, Traces
from triseek.agents.install import jsonc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.agents.install.jsonc import Node


def put_member(text: str, keys: Sequence[str], value: object, traces: Traces) -> str:
    """Set a member and make the objects around it; an existing value is replaced.

    Raises:
        Refused: the text is malformed, or a value on the path is not an object.
    """
    root = parsed(text)
    if root is None:
        return _first(text, _nested(keys, value), keys, traces)
    nodes = _existing(root, keys)
    if len(nodes) == len(keys) + 1:
        node = nodes[-1]
        if node.value == value:
            return text
        traces.replaced[mark_of(keys)] = text[node.start : node.end]
        return _replaced(text, node, value)
    depth = len(nodes) - 1  # the number of keys that exist
    _expect(nodes[-1], dict, keys[:depth])
    for length in range(depth + 1, len(keys)):
        note_made(keys[:length], traces)
    inner = _nested(keys[depth + 1 :], value)
    lead = json.dumps(keys[depth], ensure_ascii=False) + ": "
    return _inserted(text, nodes[-1], lead, inner, keys[:depth], traces)


def put_item(text: str, keys: Sequence[str], item: object, traces: Traces) -> str:
    """Append an item to the list at `keys`; make the list and the objects around it.

    Raises:
        Refused: the text is malformed, or the value at `keys` is not a list.
    """
    nodes = _nodes(text, keys)
    if not nodes:
        note_made(keys, traces)
        return put_member(text, keys, [item], traces)
    _expect(nodes[-1], list, keys)
    return _inserted(text, nodes[-1], "", item, keys, traces)


def take_member(text: str, keys: Sequence[str], traces: Traces) -> str | None:
    """Remove a member, which has to exist, and the containers made for it that are empty then.

    Returns None if nothing is left of the file.
    """
    nodes = _nodes(text, keys)
    replaced = traces.replaced.get(mark_of(keys))
    if replaced is not None:
        return text[: nodes[-1].start] + replaced + text[nodes[-1].end :]
    return _cleared(_without_member(text, nodes, keys, traces), keys[:-1], traces)


def take_item(text: str, keys: Sequence[str], index: int, traces: Traces) -> str | None:
    """Undo `put_item` for the item at an index."""
    return _cleared(_cut(text, _nodes(text, keys)[-1], index, keys, traces), keys, traces)


def replace_item(text: str, keys: Sequence[str], index: int, value: object) -> str:
    """Return the text with another value for the item at an index."""
    return _replaced(text, _nodes(text, keys)[-1].parts[index].node, value)


def value_at(text: str | None, keys: Sequence[str]) -> Any:  # noqa: ANN401 - any JSON
    """Return the value at `keys` of a text; None if there is none.

    Raises:
        Refused: the text is malformed, or its root is not an object.
    """
    nodes = _nodes(text, keys)
    return nodes[-1].value if nodes else None


def parsed(text: str | None) -> Node | None:
    """Return the root of a text, which must be an object; None if there is none.

    Raises:
        Refused: the text is malformed, or its root is something else.
    """
    root = jsonc.parse(text or "")
    if root is not None:
        _expect(root, dict, ())
    return root


def _expect(node: Node, kind: type, keys: Sequence[str]) -> None:
    if not isinstance(node.value, kind):
        name = ".".join(keys) or "its content"
        raise Refused(f"{name} is not {'an object' if kind is dict else 'a list'}")


def _nodes(text: str | None, keys: Sequence[str]) -> list[Node]:
    """Return the root and the nodes at each key; empty if one of them does not exist.

    Raises:
        Refused: the text is malformed, or its root is not an object.
    """
    root = parsed(text)
    nodes = _existing(root, keys) if root is not None else []
    return nodes if len(nodes) == len(keys) + 1 else []


def _existing(root: Node, keys: Sequence[str]) -> list[Node]:
    """Return the root and the nodes at each key, as far as they exist."""
    nodes = [root]
    for key in keys:
        part = nodes[-1].member(key) if isinstance(nodes[-1].value, dict) else None
        if part is None:
            break
        nodes.append(part.node)
    return nodes


def _replaced(text: str, node: Node, value: object) -> str:
    new = _dumped(value, text, _indent_at(text, node.start))
    return text[: node.start] + new + text[node.end :]


def _nested(keys: Sequence[str], value: object) -> object:
    for key in reversed(keys):
        value = {key: value}
    return value


def mark_of(keys: Sequence[str]) -> str:
    """Return the key of `Traces` for a path of names."""
    return json.dumps([*keys], ensure_ascii=False)


def note_made(keys: Sequence[str], traces: Traces) -> None:
    """Record in the traces that the value at `keys` did not exist."""
    mark = mark_of(keys)
    if mark not in traces.made:
        traces.made.append(mark)


def _first(text: str, value: object, keys: Sequence[str], traces: Traces) -> str:
    """Add the first object to a text that is empty or has only comments."""
    for length in range(len(keys)):
        note_made(keys[:length], traces)
    line = _line_end(text)
    lead = line if text.strip("\ufeff \t\r\n") and not text.endswith("\n") else ""
    return text + lead + _dumped(value, text, _indent_at(text, len(text))) + line


def _inserted(
    text: str, holder: Node, lead: str, value: object, keys: Sequence[str], traces: Traces
) -> str:
    """Return the text with a part appended to a container."""
    if not holder.parts:
        return _inserted_first(text, holder, lead, value, keys, traces)
    last = holder.parts[-1]
    comma = last.comma
    spread = "\n" in text[holder.start : last.start]
    anchor = last.end if comma is None else comma + 1
    if spread:
        indent = _indent_of_parts(text, holder)
        anchor = jsonc.after_comments(text, anchor, same_line=True)
        new = _line_end(text) + indent + lead + _dumped(value, text, indent)
    else:
        new = " " + lead + json.dumps(value, ensure_ascii=False)
    if comma is not None:
        return text[:anchor] + new + "," + text[anchor:]
    return text[: last.end] + "," + text[last.end : anchor] + new + text[anchor:]


def _inserted_first(
    text: str, holder: Node, lead: str, value: object, keys: Sequence[str], traces: Traces
) -> str:
    begin, end = holder.start + 1, holder.end - 1
    line, outer = _line_end(text), _indent_at(text, holder.start)
    inner = outer + _unit(text)
    if jsonc.has_comment(text, begin, end):
        anchor = jsonc.after_comments(text, begin)
        rest = text[anchor:] if "\n" in text[anchor:end] else line + outer + text[anchor:]
        return text[:anchor] + line + inner + lead + _dumped(value, text, inner) + rest
    traces.hollow[mark_of(keys)] = text[begin:end]
    if keys and "\n" not in text.strip():  # all on one line: keep it so
        return text[:begin] + lead + json.dumps(value, ensure_ascii=False) + text[end:]
    inserted = line + inner + lead + _dumped(value, text, inner) + line + outer
    return text[:begin] + inserted + text[end:]


def _cut(text: str, holder: Node, index: int, keys: Sequence[str], traces: Traces) -> str:
    """Return the text without a part of a container: the reverse of `_inserted`."""
    part = holder.parts[index]
    before = holder.parts[index - 1] if index else None
    end = part.end if part.comma is None else part.comma + 1
    begin = _blank_before(text, part.start, end)
    if len(holder.parts) == 1:
        inside = holder.start + 1, holder.end - 1
        if jsonc.has_comment(text, inside[0], part.start) or jsonc.has_comment(
            text, part.end, inside[1]
        ):
            return text[:begin] + text[end:]
        return text[: inside[0]] + traces.hollow.get(mark_of(keys), "") + text[inside[1] :]
    if part.comma is None and before is not None and before.comma is not None:
        return text[: before.comma] + text[before.comma + 1 : begin] + text[end:]
    return text[:begin] + text[end:]


def _without_member(text: str, nodes: Sequence[Node], keys: Sequence[str], traces: Traces) -> str:
    """Return the text without the member at the last of the nodes."""
    holder = nodes[-2]
    index = next(at for at, part in enumerate(holder.parts) if part.node is nodes[-1])
    return _cut(text, holder, index, keys[:-1], traces)


def _cleared(text: str, keys: Sequence[str], traces: Traces) -> str | None:
    """Return the text without the containers that we made and that are empty now."""
    while mark_of(keys) in traces.made:
        nodes = _nodes(text, keys)
        if not nodes or nodes[-1].parts:
            return text
        if jsonc.has_comment(text, nodes[-1].start + 1, nodes[-1].end - 1):
            return text
        if not keys:
            rest = text[: nodes[0].start] + text[nodes[0].end :].lstrip("\r\n")
            return rest if rest.strip("\ufeff \t\r\n") else None
        text = _without_member(text, nodes, keys, traces)
        keys = keys[:-1]
    return text


def _blank_before(text: str, begin: int, end: int) -> int:
    """Return where the white space begins that can be removed together with a part."""
    at = begin
    while at and text[at - 1] in " \t\r\n":
        at -= 1
    commented = "//" in text[text.rfind("\n", 0, at) + 1 : at]
    if commented and not text.startswith(
        ("\n", "\r"), end
    ):  # what follows must not be commented out
        return text.index("\n", at, begin) + 1 if "\n" in text[at:begin] else begin
    return at


def _dumped(value: object, text: str, indent: str) -> str:
    """Return a value as JSON, with the line ends of the text and the indentation of its place."""
    dumped = json.dumps(value, ensure_ascii=False, indent=_unit(text))
    return dumped.replace("\n", _line_end(text) + indent)


def _line_end(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _indent_at(text: str, at: int) -> str:
    """Return the indentation of the line that a position is in."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    found = re.match(r"[ \t]*", line.removeprefix("\ufeff"))
    return found.group() if found else ""


def _indent_of_parts(text: str, holder: Node) -> str:
    """Return the indentation of a container's parts, from the last part that begins a line."""
    for part in reversed(holder.parts):
        line = text[text.rfind("\n", 0, part.start) + 1 : part.start]
        if not line.strip(" \t"):
            return line
    return _indent_at(text, holder.start) + _unit(text)


def _unit(text: str) -> str:
    """Return one level of indentation: that of the first indented line."""
    found = re.search(r'\n([ \t]+)(?=["{\[/])', text)
    return found.group(1) if found else "  "
