"""From block → trigrams to trigram → blocks, by counting sort.

Pairs come block by block, so a stable scatter by trigram leaves each list of blocks rising:
count, prefix sum, scatter, never a comparison. Measured on the Linux tree: 2.6 thread-seconds
for 128 million pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.kernels.jit import BYTES_OUT, I64, U32S, U32S_OUT, U64S, U64S_OUT, kernel

if TYPE_CHECKING:
    import numpy as np

TRIGRAMS = 1 << 24


@kernel(I64, U32S, I64, U32S_OUT, U32S_OUT, U32S_OUT)
def count(
    pairs: np.ndarray, used: int, counts: np.ndarray, trigrams: np.ndarray, frequency: np.ndarray
) -> int:
    """List the distinct trigrams of pairs[:used] in rising order, with how many blocks have each.

    pairs: uint32. counts: uint32[TRIGRAMS], all zero before; afterwards counts[t] is where the
    list of t begins among the scattered pairs. trigrams, frequency: uint32, room for min(used,
    TRIGRAMS). Returns the number of distinct trigrams.
    """
    for i in range(used):
        counts[pairs[i]] += 1
    distinct = 0
    total = 0
    for trigram in range(TRIGRAMS):
        here = counts[trigram]
        if here != 0:
            trigrams[distinct] = trigram
            frequency[distinct] = here
            distinct += 1
            counts[trigram] = total
            total += here
    return distinct


@kernel(I64, U32S, U64S, I64, U32S_OUT, U32S_OUT)
def scatter(
    pairs: np.ndarray, block_pairs: np.ndarray, blocks: int, counts: np.ndarray, out: np.ndarray
) -> int:
    """Write each pair's block number to its trigram's list.

    pairs, block_pairs: as `blocks.extract` fills them. counts: uint32[TRIGRAMS] from `count`;
    moved on as lists fill. out: uint32[len of pairs]. Returns the pairs written.
    """
    i = 0
    for block in range(blocks):
        until = block_pairs[block]
        while i < until:
            trigram = pairs[i]
            at = counts[trigram]
            out[at] = block
            counts[trigram] = at + 1
            i += 1
    return i


@kernel(I64, U32S, U32S, I64, U32S, U64S_OUT, U32S_OUT, U32S_OUT, BYTES_OUT)
def encode_lists(
    trigrams: np.ndarray,  # noqa: ARG001 - a batch's columns stay together
    frequency: np.ndarray,
    distinct: int,
    blocks: np.ndarray,
    offsets: np.ndarray,
    firsts: np.ndarray,
    lasts: np.ndarray,
    out: np.ndarray,
) -> int:
    """Encode each list as varints of the steps between its blocks; its first block stands apart.

    blocks: uint32, the lists one after the other. offsets: uint64[distinct + 1], where each
    list's bytes begin in `out`. firsts, lasts: uint32, a list's first and last block. out:
    uint8, 5 bytes for each element of `blocks` are always enough. Returns the bytes written.

    Keeping the first block apart lets `join` shift a whole batch by rewriting one varint.
    """
    at = 0
    i = 0
    for k in range(distinct):
        offsets[k] = at
        previous = blocks[i]
        firsts[k] = previous
        for j in range(i + 1, i + frequency[k]):
            step = blocks[j] - previous
            previous = blocks[j]
            while step >= 128:
                out[at] = (step & 127) | 128
                at += 1
                step >>= 7
            out[at] = step
            at += 1
        lasts[k] = previous
        i += frequency[k]
    offsets[distinct] = at
    return at


@kernel(I64, U32S, I64, U32S_OUT)
def clear(trigrams: np.ndarray, distinct: int, counts: np.ndarray) -> int:
    """Set counts back to zero for the trigrams listed; returns their number."""
    for k in range(distinct):
        counts[trigrams[k]] = 0
    return distinct
