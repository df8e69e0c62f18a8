"""Sizes of an index that somebody is writing to."""

from __future__ import annotations

import os
import threading

from triseek.index.status import size_on_disk


def test_the_size_of_what_is_being_renamed_is_no_error(tmp_path):
    kept = tmp_path / "segments" / "kept"
    kept.mkdir(parents=True)
    (kept / "postings").write_bytes(b"x" * 1000)
    stop = threading.Event()

    def write():
        while not stop.is_set():
            partial = tmp_path / "segments" / "new.partial"
            partial.mkdir()
            (partial / "names").write_bytes(b"y" * 10)
            os.replace(partial, tmp_path / "segments" / "new")
            (tmp_path / "segments" / "new" / "names").unlink()
            (tmp_path / "segments" / "new").rmdir()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        sizes = {size_on_disk(tmp_path) for _ in range(2_000)}
    finally:
        stop.set()
        writer.join()

    assert sizes <= {1000, 1010}


def test_the_size_of_no_index_is_nothing(tmp_path):
    assert size_on_disk(tmp_path / "absent") == 0
