"""List the repositories that match a topic."""

from runtime.zoekt_tools import search


def run(args):
    """Return the repositories in which a query matches."""
    try:
        query = args["query"].strip()
        search_query = query if "type:repo" in query.split() else f"{query} type:repo"
        results = search(search_query, args["limit"], 0)
        return {
            "query": query,
            "search_query": search_query,
            "total_hits": len(results),
            "repositories": sorted({hit["repository"] for hit in results}),
            "results": results,
        }
    except Exception as error:
        print(f"repo_discovery failed: {error}")
        return 1
