"""Exit statuses: grep's where grep defines one, otherwise those of sysexits and the shell."""

FOUND = 0
"""Something was found, or done."""
NOTHING = 1
"""Nothing was found."""
ERROR = 2
"""A `TriseekError`, or a file that could not be read."""
BUG = 70
"""A bug in triseek; the traceback is in the log folder."""
INTERRUPTED = 130
"""The user pressed Ctrl-C."""


def of_search(has_results: bool, is_partial: bool) -> int:
    """Return the status of a search: without results, an error if not everything was searched."""
    if has_results:
        return FOUND
    return ERROR if is_partial else NOTHING
