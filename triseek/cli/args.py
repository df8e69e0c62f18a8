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
    from collections.abc import Sequence

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
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            low.positional.extend(words[at:])
            break
        if word.startswith("--"):
            at += _long(low, word, words[at : at + 1])
        elif word.startswith("-") and word != "-":
            at += _cluster(low, word, words[at : at + 1])
        else:
            low.positional.append(word)
    return low


def _long(low: LowArgs, word: str, following: Sequence[str]) -> int:
    """Apply `--name`, `--name=value` or `--no-name`; return how many more words it took."""
    name, equals, value = word[2:].partition("=")
    flag = LONG.get(name) or NEGATED.get(name)
    if flag is None:
        raise _unknown_long(name)
    on = name in LONG
    if on and flag.value:
        _store(low, flag, f"--{name}", value if equals else _next(f"--{name}", flag, following))
        return 0 if equals else 1
    if equals:
        raise InvalidRequest(f"flag --{name} takes no value, got {value!r}", next_step=FLAGS_HELP)
    _turn(low, flag, f"--{name}", on=on)
    return 0


def _cluster(low: LowArgs, word: str, following: Sequence[str]) -> int:
    """Apply `-i`, `-inC2`, `-C=2` or `-C 2`; return how many more words it took."""
    for place, letter in enumerate(word[1:], start=1):
        flag = SHORT.get(letter)
        if flag is None:
            raise _unknown_short(letter, word)
        if not flag.value:
            _turn(low, flag, f"-{letter}", on=True)
            continue
        value = word[place + 1 :]
        if value:
            _store(low, flag, f"-{letter}", value.removeprefix("="))
            return 0
        _store(low, flag, f"-{letter}", _next(f"-{letter}", flag, following))
        return 1
    return 0


def _next(spelled: str, flag: Flag, following: Sequence[str]) -> str:
    if flag.refusal:
        raise _refused(spelled, flag)
    if not following:
        raise InvalidRequest(
            f"flag {spelled} needs a value ({flag.value})",
            next_step=f"Write {spelled} {flag.value}; for text that begins with a dash -e TEXT.",
        )
    return following[0]


def _turn(low: LowArgs, flag: Flag, spelled: str, *, on: bool) -> None:
    if flag.refusal and on:
        raise _refused(spelled, flag)
    if flag.turn is None:
        raise AssertionError(f"{flag.long} has nothing to turn")
    try:
        flag.turn(low, on)
    except MalformedValue as error:
        raise InvalidRequest(f"flag {spelled}: {error}", next_step=FLAGS_HELP) from None


def _store(low: LowArgs, flag: Flag, spelled: str, value: str) -> None:
    if flag.refusal:
        raise _refused(spelled, flag)
    if flag.store is None:
        raise AssertionError(f"{flag.long} takes no value")
    try:
        flag.store(low, value)
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
