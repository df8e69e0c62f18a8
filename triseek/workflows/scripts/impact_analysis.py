"""List what a change of a symbol affects."""

from runtime.zoekt_tools import search_symbols, usages


def run(args):
    """Return the definitions of a symbol, and its references grouped by what is around them."""
    try:
        symbol, repo = args["symbol"].strip(), args["repo"]
        results = usages(symbol, repo, args["limit"])
        callers = [caller for hit in results for caller in _callers(hit)]
        return {
            "symbol": symbol,
            "definitions": search_symbols(f"^{symbol}$", 5, repo),
            "callers": callers,
            "total_hits": sum(len(caller["lines"]) for caller in callers),
            "results": results,
        }
    except Exception as error:
        print(f"impact_analysis failed: {error}")
        return 1


def _callers(hit):
    """Return the places of a file that refer to the symbol, one for each definition."""
    places = {}
    for match in hit["matches"]:
        place = places.setdefault(
            match.get("inside", ""),
            {
                "repository": hit["repository"],
                "path": hit["filename"],
                "inside": match.get("inside", ""),
                "lines": [],
                "text": match["text"],
            },
        )
        place["lines"].append(match["line_number"])
    return list(places.values())
