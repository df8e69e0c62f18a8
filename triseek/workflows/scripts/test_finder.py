"""Find the tests of a symbol or file."""

from runtime.zoekt_tools import literal, search

TESTS = (
    r"f:(^|/)(tests?|specs?|__tests__|testing|testdata)/|(^|[/_.-])(test|spec)s?[_.-]"
    r"|[_.-](test|spec)s?[.]|Tests?[.]"
)
"""Matches paths of tests: by a folder's name, or by the beginning or end of the file's."""


def run(args):
    """Return the files that look like tests and mention a name; those named after it first."""
    try:
        symbol, repo, limit = args["symbol"].strip(), args["repo"], args["limit"]
        wanted = symbol.replace("_", "").replace("-", "").lower()
        results = search(f"{literal(symbol)} {TESTS}", 25, 0, repo)
        results.sort(key=lambda hit: wanted not in _plain(hit["filename"]))
        results = results[:limit]
        return {"symbol": symbol, "query": symbol, "total_hits": len(results), "results": results}
    except Exception as error:
        print(f"test_finder failed: {error}")
        return 1


def _plain(path):
    """Return a file's name without separators, in lower case."""
    return path.rpartition("/")[2].replace("_", "").replace("-", "").lower()
