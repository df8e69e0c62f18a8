"""The one shape of what a search finds; kernels fill it, roads hand it on."""

from __future__ import annotations

import numpy as np

ROW = np.dtype(
    [
        ("file", "<u4"),  # index into the batch's paths
        ("number", "<u8"),  # 1-based line number of the row's first line; 0 when not asked for
        ("offset", "<u8"),  # byte offset of the row in the file's text (after any BOM)
        ("begin", "<u8"),  # the row is text[begin:end] of the batch, line terminator included
        ("end", "<u8"),
        ("context", "?"),  # a line around a match, not a match itself
    ]
)
"""One row per matching (or context) line; in multiline mode one per run of touching matches,
which then holds every line they cover."""
