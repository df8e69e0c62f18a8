"""Read a range of lines of a file."""

from runtime.zoekt_tools import fetch_content


def run(args):
    """Return the lines of a file from `start_line` to `end_line`."""
    try:
        first, last = args["start_line"], args["end_line"]
        if first < 1 or last < 1:
            raise ValueError("start_line and end_line must be positive integers")
        if last < first:
            raise ValueError("end_line must be >= start_line")
        repo, path = args["repo"], args["path"]
        content = fetch_content(repo, path, first, last)
        return {
            "repo": repo, "path": path, "start_line": first, "end_line": last, "content": content,
        }  # fmt: skip
    except Exception as error:
        print(f"file_context_reader failed: {error}")
        return 1
