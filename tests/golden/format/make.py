"""Make the golden index of a format: `python -m tests.golden.format.make v2`, once per format.

It is built as `/golden`, so that nothing of a machine is in it; that takes the right to make a
folder there. What was released is never made again: an old index must open as it was written.
"""

import os
import shutil
import sys
import time
from pathlib import Path

from tests.engine import answers
from triseek.index.build import build
from triseek.index.update import update

ROOT = "/golden"
FILES = {
    "a.c": "int needle;\nint other;\n",
    "b/long.txt": "line of text\n" * 3000 + "needle at the end",
    "b/utf16": b"\xff\xfe" + "needle in UTF-16\n".encode("utf-16-le"),
    "b/bin": b"needle\0",
    "caf\u00e9": "n\u00e9\u00e9dle needle\n",
    ".gitignore": "*.o\n",
    "x.o": "needle\n",
    ".github/w.yml": "needle: yes\n",
}
LATER = {"a.c": "int needle;\nint needle_too;\n", "new": "needle\n"}


def main(name):
    os.environ["HOME"] = ROOT
    os.environ.pop("XDG_CONFIG_HOME", None)
    target = Path(__file__).parent / name
    os.makedirs(f"{ROOT}/.git")
    try:
        answers.write(ROOT, FILES)
        time.sleep(2.5)  # so that only what changes later is dead in the first segment
        build(ROOT, target)
        answers.write(ROOT, LATER)
        time.sleep(2.5)
        update(ROOT, target)
    finally:
        shutil.rmtree(ROOT)
    (target / "lock").unlink()


if __name__ == "__main__":
    main(sys.argv[1])
