"""What a declaration of a tool and of a wing means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
from pydantic import TypeAdapter, ValidationError

from triseek.model.tool import STRICT, Tool, Wing


@dataclass(frozen=True)
class Request:
    """Repeat a word."""

    __pydantic_config__: ClassVar = STRICT

    word: str
    """The word to repeat."""


def test_an_unknown_argument_is_refused() -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Request).validate_python({"word": "a", "words": "b"})


def test_docstrings_of_fields_describe_the_arguments() -> None:
    schema = TypeAdapter(Request).json_schema()

    assert schema["properties"]["word"]["description"] == "The word to repeat."


def test_a_tool_only_reads_and_a_wing_is_offered_unless_they_say_otherwise() -> None:
    tool = Tool(
        name="repeat", title="Repeat", toolset="words", request=Request, results=(), listed="",
        answer=lambda _context, request, _call: request.word,
        digest=lambda _name, _arguments, result: iter([result["word"]]), kind="words",
    )  # fmt: skip
    wing = Wing(toolset="words", tools=(tool,), context=lambda host: host)

    assert tool.read_only
    assert tool.idempotent
    assert wing.is_default
