from __future__ import annotations

import os
import threading
import tracemalloc

from triseek.memory.profile.lines import LINE_MAX, lines


def read(*pieces: bytes) -> list[int | bytes | None]:
    """The lines of what is written piece by piece; long ones as their lengths."""
    source, target = os.pipe()

    def write() -> None:
        with os.fdopen(target, "wb", buffering=0) as file:
            for piece in pieces:
                file.write(piece)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        return [line if line is None or len(line) < 100 else len(line) for line in lines(source)]
    finally:
        thread.join()
        os.close(source)


def test_lines_are_put_together() -> None:
    assert read(b"a\nb", b"c\n\n", b"d") == [b"a", b"bc", b"", b"d"]
    assert read() == []


def test_a_line_of_the_most_bytes_is_read_and_a_longer_one_is_skipped() -> None:
    most, more = b"x" * LINE_MAX, b"x" * (LINE_MAX + 1)
    assert read(most, b"\na\n") == [LINE_MAX, b"a"]
    assert read(more, b"\na\n") == [None, b"a"]
    assert read(more) == [None]


def test_a_line_without_end_takes_no_memory() -> None:
    tracemalloc.start()
    assert read(*[b"x" * (1 << 20)] * 100, b"\na") == [None, b"a"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * LINE_MAX


def test_an_error_of_reading_is_the_end() -> None:
    folder = os.open("/", os.O_RDONLY)
    assert list(lines(folder)) == []
    os.close(folder)
