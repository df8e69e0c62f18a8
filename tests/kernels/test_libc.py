import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from triseek.kernels.libc import memchr_index


@given(st.binary(max_size=80), st.integers(0, 255), st.data())
@settings(deadline=None)
def test_memchr_finds_what_bytes_find_finds(text, byte, data):
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(0, len(text)))
    column = np.frombuffer(text, np.uint8)
    wanted = text.find(bytes((byte,)), begin, end) if begin < end else -1
    assert memchr_index(column, byte, begin, end) == (end if wanted < 0 else wanted)
