"""Reads JSON from a host: any field may be missing, null or of a wrong type."""

from __future__ import annotations

import base64
import binascii
import json
import math
from typing import TYPE_CHECKING, Any, NoReturn

from triseek.zoekt.failure import HostFailure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_INTEGER_MAX = 1 << 62
_JSON_TYPES = {
    dict: "an object", list: "a list", str: "a text", bool: "a boolean", int: "a whole number",
    float: "a number with a fraction", type(None): "null",
}  # fmt: skip


def document(body: bytes) -> AnswerFields:
    """Return the object that a body holds.

    Raises:
        HostFailure: It is not JSON, or no object.
    """
    try:
        value = json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise HostFailure("wrong", "its answer is no valid JSON") from None
    if not isinstance(value, dict):
        raise HostFailure("wrong", f"its answer is {_JSON_TYPES[type(value)]} instead of an object")
    return AnswerFields(value, "")


class AnswerFields:
    """The fields of a JSON object. A missing field and null read as the type's empty value.

    Its methods raise `HostFailure` that names the field for a value of another type.
    """

    __slots__ = ("_values", "path")

    def __init__(self, values: dict[str, Any], path: str) -> None:
        self._values = values
        self.path = path
        """Where the object is, as `Result.Files[3]`."""

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def text(self, name: str) -> str:
        """Return a text; parts that UTF-8 cannot encode become `?`."""
        value = self._values.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            self._refuse(name, value, "a text")
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")

    def data(self, name: str) -> bytes:
        """Return the bytes of a field in base64."""
        value = self._values.get(name)
        if value is None:
            return b""
        if not isinstance(value, str):
            self._refuse(name, value, "base64")
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise HostFailure("wrong", f"{self._place(name)} is no valid base64") from None

    def integer(self, name: str) -> int:
        """Return a whole number from 0."""
        value = self._values.get(name)
        if value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, int):
            self._refuse(name, value, "a whole number")
        if not 0 <= value <= _INTEGER_MAX:
            raise HostFailure("wrong", f"{self._place(name)} is a number out of range")
        return value

    def number(self, name: str) -> float:
        """Return a finite number."""
        value = self._values.get(name)
        if value is None:
            return 0.0
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self._refuse(name, value, "a number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise HostFailure("wrong", f"{self._place(name)} is a number out of range")
        return number

    def boolean(self, name: str) -> bool:
        """Return a boolean."""
        value = self._values.get(name)
        if value is None:
            return False
        if not isinstance(value, bool):
            self._refuse(name, value, "a boolean")
        return value

    def child(self, name: str) -> AnswerFields:
        """Return an object."""
        value = self._values.get(name)
        if value is None:
            value = {}
        if not isinstance(value, dict):
            self._refuse(name, value, "an object")
        return AnswerFields(value, self._path(name))

    def required(self, name: str) -> AnswerFields:
        """Return an object that must be there."""
        if self._values.get(name) is None:
            raise HostFailure("wrong", f"its answer has no field {self._path(name)}")
        return self.child(name)

    def objects(self, name: str) -> Iterator[AnswerFields]:
        """Yield the objects of a list; null among them is an empty object."""
        for position, value in enumerate(self._list(name)):
            path = f"{self._path(name)}[{position}]"
            if value is None:
                value = {}
            if not isinstance(value, dict):
                raise HostFailure("wrong", _refusal(path, value, "an object"))
            yield AnswerFields(value, path)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the texts of a list."""
        return tuple(
            AnswerFields({"": value}, f"{self._path(name)}[{position}]").text("")
            for position, value in enumerate(self._list(name))
        )

    def names(self) -> Iterator[str]:
        """Yield the names of all fields."""
        yield from self._values

    def _list(self, name: str) -> Sequence[Any]:
        value = self._values.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            self._refuse(name, value, "a list")
        return value

    def _refuse(self, name: str, value: object, wanted: str) -> NoReturn:
        raise HostFailure("wrong", _refusal(self._path(name), value, wanted))

    def _place(self, name: str) -> str:
        return f"the field {self._path(name)} of its answer"

    def _path(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path and name else self.path or name


def _refusal(path: str, value: object, wanted: str) -> str:
    return f"the field {path} of its answer is {_JSON_TYPES[type(value)]} instead of {wanted}"


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")
