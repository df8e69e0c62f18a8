"""Commands of `plain_words` as Typer takes them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triseek.terminal.command_context import CommandContext
from triseek.terminal.plain_words import Argument, Option, Parameter, parameters, spelling

if TYPE_CHECKING:
    from collections.abc import Callable


def typer_command(command: Callable[..., int]) -> Callable[..., int]:
    """Return a function for Typer that runs a command in the context of this process."""

    def run(**values: Any) -> int:  # noqa: ANN401 - of the types that the command declares
        return command(CommandContext.here(), **values)

    declared = parameters(command)
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {parameter.name: _annotation(parameter) for parameter in declared}
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                parameter.name, inspect.Parameter.KEYWORD_ONLY, default=parameter.default,
                annotation=run.__annotations__[parameter.name],
            )
            for parameter in declared
        ]
    )  # fmt: skip
    return run


def _annotation(parameter: Parameter) -> Any:  # noqa: ANN401 - a form of `typing`
    match parameter.declared:
        case Argument(metavar, help_):
            return Annotated[parameter.type, typer.Argument(metavar=metavar, help=help_)]
        case Option(metavar, help_, least, most, short):
            names = filter(None, (spelling(parameter), short))
            option = typer.Option(*names, metavar=metavar or None, help=help_, min=least, max=most)
            return Annotated[parameter.type, option]
