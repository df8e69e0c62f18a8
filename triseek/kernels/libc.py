"""C library functions for kernels, with Python equivalents for when compilation is disabled.

Addresses are passed as integers: numba provides `array.ctypes.data`, and a declared
`ExternalFunction` is resolved by the JIT linker, works with the cache and does not hold the GIL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba

from triseek.kernels.jit import BYTES, BYTES_OUT, I64, U8, external, is_compiled, kernel

if TYPE_CHECKING:
    import numpy as np

_PTR = numba.types.uintp
_INT = numba.types.intc

c_memchr = external("memchr", _PTR, _PTR, _INT, _PTR)
c_memcpy = external("memcpy", _PTR, _PTR, _PTR, _PTR)
c_openat = external("openat", _INT, _INT, _PTR, _INT, _INT)
c_pread = external("pread", numba.types.intp, _INT, _PTR, _PTR, numba.types.intp)
c_close = external("close", _INT, _INT)
c_statx = external("statx", _INT, _INT, _PTR, _INT, numba.types.uintc, _PTR)

if is_compiled():

    @kernel(I64, BYTES, U8, I64, I64)
    def memchr_index(text: np.ndarray, byte: int, begin: int, end: int) -> int:
        """Return the index of the first `byte` in text[begin:end], or `end` if there is none.

        text: uint8. Runs at memory speed (libc's memchr). The caller must check the bounds.
        """
        if begin >= end:
            return end
        base = text.ctypes.data
        found = c_memchr(base + begin, byte, end - begin)
        if found == 0:
            return end
        return found - base

    @kernel(I64, BYTES, I64, I64, BYTES_OUT, I64)
    def copy(source: np.ndarray, begin: int, size: int, target: np.ndarray, at: int) -> int:
        """Copy source[begin : begin + size] to target[at:]; both uint8. Returns `size`."""
        c_memcpy(target.ctypes.data + at, source.ctypes.data + begin, size)
        return size

else:

    def memchr_index(text: np.ndarray, byte: int, begin: int, end: int) -> int:
        """Python equivalent of the compiled function above."""
        found = text[begin:end].tobytes().find(bytes((byte,)))
        return end if found < 0 else begin + found

    def copy(source: np.ndarray, begin: int, size: int, target: np.ndarray, at: int) -> int:
        """Python equivalent of the compiled function above."""
        target[at : at + size] = source[begin : begin + size]
        return size
