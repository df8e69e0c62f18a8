"""Find the tests of a symbol or file."""

import re

from runtime.zoekt_tools import literal, search, usages

TESTS = (
    r"f:(^|/)(tests?|specs?|__tests__|testing|testdata)/|(^|[/_.-])(test|spec)s?[_.-]"
    r"|[_.-](test|spec)s?[.]|Tests?[.]"
)
"""Matches paths of tests: by a folder's name, or by the beginning or end of the file's."""


def run(args):
    """Return the tests that use a name, or are named after it; those that do both first."""
    try:
        symbol, repo, limit = args["symbol"].strip(), args["repo"], args["limit"]
        wanted = _plain(re.split(r"::|[.#/]", symbol)[-1])
        results = usages(symbol, repo, 25, TESTS)
        used = {(hit["repository"], hit["filename"]) for hit in results}
        letters = "[_-]?".join(map(re.escape, wanted)) or "."
        named = search(rf"{TESTS} f:(^|/)[^/]*{letters}[^/]*$ case:no type:file", 25, 0, repo)
        results += [
            hit for hit in named
            if _is_code(hit) and (hit["repository"], hit["filename"]) not in used
        ]  # fmt: skip
        if not results:  # in texts, as the names of commands are
            results = search(f"{literal(symbol)} {TESTS}", limit, 0, repo)
        results.sort(key=lambda hit: _distance(hit["filename"], wanted))
        results = results[:limit]
        return {"symbol": symbol, "query": symbol, "total_hits": len(results), "results": results}
    except Exception as error:
        print(f"test_finder failed: {error}")
        return 1


def _distance(path, wanted):
    """Return how far a file is from the tests of a name: named after it, test, helper, data."""
    folder, _, file = path.rpartition("/")
    is_data = re.search(r"(^|/)(fixtures?|testdata|__fixtures__|snapshots?|resources)(/|$)", folder)
    return wanted not in _plain(file), bool(is_data), not re.search(r"(?i)test|spec", file)


def _is_code(hit):
    return not hit["filename"].endswith((".json", ".yml", ".yaml", ".toml", ".xml", ".txt", ".md"))


def _plain(name):
    """Return a name without separators, in lower case."""
    return re.sub(r"[\W_]", "", name).lower()
