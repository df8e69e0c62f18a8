"""List the definitions of a file."""

from runtime.zoekt_tools import outline


def run(args):
    """Return the definitions of a file, by line."""
    try:
        repo, path = args["repo"], args["path"]
        return {"repo": repo, "path": path, "symbols": outline(repo, path)}
    except Exception as error:
        print(f"outline failed: {error}")
        return 1
