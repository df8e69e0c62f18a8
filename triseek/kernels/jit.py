"""The decorator of all kernels, the numba setup behind it, and compiling all ahead of time.

Importing a kernel loads it from the cache or compiles it: where a user is waiting, check
`kernels.cache.is_ready()` first. Argument types are declared, so no search ever compiles a second
version. Array types are declared read-only where a kernel only reads, because mapped columns are
read-only and numba makes that part of the type (pynndescent's signatures are the model).
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, cast

import numba
from numba.core.caching import UserProvidedCacheLocator

from triseek.kernels import cache
from triseek.kernels.formats import ROW, BlockBuffers, Dfa, LineHits, Needles

if TYPE_CHECKING:
    from triseek.model.index import Progress

F = TypeVar("F", bound=Callable[..., object])
Use: TypeAlias = Literal["write", "read", "no"]

U8 = numba.uint8
U64 = numba.uint64
I64 = numba.int64
F64 = numba.float64


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
I8S = _column(numba.int8)
F32S = _column(numba.float32)
F32S_OUT = _column(numba.float32, writable=True)
ROWS_OUT = _column(numba.from_dtype(ROW), writable=True)
DFA = numba.types.NamedTuple((U32S, U16S, I64, BYTES), Dfa)
NEEDLES = numba.types.NamedTuple((BYTES, I64S, I64S), Needles)
LINE_HITS_OUT = numba.types.NamedTuple((U64S_OUT, U64S_OUT, BYTES_OUT), LineHits)
BLOCKS_OUT = numba.types.NamedTuple(
    (
        I64S_OUT, U64S_OUT, U32S_OUT,
        U32S_OUT, U64S_OUT, U64S_OUT, U32S_OUT, BYTES_OUT, U64S_OUT,
    ),
    BlockBuffers,
)  # fmt: skip

_NOT_KERNELS = {"__init__", "cache", "jit", "formats", "simd"}

REGISTRY: list[Callable[..., object]] = []
"""All imported kernels, in import order."""


def _use_cache() -> Use:
    """Point numba at the cache folder; return how this process may use it.

    Without a trusted folder numba compiles for this process only.
    """
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
    """Finds kernels in a read-only folder; numba's own locators try to write there first."""

    def ensure_cache_path(self) -> None:
        """Do nothing: the folder cannot be written."""


def _compiled(signature: object, function: F, options: dict[str, bool]) -> object:
    if _USE != "read":
        return numba.njit([signature], cache=_USE == "write", **options)(function)
    config, before = numba.config, numba.config.CACHE_LOCATOR_CLASSES
    config.CACHE_LOCATOR_CLASSES = f"{__name__}.{ReadOnlyLocator.__name__}"
    try:
        return numba.njit([signature], cache=True, **options)(function)
    except OSError:  # the kernel was not in the cache, and numba could not store it there
        return numba.njit([signature], **options)(function)
    finally:
        config.CACHE_LOCATOR_CLASSES = before


def kernel(result: object, *arguments: object, allocates: bool = False) -> Callable[[F], F]:
    """Compile a function for these types with the options that all kernels share.

    The function keeps its Python signature for readers and type checkers. With
    NUMBA_DISABLE_JIT=1 it stays plain Python, so debuggers and coverage see inside.

    References to arrays are not counted: the callers hold them, and an atomic increment for every
    array of every call took 7 % of a search. A kernel that creates arrays must set `allocates`.
    """

    def compile_(function: F) -> F:
        signature = cast("Callable[..., object]", result)(*arguments)
        options = {"nogil": True, "_nrt": allocates}
        compiled = _compiled(signature, function, options)
        REGISTRY.append(cast("Callable[..., object]", compiled))
        return cast("F", compiled)

    return compile_


def inlined(function: F) -> F:
    """Compile a function as part of the kernels that call it.

    Its types need no declaration, and it may return several values. As separate kernels, what is
    called for every file made a sweep 10 % slower, because of passing arrays.
    """
    compiled = numba.njit(nogil=True, forceinline=True, _nrt=False)(function)
    return cast("F", compiled)


def external(name: str, result: object, *arguments: object) -> Callable[..., int]:
    """Declare a C library function for kernels. It runs without the GIL; the linker resolves it."""
    signature = cast("Callable[..., object]", result)(*arguments)
    return cast("Callable[..., int]", numba.types.ExternalFunction(name, signature))


def is_compiled() -> bool:
    """Return whether kernels run as machine code (not under NUMBA_DISABLE_JIT)."""
    return not numba.config.DISABLE_JIT


def modules() -> list[str]:
    """Return the names of the modules that hold kernels, in import order; `verify` comes last."""
    names = {path.stem for path in Path(__file__).parent.glob("*.py")} - _NOT_KERNELS
    return sorted(names, key=lambda name: (name == "verify", name))


def warm(progress: Progress) -> int:
    """Import, and so compile, all kernels; return their number.

    No search then waits for the compiler. Only one process at a time does this, under a lock:
    several processes that fill one cache at once are known to crash numba.

    If they cannot be stored (see `cache.can_be_kept`), only this process can use them.
    """
    names = modules()
    with cache.exclusive():
        for number, name in enumerate(names):
            progress("compile", number, len(names))
            importlib.import_module(f"triseek.kernels.{name}")
        progress("compile", len(names), len(names))
        cache.mark_ready()
    cache.mark_loaded()
    return len(REGISTRY)
