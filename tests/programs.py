"""Programs that tests write, which start this interpreter wherever it lies."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHELL_TRISEEK = (
    f'PYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.quote(sys.executable)} -m triseek "$@"\n'
)
"""The last line of a shell script that is `triseek`."""
PYTHON = f"""#!/bin/sh
'''exec' {shlex.quote(sys.executable)} "$0" "$@"
' '''
"""
"""The beginning of a Python script: the system's own line takes no space and no long path."""
