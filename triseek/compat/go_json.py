"""JSON as Go's `encoding/json` reads and writes it, which is what Zoekt's clients rely on.

Names of fields are compared without case, unknown ones are ignored, null leaves a field as it is,
and the first value of a wrong type is refused with Go's message.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind: TypeAlias = "str | Struct"
"""`string`, `bool`, an integer type, `[]uint32`, `map[string]string`, or a structure."""

_RANGES = {
    "int": (-(1 << 63), (1 << 63) - 1),
    "time.Duration": (-(1 << 63), (1 << 63) - 1),
    "zoekt.RepoListField": (-(1 << 63), (1 << 63) - 1),
    "uint32": (0, (1 << 32) - 1),
}
_HTML = ((b"<", b"\\u003c"), (b">", b"\\u003e"), (b"&", b"\\u0026"))
_LINES = (("\u2028", "\\u2028"), ("\u2029", "\\u2029"))
_CONTEXTS = {
    "Expecting value": "looking for beginning of value",
    "Expecting property name enclosed in double quotes": (
        "looking for beginning of object key string"
    ),
    "Expecting ':' delimiter": "after object key",
    "Expecting ',' delimiter": "after object key:value pair",
    "Invalid control character at": "in string literal",
    "Invalid \\escape": "in string escape code",
    "Invalid \\uXXXX escape": "in \\u hexadecimal character escape",
}


class Unreadable(Exception):
    """A document is no JSON, or has a value of a wrong type; the message is Go's."""


@dataclass(frozen=True)
class Struct:
    """A structure of Go: the kinds of its fields."""

    name: str
    fields: Mapping[str, Kind]


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


class _Pairs(list[tuple[str, Any]]):
    """The fields of an object, in their order."""


def decode(body: bytes, struct: Struct, package: str) -> dict[str, Any]:
    """Return the fields that a document sets; what follows the document is ignored, as in Go.

    Args:
        body: JSON; bytes that are not UTF-8 are replaced.
        struct: What is expected.
        package: Go's package of `struct`, for messages.

    Raises:
        Unreadable: It is no JSON, or a value has a wrong type.
    """
    document = _parsed(body.decode("utf-8", "replace").lstrip(" \t\r\n"))
    if document is None:
        return {}
    if not isinstance(document, _Pairs):
        value = _described(document)
        raise Unreadable(
            f"json: cannot unmarshal {value} into Go value of type {package}.{struct.name}"
        )
    return _fields(document, struct, "")


def _parsed(text: str) -> Any:  # noqa: ANN401 - JSON
    if not text:
        raise Unreadable("EOF")
    try:
        return _DECODER.raw_decode(text)[0]
    except RecursionError:
        raise Unreadable("exceeded max depth") from None
    except json.JSONDecodeError as error:
        if error.pos >= len(text) or error.msg.startswith("Unterminated string"):
            raise Unreadable("unexpected EOF") from None
        raise Unreadable(_complaint(text, error)) from None


def _complaint(text: str, error: json.JSONDecodeError) -> str:
    """Return Go's message for a character that makes a document no JSON."""
    for literal in ("true", "false", "null"):
        if error.msg == "Expecting value" and text[error.pos] == literal[0]:
            read = 1
            while text[error.pos + read : error.pos + read + 1] == literal[read]:
                read += 1
            if error.pos + read >= len(text):
                return "unexpected EOF"
            context = f"in literal {literal} (expecting '{literal[read]}')"
            return _misplaced(text[error.pos + read], context)
    context = _CONTEXTS.get(error.msg, "looking for beginning of value")
    return _misplaced(text[error.pos], context)


def _misplaced(character: str, context: str) -> str:
    shown = {"'": r"'\''", '"': "'\"'"}.get(character, repr(character))
    return f"invalid character {shown} {context}"


def _constant(name: str) -> None:
    """Refuse NaN and Infinity, which Python reads."""
    raise Unreadable(_misplaced(name[0], "looking for beginning of value"))


_DECODER = json.JSONDecoder(
    object_pairs_hook=_Pairs,
    parse_int=_Number,
    parse_float=_Number,
    parse_constant=_constant,
)


def _fields(pairs: _Pairs, struct: Struct, path: str) -> dict[str, Any]:
    names = {name.casefold(): name for name in struct.fields}
    fields: dict[str, Any] = {}
    for key, value in pairs:
        name = names.get(key.casefold())
        if name is None:
            continue
        if value is None:
            if isinstance(struct.fields[name], Struct) or struct.fields[name] == "[]uint32":
                fields.pop(name, None)  # a null takes back a pointer, and leaves what else is set
            continue
        place = f"{path}.{name}" if path else name
        kind = struct.fields[name]
        if isinstance(kind, Struct):
            if not isinstance(value, _Pairs):
                raise _wrong(value, struct, place, f"zoekt.{kind.name}")
            fields[name] = {**fields.get(name, {}), **_fields(value, kind, place)}
        else:
            fields[name] = _plain(value, kind, struct, place)
    return fields


def _plain(value: Any, kind: str, struct: Struct, place: str) -> Any:  # noqa: ANN401 - JSON
    """Return a value of a kind that is no structure."""
    if kind == "string" and isinstance(value, str) and not isinstance(value, _Number):
        return _without_surrogates(value)
    if kind == "bool" and isinstance(value, bool):
        return value
    if kind in _RANGES and isinstance(value, _Number):
        return _integer(value, kind, struct, place)
    if kind == "[]uint32" and isinstance(value, list) and not isinstance(value, _Pairs):
        return [
            _plain(0 if item is None else item, "uint32", struct, place) if item is not None else 0
            for item in value
        ]
    if kind == "map[string]string" and isinstance(value, _Pairs):
        return {
            key: _plain(item, "string", struct, place) for key, item in value if item is not None
        }
    raise _wrong(value, struct, place, kind)


def _integer(value: _Number, kind: str, struct: Struct, place: str) -> int:
    low, high = _RANGES[kind]
    digits = value.removeprefix("-")
    if digits.isdecimal() and len(digits) < 20 and low <= (number := int(value)) <= high:
        return number
    raise _wrong(value, struct, place, kind, f"number {value[:64]}")


def _wrong(
    value: Any,  # noqa: ANN401 - JSON
    struct: Struct,
    place: str,
    kind: str,
    shown: str = "",
) -> Unreadable:
    return Unreadable(
        f"json: cannot unmarshal {shown or _described(value)} into Go struct field "
        f"{struct.name}.{place} of type {kind}"
    )


def _described(value: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(value, _Number):
        return "number"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, _Pairs) else "array"


def _without_surrogates(text: str) -> str:
    """Replace halves of surrogate pairs, which JSON can escape and UTF-8 cannot say."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def text_of(raw: bytes | str) -> str:
    """Return a text as Go writes it: each byte that is not UTF-8 is one U+FFFD."""
    encoded = raw.encode("utf-8", "surrogateescape") if isinstance(raw, str) else raw
    try:
        return encoded.decode()
    except UnicodeDecodeError:
        escaped = encoded.decode("utf-8", "surrogateescape")
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in escaped)


_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))


def encode(document: object) -> bytes:
    """Return JSON with the escapes that Go writes, by which it is safe inside of HTML."""
    text = _ENCODER.encode(document)
    if not text.isascii():
        for character, escape in _LINES:
            text = text.replace(character, escape)
    encoded = text.encode("utf-8", "replace")
    for character_, escape_ in _HTML:
        encoded = encoded.replace(character_, escape_)
    return encoded


def number(value: float) -> float | int:
    """Return a float as Go writes it: without a fraction if it has none."""
    return int(value) if value == int(value) else value
