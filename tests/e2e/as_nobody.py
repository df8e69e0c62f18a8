"""Runs triseek as a user without rights, in a process of its own.

    python -m tests.e2e.as_nobody STATE WORDS…

Where the tests run as root, this process gives its rights away. The interpreter may lie where
nobody else may look, so it has run the same words once before, with a state folder of its own:
all modules are loaded by then. triseek's own are loaded again, for they look at the state folder
when they are imported.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from tests.cli.running import triseek

NOBODY = 65534


def main(state: str, *words: str) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TRISEEK_HOME"] = scratch
        triseek(words, Path.cwd())
    os.environ.pop("NUMBA_CACHE_DIR", None)  # from here on kernels are sought in the state folder
    for name in [name for name in sys.modules if name.split(".")[0] == "triseek"]:
        del sys.modules[name]
    if os.geteuid() == 0:
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
    os.environ["TRISEEK_HOME"] = state
    from triseek.cli import main as anew

    return anew.run(words)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
