"""List what a change of a symbol affects."""

import re

from runtime.zoekt_tools import search_symbols, usages


def run(args):
    """Return the definitions of a symbol, and its uses grouped by what is around them."""
    try:
        symbol, repo = args["symbol"].strip(), args["repo"]
        *parents, name = re.split(r"::|[.#]", symbol)
        exact = re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", name)
        definitions = search_symbols(f"sym:^{exact}$ case:yes", 5, repo)
        definitions = _narrowed(definitions, lambda match: "kind" in match) or definitions
        if parents:
            own = _narrowed(definitions, lambda match: match.get("parent") == parents[-1])
            definitions = own or definitions
        results = usages(name, repo, args["limit"])
        callers = [caller for hit in results for caller in _callers(hit)]
        return {
            "symbol": symbol,
            "definitions": definitions,
            "callers": callers,
            "total_hits": sum(len(caller["lines"]) for caller in callers),
            "results": results,
        }
    except Exception as error:
        print(f"impact_analysis failed: {error}")
        return 1


def _narrowed(hits, is_wanted):
    """Return the hits with those of their matches that are wanted."""
    narrowed = []
    for hit in hits:
        matches = [match for match in hit["matches"] if is_wanted(match)]
        if matches:
            narrowed.append(hit | {"matches": matches})
    return narrowed


def _callers(hit):
    """Return the places of a file that use the symbol, one for each definition around them."""
    places = {}
    for match in hit["matches"]:
        place = places.setdefault(
            match.get("inside", ""),
            {
                "repository": hit["repository"],
                "path": hit["filename"],
                "inside": match.get("inside", ""),
                "checked": hit.get("checked", "lines"),
                "lines": [],
                "text": match["text"],
            },
        )
        place["lines"].append(match["line_number"])
    return list(places.values())
