"""List the notes that developers left in code."""

import re

from runtime.zoekt_tools import search


def run(args):
    """Return the files with markers as TODO."""
    try:
        markers = [word.strip() for word in args["markers"].split(",") if word.strip()]
        if not all(re.fullmatch(r"\w+", word) for word in markers) or not markers:
            raise ValueError("markers are words, separated by commas")
        query = rf"content:\b({'|'.join(markers)})\b case:yes"
        results = search(query, args["limit"], 0, args["repo"])
        return {
            "query": ", ".join(markers),
            "markers": markers,
            "total_hits": len(results),
            "results": results,
        }
    except Exception as error:
        print(f"todo_scan failed: {error}")
        return 1
