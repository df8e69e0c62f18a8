"""The declaration of a capability: what agents search, read and run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind: TypeAlias = Literal["workflow", "runtime_tool", "execution_pattern", "error"]
ArgumentType: TypeAlias = Literal["string", "integer", "boolean", "object"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument of a capability."""

    type: ArgumentType
    description: str
    required: bool = False
    default: str | int | bool | None = None
    """Of an argument that is not required; None if it has none."""
    minimum: int | None = None
    maximum: int | None = None

    def schema(self) -> dict[str, Any]:
        """Return it as the catalog's pages show it."""
        schema: dict[str, Any] = {
            "type": self.type, "required": self.required, "description": self.description,
        }  # fmt: skip
        optional = {"default": self.default, "minimum": self.minimum, "maximum": self.maximum}
        return schema | {name: value for name, value in optional.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """A workflow, a function for scripts, or a way to run scripts."""

    id: str
    kind: Kind
    description: str
    summary: str = ""
    when_to_use: str = ""
    example: str = ""
    """One call, as an agent writes it."""
    arguments: Mapping[str, Argument]
    """By name, in the order in which a usage line lists them."""
    examples: tuple[Mapping[str, Any], ...] = ()
    """Calls as objects: the name of what is called, and its arguments."""
    constraints: tuple[str, ...] = ()
    output: Mapping[str, str]
    """The fields of the result, each with its type."""

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the required arguments."""
        return tuple(name for name, argument in self.arguments.items() if argument.required)

    def schema(self) -> dict[str, Any]:
        """Return the arguments as the catalog's pages show them."""
        return {name: argument.schema() for name, argument in self.arguments.items()}


def unknown(identifier: str) -> Capability:
    """Return what the catalog answers for an id that it does not have."""
    return Capability(
        id=identifier,
        kind="error",
        description=f"unknown capability_id: {identifier}",
        arguments={},
        output={"error": "string"},
    )
