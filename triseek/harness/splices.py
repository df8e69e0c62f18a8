"""Members and items of JSON texts, spliced in and cut out again: every other byte stays.

What is written looks like what is around it: indentation, line ends, one line or many, a trailing
comma or none. What is cut out leaves what was there before it was put in.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from triseek.harness import jsonc
from triseek.harness.base import Refused, Traces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.harness.jsonc import Dialect, Node


def check_dialect(text: str | None, dialect: Dialect) -> None:
    """Refuse a text that its client would not read.

    Raises:
        Refused: it is broken, for that client.
    """
    try:
        jsonc.check(text or "", dialect)
    except jsonc.Malformed as error:
        raise Refused(f"it is not valid JSON: {error}") from None


def put_member(text: str, keys: Sequence[str], value: object, traces: Traces) -> str:
    """Set a member, making the objects that it takes; a value that is there is replaced.

    Raises:
        Refused: the text is broken, or something in the way is not an object.
    """
    root = parsed(text)
    if root is None:
        return _first(text, _nested(keys, value), keys, traces)
    held = _held(root, keys)
    if len(held) == len(keys) + 1:
        node = held[-1]
        if node.value == value:
            return text
        traces.replaced[mark_of(keys)] = text[node.start : node.end]
        return text[: node.start] + _dumped(value, text, node.start) + text[node.end :]
    depth = len(held) - 1  # so many of the keys are there
    _expect(held[-1], dict, keys[:depth])
    for made in range(depth + 1, len(keys)):
        note_made(keys[:made], traces)
    inner = _nested(keys[depth + 1 :], value)
    lead = json.dumps(keys[depth], ensure_ascii=False) + ": "
    return _inserted(text, held[-1], lead, inner, keys[:depth], traces)


def put_item(text: str, keys: Sequence[str], item: object, traces: Traces) -> str:
    """Append an item to the list at `keys`, making it and the objects that it takes.

    Raises:
        Refused: the text is broken, or what is there is not a list.
    """
    root = parsed(text)
    held = _held(root, keys) if root is not None else []
    if len(held) != len(keys) + 1:
        note_made(keys, traces)
        return put_member(text, keys, [item], traces)
    _expect(held[-1], list, keys)
    return _inserted(text, held[-1], "", item, keys, traces)


def take_member(text: str, keys: Sequence[str], traces: Traces) -> str | None:
    """The reverse of `put_member`; containers that it made go when they are empty.

    None: nothing is left of the file.
    """
    root = parsed(text)
    held = _held(root, keys) if root is not None else []
    if len(held) != len(keys) + 1:
        return text
    replaced = traces.replaced.get(mark_of(keys))
    if replaced is not None:
        return text[: held[-1].start] + replaced + text[held[-1].end :]
    part = held[-2].member(keys[-1])
    index = next(at for at, one in enumerate(held[-2].parts) if one is part)
    return _cleared(_cut(text, held[-2], index, keys[:-1], traces), keys[:-1], traces)


def take_item(text: str, keys: Sequence[str], index: int, traces: Traces) -> str | None:
    """The reverse of `put_item`, for the item of that number."""
    root = parsed(text)
    held = _held(root, keys) if root is not None else []
    if len(held) != len(keys) + 1 or index >= len(held[-1].parts):
        return text
    return _cleared(_cut(text, held[-1], index, keys, traces), keys, traces)


def replace_item(text: str, keys: Sequence[str], index: int, value: object) -> str:
    """The text with another value for the item of that number."""
    root = parsed(text)
    held = _held(root, keys) if root is not None else []
    if len(held) != len(keys) + 1 or index >= len(held[-1].parts):
        return text
    node = held[-1].parts[index].node
    return text[: node.start] + _dumped(value, text, node.start) + text[node.end :]


def value_at(text: str | None, keys: Sequence[str], *, strictly: bool = False) -> Any:  # noqa: ANN401 - any JSON
    """What a text says at `keys`; None where it says nothing.

    Raises:
        Refused: strictly, and the text is broken.
    """
    try:
        root = parsed(text)
    except Refused:
        if strictly:
            raise
        return None
    held = _held(root, keys) if root is not None else []
    return held[-1].value if len(held) == len(keys) + 1 else None


def parsed(text: str | None) -> Node | None:
    """The root of a text, which must be an object; None if there is none.

    Raises:
        Refused: the text is broken, or holds something else.
    """
    if text is None:
        return None
    try:
        root = jsonc.parse(text)
    except jsonc.Malformed as error:
        raise Refused(f"it is not valid JSON: {error}") from None
    if root is not None:
        _expect(root, dict, ())
    return root


def _expect(node: Node, kind: type, keys: Sequence[str]) -> None:
    if not isinstance(node.value, kind):
        name = ".".join(keys) or "its content"
        raise Refused(f"{name} is not {'an object' if kind is dict else 'a list'}")


def _held(root: Node, keys: Sequence[str]) -> list[Node]:
    """The root and what each key leads to, as far as they are there."""
    held = [root]
    for key in keys:
        part = held[-1].member(key) if isinstance(held[-1].value, dict) else None
        if part is None:
            break
        held.append(part.node)
    return held


def _nested(keys: Sequence[str], value: object) -> object:
    for key in reversed(keys):
        value = {key: value}
    return value


def mark_of(keys: Sequence[str]) -> str:
    """How `Traces` names a path of names."""
    return json.dumps([*keys], ensure_ascii=False)


def note_made(keys: Sequence[str], traces: Traces) -> None:
    """Remember that what is at `keys` was not there."""
    mark = mark_of(keys)
    if mark not in traces.made:
        traces.made.append(mark)


def _first(text: str, value: object, keys: Sequence[str], traces: Traces) -> str:
    """A file of nothing, or of comments, gets its object."""
    for made in range(len(keys)):
        note_made(keys[:made], traces)
    line = _line_end(text)
    lead = line if text.strip("\ufeff \t\r\n") and not text.endswith("\n") else ""
    return text + lead + _dumped(value, text, len(text)) + line


def _inserted(
    text: str, holder: Node, lead: str, value: object, keys: Sequence[str], traces: Traces
) -> str:
    """The text with another last part in a container."""
    if not holder.parts:
        return _inserted_first(text, holder, lead, value, keys, traces)
    last = holder.parts[-1]
    comma = last.comma
    spread = "\n" in text[holder.start : last.start]
    anchor = last.end if comma is None else comma + 1
    if spread:
        indent = _indent_of_parts(text, holder)
        anchor = jsonc.after_comments(text, anchor, same_line=True)
        new = _line_end(text) + indent + lead + _dumped(value, text, None, indent)
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
        return text[:anchor] + line + inner + lead + _dumped(value, text, None, inner) + rest
    traces.hollow[mark_of(keys)] = text[begin:end]
    if keys and "\n" not in text.strip():  # all on one line: stay there
        return text[:begin] + lead + json.dumps(value, ensure_ascii=False) + text[end:]
    written = line + inner + lead + _dumped(value, text, None, inner) + line + outer
    return text[:begin] + written + text[end:]


def _cut(text: str, holder: Node, index: int, keys: Sequence[str], traces: Traces) -> str:
    """The text without a part of a container: the reverse of `_inserted`."""
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


def _cleared(text: str, keys: Sequence[str], traces: Traces) -> str | None:
    """The text without the containers that we made and that hold nothing any more."""
    while mark_of(keys) in traces.made:
        root = parsed(text)
        held = _held(root, keys) if root is not None else []
        if root is None or len(held) != len(keys) + 1 or held[-1].parts:
            return text
        if jsonc.has_comment(text, held[-1].start + 1, held[-1].end - 1):
            return text
        if not keys:
            rest = text[: root.start] + text[root.end :].lstrip("\r\n")
            return rest if rest.strip("\ufeff \t\r\n") else None
        part = held[-2].member(keys[-1])
        index = next(at for at, one in enumerate(held[-2].parts) if one is part)
        text = _cut(text, held[-2], index, keys[:-1], traces)
        keys = keys[:-1]
    return text


def _blank_before(text: str, begin: int, end: int) -> int:
    """Where the white space before a part begins that can go together with it."""
    at = begin
    while at and text[at - 1] in " \t\r\n":
        at -= 1
    commented = "//" in text[text.rfind("\n", 0, at) + 1 : at]
    if commented and not text.startswith(
        ("\n", "\r"), end
    ):  # what follows must not be commented out
        return text.index("\n", at, begin) + 1 if "\n" in text[at:begin] else begin
    return at


def _dumped(value: object, text: str, at: int | None, indent: str | None = None) -> str:
    """A value as lines that fit in where it comes to stand."""
    outer = indent if indent is not None else _indent_at(text, at or 0)
    unit = _unit(text)
    written = json.dumps(value, ensure_ascii=False, indent=unit)
    return written.replace("\n", _line_end(text) + outer)


def _line_end(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _indent_at(text: str, at: int) -> str:
    """The white space that the line of a place begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    found = re.match(r"[ \t]*", line.removeprefix("\ufeff"))
    return found.group() if found else ""


def _indent_of_parts(text: str, holder: Node) -> str:
    """How far a container's parts are in, by the last of those that begin a line."""
    for part in reversed(holder.parts):
        line = text[text.rfind("\n", 0, part.start) + 1 : part.start]
        if not line.strip(" \t"):
            return line
    return _indent_at(text, holder.start) + _unit(text)


def _unit(text: str) -> str:
    """What one level is in by: the first indented line says it."""
    found = re.search(r'\n([ \t]+)(?=["{\[/])', text)
    return found.group(1) if found else "  "
