"""Find where a symbol is used."""

from runtime.zoekt_tools import search


def run(args):
    """Return the files in which a query matches, with lines around the matches."""
    try:
        query, context_lines = args["query"].strip(), args["context_lines"]
        results = search(query, args["limit"], context_lines)
        return {
            "query": query,
            "context_lines": context_lines,
            "total_hits": len(results),
            "results": results,
        }
    except Exception as error:
        print(f"symbol_usage failed: {error}")
        return 1
