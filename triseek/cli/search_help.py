"""Help for the search verb, generated from the flag table."""

from __future__ import annotations

from textwrap import wrap

from triseek.cli.flags import FLAGS, SECTIONS, Flag

WIDTH = 96
INDENT = 34

USAGE = """\
Usage: triseek [search] [FLAGS] PATTERN [PATH …]
       triseek [search] [FLAGS] -e PATTERN … [PATH …]
       triseek [search] [FLAGS] --files [PATH …]
       COMMAND | triseek [FLAGS] PATTERN
"""

EXAMPLES = """\
Examples:
  triseek 'fn \\w+_init'           lines matching a regular expression, below here
  triseek -F 'a[0]' src            plain text, below src
  triseek -i -tpy todo             any case, Python files only
  triseek -g '!tests/**' -l main   names of files with a match, tests left out
  triseek -C2 panic src/a.rs       two lines around each match
  triseek -e -foo                  a pattern that begins with a dash
  triseek search build             the word build, which alone is a verb
  triseek --limit 20 --envelope x  one JSON document, as agents get it
"""

SHORT = """\
triseek searches code: ripgrep's flags and answers, from an index when there is one.

Usage: triseek PATTERN [PATH …]          search (triseek search --help for all flags)
       triseek find-files QUERY [PATH]   find files by name
       triseek build [PATH]              build the index
       triseek --help                    all verbs
"""
"""What is shown if no arguments were typed."""


def search_help() -> str:
    """Return the help on all flags, grouped, with examples."""
    parts = [
        "Search file contents. What is piped is byte for byte what `rg --sort path` prints.\n",
        USAGE,
        EXAMPLES,
    ]
    for title, flags in SECTIONS.items():
        rows = [_row(flag) for flag in flags if not flag.refusal]
        parts.append(f"{title}:\n" + "".join(rows))
    parts.append(_refused())
    parts.append("Exit status: 0 found, 1 nothing found, 2 error, 130 interrupted.\n")
    return "\n".join(parts)


def _row(flag: Flag) -> str:
    head = spelled(flag)
    notes = flag.help
    if flag.negation:
        notes += f" Undo: --{flag.negation}."
    lines = [f"{'':{INDENT}}{line}\n" for line in wrap(notes, WIDTH - INDENT)]
    if len(head) >= INDENT - 1:
        return f"{head}\n{''.join(lines)}"
    return f"{head:{INDENT}}{''.join(lines).lstrip()}"


def spelled(flag: Flag) -> str:
    """Return a flag as the help shows it: `  -e, --regexp=PATTERN`."""
    short_name = f"-{flag.short}, " if flag.short else "    "
    value = f"={flag.value}" if flag.value else ""
    return f"  {short_name}--{flag.long}{value}"


def _refused() -> str:
    names = ", ".join(f"--{flag.long}" for flag in FLAGS if flag.refusal)
    body = wrap(f"{names}. Each says so, and what to use.", WIDTH - 2)
    return "ripgrep's flags that triseek does not have:\n" + "".join(f"  {x}\n" for x in body)
