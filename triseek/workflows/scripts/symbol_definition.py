"""Find where a symbol is defined."""

from runtime.zoekt_tools import search_symbols


def run(args):
    """Return the files with definitions that a query matches; those of exactly the name first."""
    try:
        query = args["query"].strip()
        results = search_symbols(query, args["limit"])
        return {"query": query, "total_hits": len(results), "results": results}
    except Exception as error:
        print(f"symbol_definition failed: {error}")
        return 1
