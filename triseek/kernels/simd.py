"""Sixty-four bytes compared at once: the one step everything that looks for bytes is made of.

LLVM turns a comparison of 64-byte vectors into whatever the processor has (one instruction with
AVX-512, two with AVX2, four with SSE2 or NEON), and the answer is a 64-bit mask, bit i for
byte i. Looking for two bytes of a needle at once this way is Wojciech Muła's "generic SIMD"
search (http://0x80.pl/articles/simd-strfind.html). In a core's cache it was measured at 16 GB/s
where `memchr` on one common byte, which returns at every false hit, made 1 to 3.

Without a compiler the same functions are plain Python, for tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from triseek.kernels.jit import is_compiled

if TYPE_CHECKING:
    from collections.abc import Callable

WIDTH = 64
"""Bytes in a step; a mask has a bit for each."""

if is_compiled():

    @intrinsic  # type: ignore[untyped-decorator]
    def equal(_: object, text: Any, at: object, byte: object) -> tuple[object, object]:
        """Mask of the bytes of text[at : at + WIDTH] that are `byte`.

        text: uint8; all WIDTH bytes must lie in it. at: int64, byte: uint8. Returns uint64.
        """
        signature = numba.uint64(text, numba.int64, numba.uint8)
        return signature, _generate_equal

    def _generate_equal(context: Any, builder: Any, signature: Any, arguments: Any) -> object:
        vector = ir.VectorType(ir.IntType(8), WIDTH)
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.gep(array.data, [arguments[1]])
        text = builder.load(builder.bitcast(address, vector.as_pointer()), align=1)
        byte = builder.insert_element(
            ir.Constant(vector, ir.Undefined), arguments[2], ir.Constant(ir.IntType(32), 0)
        )
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
        wanted = builder.shuffle_vector(byte, ir.Constant(vector, ir.Undefined), lanes)
        return builder.bitcast(builder.icmp_unsigned("==", text, wanted), ir.IntType(WIDTH))

    def _of_mask(generate: Callable[[Any, Any], object]) -> Callable[..., tuple[object, object]]:
        """An intrinsic from uint64 to int64 by one LLVM instruction."""

        def typed(_: object, mask: object) -> tuple[object, object]:
            def code(_: object, builder: Any, __: object, arguments: Any) -> object:
                return generate(builder, arguments[0])

            return numba.int64(numba.uint64), code

        return typed

    _UNDEFINED_AT_ZERO = ir.Constant(ir.IntType(1), 1)

    lowest = intrinsic(_of_mask(lambda builder, mask: builder.cttz(mask, _UNDEFINED_AT_ZERO)))
    """Index of the lowest bit that is set; the mask must not be zero."""
    _leading = intrinsic(_of_mask(lambda builder, mask: builder.ctlz(mask, _UNDEFINED_AT_ZERO)))
    ones = intrinsic(_of_mask(lambda builder, mask: builder.ctpop(mask)))
    """How many bits are set."""

    @numba.njit(nogil=True)  # type: ignore[untyped-decorator] # inlined: no signature of its own
    def highest(mask: int) -> int:
        """Index of the highest bit that is set; the mask must not be zero."""
        return WIDTH - 1 - _leading(mask)

else:

    def equal(text: np.ndarray[Any, Any], at: int, byte: int) -> int:
        """Twin of the intrinsic above."""
        bits = np.packbits(text[at : at + WIDTH] == byte, bitorder="little")
        return np.uint64(int.from_bytes(bits.tobytes(), "little"))  # type: ignore[return-value]

    def lowest(mask: int) -> int:
        """Twin of the intrinsic above."""
        return (int(mask) & -int(mask)).bit_length() - 1

    def ones(mask: int) -> int:
        """Twin of the intrinsic above."""
        return int(mask).bit_count()

    def highest(mask: int) -> int:
        """Twin of the function above."""
        return int(mask).bit_length() - 1
