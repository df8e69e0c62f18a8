"""SIMD primitives: comparisons of 64 bytes at once, on which all byte searches are built.

LLVM compiles a comparison of 64-byte vectors to the processor's own instructions (one with
AVX-512, two with AVX2, four with SSE2 or NEON), and the result is a 64-bit mask, bit i for byte i.
Looking for two bytes of a needle at once this way is Wojciech Muła's "generic SIMD" search
(http://0x80.pl/articles/simd-strfind.html). In a core's cache it reached 16 GB/s, where `memchr`
on one common byte, which returns at every false hit, reached 1 to 3.

If compilation is disabled, the same functions are plain Python, for tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from triseek.kernels.jit import inlined, is_compiled

if TYPE_CHECKING:
    from collections.abc import Callable

WIDTH = 64
"""Bytes compared in one step; a mask has one bit for each."""

if is_compiled():

    @intrinsic  # type: ignore[untyped-decorator]
    def equal(_: object, text: Any, at: object, byte: object) -> tuple[object, object]:
        """Return the mask of the bytes of text[at : at + WIDTH] that equal `byte`.

        text: uint8; all WIDTH bytes must be inside it. at: int64, byte: uint8. Returns uint64.
        """
        signature = numba.uint64(text, numba.int64, numba.uint8)
        return signature, _generate_equal

    def _generate_equal(context: Any, builder: Any, signature: Any, arguments: Any) -> object:
        text = _load(context, builder, signature, arguments)
        nothing = ir.Constant(_VECTOR, ir.Undefined)
        byte = builder.insert_element(nothing, arguments[2], ir.Constant(ir.IntType(32), 0))
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
        wanted = builder.shuffle_vector(byte, nothing, lanes)
        return builder.bitcast(builder.icmp_unsigned("==", text, wanted), ir.IntType(WIDTH))

    @intrinsic  # type: ignore[untyped-decorator]
    def not_ascii(_: object, text: Any, at: object) -> tuple[object, object]:
        """Return the mask of the bytes of text[at : at + WIDTH] that are >= 128; see `equal`."""
        return numba.uint64(text, numba.int64), _generate_not_ascii

    def _generate_not_ascii(context: Any, builder: Any, signature: Any, arguments: Any) -> object:
        text = _load(context, builder, signature, arguments)
        zero = ir.Constant(_VECTOR, [0] * WIDTH)
        return builder.bitcast(builder.icmp_signed("<", text, zero), ir.IntType(WIDTH))

    @intrinsic  # type: ignore[untyped-decorator]
    def total(_: object, text: Any, at: object) -> tuple[object, object]:
        """Return the sum of text[at : at + WIDTH] as int64; all WIDTH bytes must be inside it."""
        return numba.int64(text, numba.int64), _generate_total

    def _generate_total(context: Any, builder: Any, signature: Any, arguments: Any) -> object:
        wide = ir.VectorType(ir.IntType(32), WIDTH)
        terms = builder.zext(_load(context, builder, signature, arguments), wide)
        kind = ir.FunctionType(ir.IntType(32), [wide])
        name = f"llvm.vector.reduce.add.v{WIDTH}i32"
        add = _declared(builder.module, kind, name)
        return builder.zext(builder.call(add, [terms]), ir.IntType(64))

    _VECTOR = ir.VectorType(ir.IntType(8), WIDTH)

    def _load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Load WIDTH bytes of the array argument, starting at the index argument."""
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.gep(array.data, [arguments[1]])
        return builder.load(builder.bitcast(address, _VECTOR.as_pointer()), align=1)

    def _declared(module: Any, kind: Any, name: str) -> object:
        return module.globals.get(name) or ir.Function(module, kind, name)

    def _of_mask(generate: Callable[[Any, Any], object]) -> Callable[..., tuple[object, object]]:
        """Return the typing function of an intrinsic from uint64 to int64, one LLVM instruction."""

        def typed(_: object, mask: object) -> tuple[object, object]:
            def code(_: object, builder: Any, __: object, arguments: Any) -> object:
                return generate(builder, arguments[0])

            return numba.int64(numba.uint64), code

        return typed

    _UNDEFINED_AT_ZERO = ir.Constant(ir.IntType(1), 1)

    lowest = intrinsic(_of_mask(lambda builder, mask: builder.cttz(mask, _UNDEFINED_AT_ZERO)))
    """Index of the lowest set bit; the mask must not be zero."""
    _leading = intrinsic(_of_mask(lambda builder, mask: builder.ctlz(mask, _UNDEFINED_AT_ZERO)))
    ones = intrinsic(_of_mask(lambda builder, mask: builder.ctpop(mask)))
    """Number of set bits."""

    @inlined
    def highest(mask: int) -> int:
        """Return the index of the highest set bit; the mask must not be zero."""
        return WIDTH - 1 - _leading(mask)

else:

    def equal(text: np.ndarray[Any, Any], at: int, byte: int) -> int:
        """Python equivalent of the intrinsic above."""
        bits = np.packbits(text[at : at + WIDTH] == byte, bitorder="little")
        return np.uint64(int.from_bytes(bits.tobytes(), "little"))  # type: ignore[return-value]

    def not_ascii(text: np.ndarray[Any, Any], at: int) -> int:
        """Python equivalent of the intrinsic above."""
        bits = np.packbits(text[at : at + WIDTH] >= 0x80, bitorder="little")
        return np.uint64(int.from_bytes(bits.tobytes(), "little"))  # type: ignore[return-value]

    def total(text: np.ndarray[Any, Any], at: int) -> int:
        """Python equivalent of the intrinsic above."""
        return int(text[at : at + WIDTH].sum())

    def lowest(mask: int) -> int:
        """Python equivalent of the intrinsic above."""
        return (int(mask) & -int(mask)).bit_length() - 1

    def ones(mask: int) -> int:
        """Python equivalent of the intrinsic above."""
        return int(mask).bit_count()

    def highest(mask: int) -> int:
        """Python equivalent of the function above."""
        return int(mask).bit_length() - 1
