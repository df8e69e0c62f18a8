"""A file of an index, mapped read-only at exactly the size that was written.

The mapping outlives the file's name: a writer may unlink it while a reader goes on. Nothing is
read here; `store.column` and `store.table` verify what they hand out.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path

from triseek import errors


def mapped(path: str | os.PathLike[str], size: int) -> mmap.mmap:
    """Map a file of `size` bytes, more than none.

    Raises:
        IndexCorrupt: it cannot be read, or has another size.
    """
    try:
        with Path(path).open("rb", buffering=0) as file:
            found = os.fstat(file.fileno()).st_size
            if found == size > 0:
                return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    except OSError as error:
        raise errors.IndexCorrupt(f"cannot read {path}: {error.strerror}") from error
    raise errors.IndexCorrupt(f"{path} has {found} bytes; {size} were written")
