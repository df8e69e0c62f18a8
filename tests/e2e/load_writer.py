"""Updates and merges of one root's index by a process that is not the daemon, over and over.

python -m tests.e2e.load_writer ROOT STOP
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

from triseek.engine.roots import index_dir
from triseek.errors import Busy
from triseek.index import merge, update
from triseek.index.reader import IndexReader

PAUSE_S = 0.3


def main(root, stop):
    index, done = index_dir(root), {"updates": 0, "merges": 0, "processes": 0, "busy": 0}
    turn = 0
    while not os.path.exists(stop):
        turn += 1
        try:
            done[_turn(turn, root, index)] += 1
        except Busy:  # the daemon is writing
            done["busy"] += 1
        time.sleep(PAUSE_S)
    print(json.dumps(done))


def _turn(turn, root, index):
    if turn % 8 == 3:
        said = subprocess.run(
            [sys.executable, "-m", "triseek", "update", root],
            stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True,
        )  # fmt: skip
        if said.returncode and said.stderr.startswith("triseek: another triseek"):
            raise Busy("")
        assert said.returncode == 0, said.stderr
        return "processes"
    reader = IndexReader.open(index)
    if turn % 4 == 0 and len(reader.views) > 1:
        some = range(len(reader.views)) if turn % 8 == 0 else range(1, len(reader.views))
        if len(some) > 1 and merge.merge(index, reader, some) is not None:
            return "merges"
    update.update(root, index)
    return "updates"


if __name__ == "__main__":
    main(*sys.argv[1:])
