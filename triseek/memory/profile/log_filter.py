"""Reads `RUST_LOG`, the variable by which users of the contract set what is logged."""

from __future__ import annotations

DEFAULT = "warn"
LEVELS = {
    "off": "critical",  # nothing is logged as critical
    "error": "error",
    "warn": "warning",
    "info": "info",
    "debug": "debug",
    "trace": "debug",
}
"""Levels of the variable, and the lowest level that is logged for each."""
_OURS = ("triseek", "trusty_memory")


def level(directives: str) -> str:
    """Return the lowest level that is logged: a name of `logging`.

    Args:
        directives: `LEVEL` or `NAME=LEVEL`, separated by commas. One with our name, or a part of
            it, precedes one without. Others, and what is not understood, are ignored.
    """
    general, own = DEFAULT, ""
    for directive in directives.lower().split(","):
        name, separator, value = directive.strip().partition("=")
        if not separator and name in LEVELS:
            general = name
        elif value.strip() in LEVELS and name.split("::")[0].strip() in _OURS:
            own = value.strip()
        elif name in _OURS and not separator:  # a name alone enables everything
            own = "trace"
    return LEVELS[own or general]
