"""The daemon's part of a record as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench import overhead
from bench.markdown import ms, table

if TYPE_CHECKING:
    from collections.abc import Iterator

_OVERHEAD = """\
Overhead: the command through the daemon, less the search by the API in a warm process, less \
`python -c pass`, the three taking turns. `small`: output of 64 KiB at most and a search within \
100 ms, which is what the budget is for; `slow`: a longer search, of which the difference shows \
the noise; `large`: more output, which has to be rendered and carried, and the API does neither."""
_EDITS = """\
One file of a copy, edited by another process, in place and by renaming in turn. `sync` is the \
daemon asked to take in all that has happened. The searches are for the new line, by the command, \
from start to end of the process: the first kind follows a `sync`, the other the edit itself."""


def section(told: dict[str, Any]) -> str:
    """Everything there is; empty for a record without it."""
    if not told:
        return ""
    if "edits" not in told:
        return f"### The daemon\n\n{told['note']}"
    parts = _parts(told)
    return "### The daemon\n\n" + "\n\n".join(parts)


def _parts(told: dict[str, Any]) -> Iterator[str]:
    if "overhead" in told:
        yield _OVERHEAD
        yield _kinds(told["overhead"])
        yield _cases(told["overhead"]["cases"])
    yield _EDITS
    yield _edits(told["edits"])
    yield _memory(told["memory"])
    if told["session"]:
        yield _session(told["session"])


def _kinds(told: dict[str, Any]) -> str:
    rows = [
        (
            kind,
            str(told[kind]["cases"]),
            ms(told[kind]["median_ms"]),
            f"{ms(told[kind]['max_ms'])} ({told[kind]['worst'].split('/')[1]})",
            ms(told[kind]["least_median_ms"]),
            ms(told[kind]["least_max_ms"]),
        )
        for kind in overhead.KINDS
        if kind in told
    ]
    head = ("cases", "n", "median ms", "worst ms", "of minima: median ms", "worst ms")
    return table(head, rows)


def _cases(cases: list[dict[str, Any]]) -> str:
    rows = [
        (
            case["name"],
            case["kind"],
            f"{case['output_bytes']:,}",
            *(
                ms(case[part]["median_ms"])
                for part in ("command", "served", "inprocess", "python -c pass")
            ),
            ms(case["overhead_ms"]),
            ms(case["overhead_min_ms"]),
        )
        for case in cases
    ]
    head = (
        *("case", "", "output bytes", "command ms", "of it in the daemon", "in process"),
        *("`python -c pass`", "overhead ms", "of minima"),
    )
    return table(head, rows)


def _edits(told: dict[str, Any]) -> str:
    rows = [
        ("sync", *_spread(told["sync"])),
        ("… in the daemon", *_spread(told["sync_in_daemon"])),
        *((f"search {when}", *_spread(entry)) for when, entry in told["searched"].items()),
    ]
    count = sum(entry["n"] for entry in told["searched"].values())
    return (
        table(("", "n", "median ms", "least", "p95", "p99"), rows)
        + f"\n\nStale answers: {told['stale']} of {count}. "
        + f"Not `synced`: {told['not_synced']} of {told['sync']['n']}."
    )


def _spread(entry: dict[str, Any]) -> tuple[str, ...]:
    figures = (entry.get(f"{name}_ms") for name in ("median", "min", "p95", "p99"))
    return (str(entry["n"]), *("–" if figure is None else ms(figure) for figure in figures))


def _memory(told: dict[str, Any]) -> str:
    rows = [
        (when, *(f"{memory[part] / 1e6:,.0f}" for part in ("rss", "anonymous", "file", "peak")))
        for when, memory in (
            ("corpus open", told["open"]),
            (f"after {told['questions']} mixed questions", told["asked"]),
        )
    ]
    return table(("memory, MB", "resident", "its own", "of mapped files", "most ever"), rows)


def _session(told: dict[str, Any]) -> str:
    rows = [
        (
            name,
            str(entry["queries"]),
            ms(entry["median_ms"]),
            f"{entry['total_ms']:,.0f}",
            f"{told['engines']['rg']['total_ms'] / entry['total_ms']:.3g}",
        )
        for name, entry in told["engines"].items()
    ]
    asked = ", ".join(name.split("/")[1] for name in told["cases"])
    head = ("session", "queries", "median ms", "total ms", "rg /")
    return f"A session of what all of these take: {asked}.\n\n" + table(head, rows)
