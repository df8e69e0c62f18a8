"""List the files that import a module or package."""

import re

from runtime.zoekt_tools import search

PREFIXES = (
    r"(import|from|require|use|using|include|extern crate|load|source|mod|package)\b.*",
    r"(require|import|include|load)\s*\(\s*[\"'<]",
    r"#\s*include\s*[\"<].*",
    r"\s+(_|[a-z][a-z0-9]*)?\s*[\"'`].*",
)
"""What stands before a module's name on lines that import it; the last is a line of Go's block."""


def run(args):
    """Return the files with lines that import a module."""
    try:
        module, repo = args["module"].strip(), args["repo"]
        name = re.sub(r"([^\w/@ -])", r"\\\1", module)
        pattern = rf"^\s*({'|'.join(PREFIXES)})({name})([^\w]|$)"
        quoted = pattern.replace("\\", "\\\\").replace('"', '\\"')
        results = search(f'content:"{quoted}" case:yes', args["limit"], 0, repo)
        return {
            "module": module,
            "query": module,
            "total_hits": len(results),
            "repositories": sorted({hit["repository"] for hit in results}),
            "results": results,
        }
    except Exception as error:
        print(f"dependency_trace failed: {error}")
        return 1
