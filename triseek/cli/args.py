"""Parse command-line arguments into `LowArgs`, without looking anything up.

The division is ripgrep's (flags/lowargs.rs, flags/hiargs.rs): this half knows the flag table and
nothing else; `cli.resolve` applies the arguments to the command's context. Typer cannot see the
order of flags, and the order matters (`-i -s`, `-t c -T c`); it also costs 200 ms to import.
"""

from __future__ import annotations

from triseek.cli.flags import FLAGS, Flag, MalformedValue
from triseek.cli.low_args import LowArgs
from triseek.errors import InvalidRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FLAGS_HELP = "See `triseek search --help`."
SHORT = {flag.short: flag for flag in FLAGS if flag.short}
LONG = {name: flag for flag in FLAGS for name in (flag.long, *flag.aliases)}
NEGATED = {flag.negation: flag for flag in FLAGS if flag.negation}


def parse(words: Sequence[str]) -> LowArgs:
    """Parse the arguments after the program's name (and the verb's).

    Raises:
        InvalidRequest: A flag, named in the message, is unknown, refused or malformed.
    """
    low = LowArgs()
    following = iter(words)
    for word in following:
        if word == "--":
            low.positional.extend(following)
        elif word.startswith("--"):
            _long(low, word, following)
        elif word.startswith("-") and word != "-":
            _cluster(low, word, following)
        else:
            low.positional.append(word)
    return low


def _long(low: LowArgs, word: str, following: Iterator[str]) -> None:
    """Apply `--name`, `--name=value` or `--no-name`."""
    name, equals, value = word[2:].partition("=")
    flag = LONG.get(name) or NEGATED.get(name)
    if flag is None:
        raise _unknown_long(name)
    on = name in LONG
    if on and flag.value:
        _apply(low, flag, f"--{name}", value if equals else None, following)
        return
    if equals:
        raise InvalidRequest(f"flag --{name} takes no value, got {value!r}", next_step=FLAGS_HELP)
    _apply(low, flag, f"--{name}", on, following)


def _cluster(low: LowArgs, word: str, following: Iterator[str]) -> None:
    """Apply `-i`, `-inC2`, `-C=2` or `-C 2`."""
    for place, letter in enumerate(word[1:], start=1):
        flag = SHORT.get(letter)
        if flag is None:
            raise _unknown_short(letter, word)
        if flag.value:
            value = word[place + 1 :]
            value_or_next = value.removeprefix("=") if value else None
            _apply(low, flag, f"-{letter}", value_or_next, following)
            return
        _apply(low, flag, f"-{letter}", True, following)


def _apply(
    low: LowArgs, flag: Flag, spelled: str, value: str | bool | None, following: Iterator[str]
) -> None:
    """Apply a flag with its value, True or False for a switch; None: the next word is the value."""
    if flag.refusal and value is not False:
        raise _refused(spelled, flag)
    if value is None:
        value = next(following, None)
    if value is None:
        raise InvalidRequest(
            f"flag {spelled} needs a value ({flag.value})",
            next_step=f"Write {spelled} {flag.value}; for text that begins with a dash -e TEXT.",
        )
    try:
        if isinstance(value, str):
            if flag.store:
                flag.store(low, value)
        elif flag.turn:
            flag.turn(low, value)
    except MalformedValue as error:
        raise InvalidRequest(f"flag {spelled}: {error}", next_step=FLAGS_HELP) from None


def _refused(spelled: str, flag: Flag) -> InvalidRequest:
    name = spelled if spelled == f"--{flag.long}" else f"{spelled} (--{flag.long})"
    return InvalidRequest(f"ripgrep's {name} is not supported: {flag.refusal}", next_step="")


def _unknown_long(name: str) -> InvalidRequest:
    from difflib import get_close_matches

    near = get_close_matches(name, [*LONG, *NEGATED], n=1, cutoff=0.7)
    hint = f"Did you mean --{near[0]}? " if near else ""
    return InvalidRequest(
        f"unknown flag --{name}", next_step=f"{hint}{_dashed(f'--{name}')} {FLAGS_HELP}"
    )


def _unknown_short(letter: str, word: str) -> InvalidRequest:
    named = f"-{letter}" if word == f"-{letter}" else f"-{letter} in {word!r}"
    return InvalidRequest(f"unknown flag {named}", next_step=f"{_dashed(word)} {FLAGS_HELP}")


def _dashed(word: str) -> str:
    return f"To search for text that begins with a dash: triseek -e '{word}'."
