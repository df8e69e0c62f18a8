"""What a process cost is taken from the kernel, and its output from a pipe."""

import sys
from pathlib import Path

from bench import command

HERE = Path.cwd()


def test_time_memory_code_and_output_are_of_the_child():
    told = "import time; time.sleep(0.2); x = bytearray(80_000_000); print('out'); exit(3)"

    ended = command.run([sys.executable, "-c", told], cwd=HERE, keep=True)

    assert ended.code == 3
    assert ended.output == b"out\n"
    assert ended.seconds >= 0.2
    assert ended.peak_rss_bytes > 80_000_000


def test_a_process_is_stopped_at_the_line_asked_for():
    endless = "while True: print('line', flush=True)"

    ended = command.run([sys.executable, "-c", endless], cwd=HERE, lines_max=5)

    assert ended.code == 0
    assert ended.output == b"line\n" * 5


def test_errors_are_kept_however_many():
    shout = "import sys; sys.stderr.write('no good\\n' * 100_000); exit(2)"

    ended = command.run([sys.executable, "-c", shout], cwd=HERE)

    assert ended.code == 2
    assert ended.errors.startswith("no good")
