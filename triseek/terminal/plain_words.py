"""Commands whose options are declared in their signatures, and read without Typer.

Such a command is a function of a `CommandContext` and of its arguments and options, each annotated
with `Argument` or `Option`. Typer takes as long as the answer: `read` takes the usual words, and
leaves help, mistakes and what is unusual to Typer, which gets the same declarations
(`typer_command`). A test checks that both agree.
"""

from __future__ import annotations

import inspect
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DIGITS_MAX = 18
"""Most digits of a number; a longer one is unusual, and Python refuses very long ones."""


class Argument(NamedTuple):
    """A positional argument; the last one of a command may be a list, which takes all the rest."""

    metavar: str
    help: str


class Option(NamedTuple):
    """An option, spelled as `spelling` says: a flag, a text or a whole number.

    A flag has no metavar. An option of the type `list[str] | None` may be passed several times.
    """

    metavar: str
    help: str
    least: int | None = None
    most: int | None = None
    short: str = ""
    """Another spelling: `-C`."""


JSON = Option("", "Write a JSON document.")
Json = Annotated[bool, JSON]


class Parameter(NamedTuple):
    """A parameter of a command."""

    name: str
    type: Any
    declared: Argument | Option
    default: Any
    """`inspect.Parameter.empty` if it is required."""


def spelling(parameter: Parameter) -> str:
    """Return how an option is typed: `--as-of` for the parameter `as_of`, `--in` for `in_`."""
    return f"--{parameter.name.removesuffix('_').replace('_', '-')}"


@cache
def parameters(command: Callable[..., int]) -> tuple[Parameter, ...]:
    """Return the parameters of a command after the first one, its context."""
    _, *rest = inspect.signature(command).parameters.values()
    annotations = {parameter.name: parameter.annotation for parameter in rest}
    hints = get_type_hints(  # not of the context, whose type is imported for type checkers only
        SimpleNamespace(__annotations__=annotations), command.__globals__, include_extras=True
    )
    described = []
    for parameter in rest:
        type_, declared = get_args(hints[parameter.name])
        described.append(Parameter(parameter.name, type_, declared, parameter.default))
    return tuple(described)


def read(
    command: Callable[..., int], words: Sequence[str], *, options_first: bool = False
) -> dict[str, Any] | None:
    """Return the arguments of a command by their names; None if they are left to Typer.

    options_first: No word behind the first positional argument is an option.
    """
    values = {parameter.name: parameter.default for parameter in parameters(command)}
    options = _options(command)
    positional: list[str] = []
    following = iter(words)
    for word in following:
        if word == "--":
            positional += following
        elif not word.startswith("-") or word == "-":
            positional.append(word)
            if options_first:
                positional += following
        else:
            name, separator, text = word.partition("=")
            option = options.get(name)
            value = _value(option, text if separator else None, following) if option else None
            if option is None or value is None:
                return None
            if option.type in (bool, int, str):
                values[option.name] = value
            else:
                values[option.name] = [*(values[option.name] or ()), value]
    return values if _take(command, positional, values) else None


@cache
def _options(command: Callable[..., int]) -> dict[str, Parameter]:
    return {
        name: parameter
        for parameter in parameters(command)
        if isinstance(parameter.declared, Option)
        for name in filter(None, (spelling(parameter), parameter.declared.short))
    }


def _value(option: Parameter, text: str | None, following: Iterator[str]) -> str | int | None:
    """Return the value of an option, the next word if it has no text; None if it is unusual."""
    declared = option.declared
    if option.type is bool:
        return True if text is None else None
    if text is None:
        text = next(following, "--")
        if text.startswith("-") and text != "-":
            return None
    if option.type is not int or not isinstance(declared, Option):
        return text
    if not (text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX):
        return None
    number = int(text)
    is_low = declared.least is not None and number < declared.least
    is_high = declared.most is not None and number > declared.most
    return None if is_low or is_high else number


def _take(command: Callable[..., int], positional: list[str], values: dict[str, Any]) -> bool:
    """Set the positional arguments; return whether there are as many as the command takes."""
    for parameter in parameters(command):
        if isinstance(parameter.declared, Option):
            continue
        if parameter.type is str:
            if positional:
                values[parameter.name] = positional.pop(0)
        elif positional or parameter.default is None:
            values[parameter.name], positional = positional, []
    return not positional and inspect.Parameter.empty not in values.values()
