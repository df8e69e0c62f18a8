"""Bodies of workflows' answers: their results as markdown. Any field may have any type."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from triseek.model.plain_text import visible_line
from triseek.workflows.hits import FILES_MAX, SHORT_MAX, hit_lines, indented
from triseek.workflows.markdown import code, fenced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Payload = Mapping[str, Any]

ITEMS_MAX = 10
"""Items of a list that are shown where nothing else is said."""
ROWS_MAX = 100
"""Symbols, commits or candidates that are shown."""
LISTED_MAX = 25
"""Files that are shown where the answer is a list of them."""
TESTS_MAX = 6
"""Places of one file with tests that are shown."""
MENTIONS_MAX = 3
"""Places of one file that is not parsed that are shown."""
SAMPLES_MAX = 2
"""Files that are shown as a sample."""
SAMPLE_MATCHES_MAX = 2
"""Matches that are shown of each."""
_LANGUAGES = {
    "py": "python", "ts": "ts", "tsx": "tsx", "js": "javascript", "jsx": "jsx", "go": "go",
    "java": "java", "rb": "ruby", "rs": "rust", "c": "c", "h": "c", "cc": "cpp", "cpp": "cpp",
    "hpp": "cpp", "json": "json", "yaml": "yaml", "yml": "yaml", "md": "markdown", "sh": "bash",
    "sql": "sql", "html": "html", "css": "css",
}  # fmt: skip
"""Names of languages for fences, by the ending of a path."""


def body(workflow: str, payload: object) -> list[str]:
    """Return the lines of a workflow's result; of an unknown workflow's, its outline."""
    render = _BODIES.get(workflow)
    if render is None or not isinstance(payload, dict):
        return list(_generic(payload))
    return list(render(payload))


def _repositories(payload: Payload) -> Iterator[str]:
    names = _list(payload, "repositories")
    yield f"Found `{len(names)}` repositories{_for(payload, 'query')}."
    yield ""
    if names:
        yield "### Repositories"
        yield from (f"{number}. {code(_text(name))}" for number, name in enumerate(names, 1))
    else:
        yield "No repositories found."
    if results := _list(payload, "results"):
        yield from ("", "### Top Matches", *hit_lines(results))


def _hits(payload: Payload, files_max: int = FILES_MAX) -> Iterator[str]:
    yield f"Found `{_text(payload.get('total_hits', 0))}` matches{_for(payload, 'query')}."
    yield ""
    results = _list(payload, "results")
    yield from hit_lines(results, files_max) if results else ("No matches found.",)


def _all_hits(payload: Payload) -> Iterator[str]:
    """Yield as `_hits` does, with all files that were asked for."""
    return _hits(payload, LISTED_MAX)


def _file(payload: Payload) -> Iterator[str]:
    repo, path = _field(payload, "repo"), _field(payload, "path")
    first = _number(payload.get("start_line"), 1)
    last = _number(payload.get("end_line"), first)
    place = f"{code(f'{repo}/{path}')} lines" if repo and path else "Lines"
    yield f"{place} `{first}-{last}`"
    yield ""
    content = _field(payload, "content")
    if not content:
        yield "No content returned for the requested range."
        return
    name = path.rpartition("/")[2]
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    lines = content.removesuffix("\n").split("\n")
    yield from fenced(numbered(lines, first), _LANGUAGES.get(ending, "text"))


def numbered(lines: list[str], first: int) -> str:
    """Return lines with their numbers in front."""
    width = max(2, len(str(first + len(lines) - 1)))
    return "\n".join(f"{number:>{width}} | {line}" for number, line in enumerate(lines, first))


def _trace(payload: Payload) -> Iterator[str]:
    count = _number(payload.get("inspected_repos"), 0)
    yield f"Cross-repo trace{_for(payload, 'symbol')} across `{count}` repos."
    yield ""
    trace = [entry for entry in _list(payload, "trace") if isinstance(entry, dict)]
    if not trace:
        yield "No trace results found."
    for number, entry in enumerate(trace, 1):
        yield f"### {number}. {code(_field(entry, 'repo') or '(unknown repo)')}"
        yield f"- Definition hits: `{_number(entry.get('definition_hits'), 0)}`"
        yield f"- Usage hits: `{_number(entry.get('usage_hits'), 0)}`"
        for title, name in (("definitions", "definitions"), ("usages", "usages")):
            if sample := _list(entry, name):
                yield f"- Sample {title}:"
                lines = hit_lines(sample, SAMPLES_MAX, SAMPLE_MATCHES_MAX, has_context=False)
                yield from indented(lines, 2)
    yield from _errors(payload)


def _errors(payload: Payload) -> Iterator[str]:
    if errors := _list(payload, "errors"):
        yield from ("", "### Errors")
    for error in errors:
        if isinstance(error, dict):
            message = visible_line(_field(error, "error") or "(unknown error)")
            yield f"- {code(_field(error, 'repo') or '(unknown repo)')}: {message}"
        else:
            yield f"- {visible_line(_text(error))}"


def _outline(payload: Payload) -> Iterator[str]:
    symbols = [entry for entry in _list(payload, "symbols") if isinstance(entry, dict)]
    place = code(f"{_field(payload, 'repo')}/{_field(payload, 'path')}")
    yield f"Found `{len(symbols)}` definitions in {place}."
    yield ""
    if not symbols:
        yield "No definitions found."
    for symbol in symbols[:ROWS_MAX]:
        first, last = _number(symbol.get("line"), 0), _number(symbol.get("end_line"), 0)
        lines = f"L{first}-{last}" if last > first else f"L{first}"
        parent = _field(symbol, "parent")
        inside = f" in {code(parent)}" if parent else ""
        kind = visible_line(_field(symbol, "kind"))
        yield f"- {lines}: {code(_field(symbol, 'name'))} ({kind}){inside}"
    yield from _more(len(symbols), ROWS_MAX, "definitions")


def _impact(payload: Payload) -> Iterator[str]:
    callers = [entry for entry in _list(payload, "callers") if isinstance(entry, dict)]
    definitions = _list(payload, "definitions")
    yield (
        f"Found `{_text(payload.get('total_hits', 0))}` references to "
        f"{code(_field(payload, 'symbol'))} in `{len(callers)}` places."
    )
    yield ""
    if definitions:
        yield from ("### Definitions", *hit_lines(definitions), "")
    if not callers:
        yield "No references found."
        return
    lines = [entry for entry in callers if entry.get("checked") == "lines"]
    if uses := [entry for entry in callers if entry.get("checked") != "lines"]:
        yield "### Callers"
        yield from _callers(uses, ROWS_MAX)
    if lines:
        yield from (*([""] if uses else []), "### Mentions, in files that are not parsed")
        yield from _callers(lines, MENTIONS_MAX)


def _callers(callers: list[dict[str, Any]], most: int) -> Iterator[str]:
    """Yield the places that use a symbol below their files, at most `most` of each file."""
    shown = Counter[str]()
    for caller in callers[:ROWS_MAX]:
        place = "/".join(filter(None, (_field(caller, "repository"), _field(caller, "path"))))
        if not shown[place]:
            yield f"{len(shown) + 1}. {code(place)}"
        shown[place] += 1
        if shown[place] <= most:
            yield f"   - {_places(caller)}"
        elif shown[place] == most + 1:
            yield "   - ..."
    yield from _more(len(callers), ROWS_MAX, "places")


def _places(caller: Payload) -> str:
    """Return the lines of a file that use a symbol in one definition, and the first of them."""
    inside = _field(caller, "inside")
    lines = [str(_number(line, 0)) for line in _list(caller, "lines")]
    shown = ", ".join(lines[:ITEMS_MAX]) + (", ..." if len(lines) > ITEMS_MAX else "")
    within = f" in {code(inside)}" if inside else ""
    example = _field(caller, "text").strip()[:SHORT_MAX]
    return f"L{shown}{within}" + (f": {code(example)}" if example else "")


def _tests(payload: Payload) -> Iterator[str]:
    results = [entry for entry in _list(payload, "results") if isinstance(entry, dict)]
    yield f"Found `{len(results)}` files with tests{_for(payload, 'symbol')}."
    yield ""
    if not results:
        yield "No tests found."
    for number, entry in enumerate(results, 1):
        parts = (_field(entry, name) for name in ("repository", "filename"))
        yield f"{number}. {code('/'.join(filter(None, parts)))}"
        places: dict[str, dict[str, Any]] = {}
        for match in _list(entry, "matches"):
            if isinstance(match, dict) and match.get("line_number"):
                inside = _field(match, "inside")
                place = places.setdefault(inside, {**match, "lines": []})
                place["lines"].append(match["line_number"])
        # Imports are at top level, and the tests are not.
        shown = [places[inside] for inside in places if inside] or list(places.values())
        yield from (f"   - {_places(place)}" for place in shown[:TESTS_MAX])
        if len(shown) > TESTS_MAX:
            yield f"   - ... `{len(shown) - TESTS_MAX}` more places"


def _groups(payload: Payload) -> Iterator[str]:
    yield (
        f"Found {code(_field(payload, 'name'))} in `{_text(payload.get('total_hits', 0))}` files."
    )
    spellings = [code(_text(spelling)) for spelling in _list(payload, "spellings")]
    if spellings:
        yield f"Spellings: {', '.join(spellings)}"
    groups = [group for group in _list(payload, "groups") if isinstance(group, dict)]
    if not groups:
        yield from ("", "No matches found.")
    for group in groups:
        yield from ("", f"### {visible_line(_field(group, 'kind'))}")
        yield from hit_lines(_list(group, "results"))


def _commits(payload: Payload) -> Iterator[str]:
    commits = [commit for commit in _list(payload, "commits") if isinstance(commit, dict)]
    yield f"Found `{len(commits)}` commits{_for(payload, 'text')}."
    yield ""
    if not commits:
        yield "No commits found."
    for number, commit in enumerate(commits[:ROWS_MAX], 1):
        head = f"{code(_field(commit, 'commit')[:12])} {visible_line(_field(commit, 'date'))}"
        yield f"{number}. {head} {code(_field(commit, 'author'))}"
        yield f"   - {code(_field(commit, 'subject')[:SHORT_MAX])}"


def _candidates(payload: Payload) -> Iterator[str]:
    candidates = [entry for entry in _list(payload, "candidates") if isinstance(entry, dict)]
    checked = _number(payload.get("checked"), 0)
    yield f"Found `{len(candidates)}` candidates among `{checked}` definitions."
    yield ""
    if not candidates:
        yield "No candidates found."
    for symbol in candidates[:ROWS_MAX]:
        kind = visible_line(_field(symbol, "kind"))
        note = visible_line(_field(symbol, "note"))
        example = _field(symbol, "example")
        about = f": {note}" + (f", {code(example)}" if example else "") if note else ""
        yield f"- L{_number(symbol.get('line'), 0)}: {code(_field(symbol, 'name'))} ({kind}){about}"
    yield from _more(len(candidates), ROWS_MAX, "candidates")


def _more(count: int, most: int, what: str) -> Iterator[str]:
    if count > most:
        yield f"... and `{count - most}` more {what}."


def _generic(payload: object) -> Iterator[str]:
    if isinstance(payload, list):
        if not payload:
            yield "Result list is empty."
            return
        yield f"Result list with `{len(payload)}` items:"
        for number, item in enumerate(payload[:ITEMS_MAX], 1):
            yield f"{number}. {code(_text(item))}"
        yield from _more(len(payload), ITEMS_MAX, "items")
    elif isinstance(payload, dict):
        yield "Result fields:"
        for name, value in list(payload.items())[:ROWS_MAX]:
            yield f"- {code(str(name))}: {_shape(value)}"
    else:
        yield f"Result: {code(_text(payload))}"


def _shape(value: object) -> str:
    if isinstance(value, list):
        return f"list with `{len(value)}` items"
    if isinstance(value, dict):
        return f"object with `{len(value)}` fields"
    return code(_text(value))


def _for(payload: Payload, name: str) -> str:
    text = _field(payload, name).strip()
    return f" for {code(text)}" if text else ""


def _list(payload: Payload, name: str) -> list[Any]:
    value = payload.get(name)
    return value if isinstance(value, list) else []


def _field(payload: Payload, name: str) -> str:
    """Return a text field; "" if there is none."""
    value = payload.get(name)
    return "" if value is None else _text(value)


def _text(value: object) -> str:
    """Return a scalar as text; of anything else, the name of its type."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return str(value)
    return type(value).__name__


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default


_BODIES: Mapping[str, Callable[[Payload], Iterator[str]]] = {
    "repo_discovery": _repositories,
    "symbol_definition": _hits,
    "symbol_usage": _hits,
    "file_context_reader": _file,
    "cross_repo_trace": _trace,
    "outline": _outline,
    "impact_analysis": _impact,
    "test_finder": _tests,
    "config_trace": _groups,
    "dependency_trace": _all_hits,
    "change_history": _commits,
    "todo_scan": _all_hits,
    "dead_code_candidates": _candidates,
}
