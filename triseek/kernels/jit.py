"""The one decorator every kernel wears; the only module that imports numba.

Importing a kernel loads it from the cache, or compiles it: ask `kernels.cache.is_ready()` first
wherever somebody is waiting. Argument types are declared, so no search ever compiles a second
version; array types are declared read-only where a kernel only reads, because mapped columns
are read-only and numba holds that for part of the type (pynndescent's signatures are the model).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Literal, TypeAlias, TypeVar, cast

import numba
from numba.core.caching import UserProvidedCacheLocator

from triseek.kernels import cache
from triseek.kernels.rows import ROW

F = TypeVar("F", bound=Callable[..., object])
Use: TypeAlias = Literal["write", "read", "no"]

U8 = numba.uint8
U64 = numba.uint64
I64 = numba.int64


def _column(dtype: object, *, writable: bool = False) -> object:
    return numba.types.Array(dtype, 1, "C", readonly=not writable)


BYTES = _column(numba.uint8)
BYTES_OUT = _column(numba.uint8, writable=True)
U16S = _column(numba.uint16)
U32S = _column(numba.uint32)
U32S_OUT = _column(numba.uint32, writable=True)
U64S = _column(numba.uint64)
U64S_OUT = _column(numba.uint64, writable=True)
I64S = _column(numba.int64)
I64S_OUT = _column(numba.int64, writable=True)
ROWS_OUT = _column(numba.from_dtype(ROW), writable=True)

REGISTRY: list[Callable[..., object]] = []
"""Every kernel that has been imported, in import order."""


def _use_cache() -> Use:
    """Point numba at our cache folder; without a trusted one it compiles for this process only."""
    with contextlib.suppress(OSError):
        cache.make()
    use: Use = "no"
    if cache.is_writable():
        use = "write"
    elif cache.is_kept():
        use = "read"
    if use != "no":
        numba.config.CACHE_DIR = cache.directory()
    return use


_USE = _use_cache()


class ReadOnlyLocator(UserProvidedCacheLocator):  # type: ignore[misc] # numba is untyped
    """Finds kernels in a folder that may only be read; numba's own locators try to write first."""

    def ensure_cache_path(self) -> None:
        """Do nothing: what cannot be written need not be tried."""


def _compiled(signature: object, function: F, options: dict[str, bool]) -> object:
    if _USE != "read":
        return numba.njit([signature], cache=_USE == "write", **options)(function)
    config, before = numba.config, numba.config.CACHE_LOCATOR_CLASSES
    config.CACHE_LOCATOR_CLASSES = f"{__name__}.{ReadOnlyLocator.__name__}"
    try:
        return numba.njit([signature], cache=True, **options)(function)
    except OSError:  # it was not there after all, and what numba compiled cannot be kept
        return numba.njit([signature], **options)(function)
    finally:
        config.CACHE_LOCATOR_CLASSES = before


def kernel(result: object, *arguments: object, allocates: bool = False) -> Callable[[F], F]:
    """Compile a function for these types with the options all kernels share.

    The function keeps its Python signature for readers and type checkers. With
    NUMBA_DISABLE_JIT=1 it stays plain Python, so debuggers and coverage see inside.

    Arrays are not counted as references are: their callers hold them, and an atomic increment
    for every array of every call was seen to take 7 % of a search. A kernel that makes arrays of
    its own has to say so.
    """

    def compile_(function: F) -> F:
        signature = cast("Callable[..., object]", result)(*arguments)
        options = {"nogil": True, "_nrt": allocates}
        compiled = _compiled(signature, function, options)
        REGISTRY.append(cast("Callable[..., object]", compiled))
        return cast("F", compiled)

    return compile_


def external(name: str, result: object, *arguments: object) -> Callable[..., int]:
    """A function of the C library, called by kernels without the GIL; resolved when linked."""
    signature = cast("Callable[..., object]", result)(*arguments)
    return cast("Callable[..., int]", numba.types.ExternalFunction(name, signature))


def is_compiled() -> bool:
    """Whether kernels run as machine code (not under NUMBA_DISABLE_JIT)."""
    return not numba.config.DISABLE_JIT
