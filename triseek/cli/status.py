"""Exit statuses: grep's where grep has an opinion, sysexits' and the shell's elsewhere."""

FOUND = 0
"""Something was found, or done."""
NOTHING = 1
"""Nothing was found."""
ERROR = 2
"""A `TriseekError`, or a file that could not be read."""
BUG = 70
"""A mistake of ours; the traceback is in the log folder."""
INTERRUPTED = 130
"""The user pressed Ctrl-C."""
